#pragma once

#include "base/bytes.hpp"
#include "curve/arithmetic.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cuzk::curve {

/// Which point of a run is bad, and why.
struct RunFault {
  std::size_t index;
  PointFault fault;
};

/// Decodes uncompressed points that lie one after the other, each as
/// AffinePoint::from_uncompressed() does with PointCheck::kOnCurve: point i into *targets[i].
/// Accepts infinity. Returns the first bad point; targets from there on hold something then.
/// `encodings` has targets.size() points and the arithmetic is available, else InvalidInput. Eight
/// points at a time with vectors.
template <class F>
std::optional<RunFault> decode_run(base::ByteView encodings,
                                   std::span<AffinePoint<F>* const> targets,
                                   Arithmetic arithmetic = Arithmetic::kBest);

extern template std::optional<RunFault> decode_run(base::ByteView, std::span<G1Affine* const>,
                                                   Arithmetic);
extern template std::optional<RunFault> decode_run(base::ByteView, std::span<G2Affine* const>,
                                                   Arithmetic);

namespace decode_kernels {

/// Eight points at a time. Returns false unless all are finite, canonically encoded, and on the
/// curve; *targets hold something then. Only call where the arithmetic is available.
bool decode_eight_avx2(const std::uint8_t* encodings, G1Affine* const* targets);
bool decode_eight_avx2(const std::uint8_t* encodings, G2Affine* const* targets);
bool decode_eight_ifma(const std::uint8_t* encodings, G1Affine* const* targets);
bool decode_eight_ifma(const std::uint8_t* encodings, G2Affine* const* targets);

}  // namespace decode_kernels

}  // namespace cuzk::curve
