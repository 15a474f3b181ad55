#pragma once

#include <string_view>

namespace cuzk::curve {

/// What the inner loops of sums, transforms and decoding are written for. kBest stands for the
/// fastest that this processor has; the others are for tests and benchmarks. All give the same
/// bytes.
enum class Arithmetic {
  kBest,
  kScalar,  ///< blst, one element at a time
  kAvx2,    ///< AVX2 and FMA, eight elements (vector_field_avx2.hpp)
  kIfma,    ///< AVX-512 IFMA, eight elements (vector_field_ifma.hpp)
};

std::string_view to_string(Arithmetic arithmetic);

/// Whether this processor, and this build, can run it.
bool is_available(Arithmetic arithmetic);

/// The arithmetic that kBest stands for; any other one is itself. Throws InvalidInput if it is not
/// available.
Arithmetic resolve(Arithmetic arithmetic);

}  // namespace cuzk::curve
