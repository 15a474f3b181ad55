#include "curve/field8_avx2.hpp"

#if defined(__x86_64__)

#define CUZK_ARITHMETIC avx2
#define CUZK_TARGET CUZK_AVX2
#include "curve/decode_points_loops.hpp"

namespace cuzk::curve::decode_kernels {

bool decode_eight_avx2(const std::uint8_t* encodings, G1Affine* const* targets) {
  return avx2::decode_eight(encodings, targets);
}
bool decode_eight_avx2(const std::uint8_t* encodings, G2Affine* const* targets) {
  return avx2::decode_eight(encodings, targets);
}

}  // namespace cuzk::curve::decode_kernels

#endif
