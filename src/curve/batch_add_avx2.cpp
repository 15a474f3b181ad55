#include "curve/field8_avx2.hpp"

#if defined(__x86_64__)

#define CUZK_ARITHMETIC avx2
#define CUZK_TARGET CUZK_AVX2
#include "curve/batch_add_loops.hpp"

namespace cuzk::curve::batch_add_kernels {

void add_avx2(std::span<const PointAddition<Fp>> additions, void* scratch) {
  avx2::add_any(additions, scratch);
}
void add_avx2(std::span<const PointAddition<Fp2>> additions, void* scratch) {
  avx2::add_any(additions, scratch);
}

}  // namespace cuzk::curve::batch_add_kernels

#endif
