#pragma once

namespace cuzk::curve {

/// Whether this processor, and this build, can run code for AVX2 and FMA.
inline bool cpu_has_avx2_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace cuzk::curve
