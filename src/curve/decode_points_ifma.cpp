#include "curve/field8_ifma.hpp"

#if defined(__x86_64__)

#define CUZK_ARITHMETIC ifma
#define CUZK_TARGET CUZK_IFMA
#include "curve/decode_points_loops.hpp"

namespace cuzk::curve::decode_kernels {

bool decode_eight_ifma(const std::uint8_t* encodings, G1Affine* const* targets) {
  return ifma::decode_eight(encodings, targets);
}
bool decode_eight_ifma(const std::uint8_t* encodings, G2Affine* const* targets) {
  return ifma::decode_eight(encodings, targets);
}

}  // namespace cuzk::curve::decode_kernels

#endif
