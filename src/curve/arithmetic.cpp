#include "curve/arithmetic.hpp"

#include "base/error.hpp"

namespace cuzk::curve {

std::string_view to_string(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kBest:
      return "best";
    case Arithmetic::kScalar:
      return "scalar";
    case Arithmetic::kAvx2:
      return "AVX2";
    case Arithmetic::kIfma:
      return "AVX-512 IFMA";
  }
  return "unknown";
}

bool is_available(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kBest:
    case Arithmetic::kScalar:
      return true;
#if defined(__x86_64__)
    case Arithmetic::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Arithmetic::kIfma:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512ifma");
#endif
    default:
      return false;
  }
}

Arithmetic resolve(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kBest) {
    for (const Arithmetic fastest : {Arithmetic::kIfma, Arithmetic::kAvx2}) {
      if (is_available(fastest)) return fastest;
    }
    return Arithmetic::kScalar;
  }
  base::require(is_available(arithmetic), "this processor, or this build, cannot run {}",
                to_string(arithmetic));
  return arithmetic;
}

}  // namespace cuzk::curve
