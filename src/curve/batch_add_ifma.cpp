#include "curve/field8_ifma.hpp"

#if defined(__x86_64__)

#define CUZK_ARITHMETIC ifma
#define CUZK_TARGET CUZK_IFMA
#include "curve/batch_add_loops.hpp"

namespace cuzk::curve::batch_add_kernels {

void add_ifma(std::span<const PointAddition<Fp>> additions, void* scratch) {
  ifma::add_any(additions, scratch);
}
void add_ifma(std::span<const PointAddition<Fp2>> additions, void* scratch) {
  ifma::add_any(additions, scratch);
}

}  // namespace cuzk::curve::batch_add_kernels

#endif
