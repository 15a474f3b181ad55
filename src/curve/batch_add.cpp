#include "curve/batch_add.hpp"

#include "base/error.hpp"
#include "curve/batch_add_kernels.hpp"
#include "curve/cpu_features.hpp"

#include <algorithm>

namespace cuzk::curve {

namespace batch_add_kernels {

template <class F>
void add_scalar(std::span<const PointAddition<F>> additions, void* scratch) {
  const std::size_t n = additions.size();
  F* const differences = static_cast<F*>(scratch);  // x2 - x1
  F* const prefixes = differences + n;              // product of the differences before
  F product = F::one();
  for (std::size_t i = 0; i < n; ++i) {
    differences[i] = additions[i].addend->x - additions[i].acc->x;
    prefixes[i] = product;
    product *= differences[i];
  }
  F inverse = product.inverse();
  for (std::size_t i = n; i-- > 0;) {
    AffinePoint<F>& acc = *additions[i].acc;
    const AffinePoint<F>& addend = *additions[i].addend;
    const F rise = additions[i].negate ? -(addend.y + acc.y) : addend.y - acc.y;
    const F slope = rise * (inverse * prefixes[i]);
    inverse *= differences[i];
    const F x = slope.square() - acc.x - addend.x;
    acc = {x, slope * (acc.x - x) - acc.y};
  }
}

template void add_scalar(std::span<const PointAddition<Fp>>, void*);
template void add_scalar(std::span<const PointAddition<Fp2>>, void*);

}  // namespace batch_add_kernels

bool is_available(BatchArithmetic arithmetic) {
  return arithmetic != BatchArithmetic::kAvx2 || cpu_has_avx2_fma();
}

template <class F>
BatchAdder<F>::BatchAdder(BatchArithmetic arithmetic) : kernel_(batch_add_kernels::add_scalar<F>) {
  base::require(is_available(arithmetic), "this processor has no AVX2 and FMA");
#if defined(__x86_64__)
  if (arithmetic != BatchArithmetic::kScalar && cpu_has_avx2_fma()) {
    kernel_ = batch_add_kernels::add_avx2;
  }
#endif
  regular_.reserve(kCapacity);
  scratch_.resize((kCapacity * batch_add_kernels::kScratchBytes<F> + sizeof(Line) - 1) /
                  sizeof(Line));
}

template <class F>
void BatchAdder<F>::add(std::span<const PointAddition<F>> additions) {
  while (!additions.empty()) {
    const std::size_t count = std::min(additions.size(), kCapacity);
    add_chunk(additions.first(count));
    additions = additions.subspan(count);
  }
}

// Deals with what has no slope or another one, and leaves the rest to the kernel.
template <class F>
void BatchAdder<F>::add_chunk(std::span<const PointAddition<F>> additions) {
  regular_.clear();
  for (const PointAddition<F>& addition : additions) {
    const AffinePoint<F>& addend = *addition.addend;
    AffinePoint<F>& acc = *addition.acc;
    if (addend.is_identity()) continue;
    if (acc.is_identity()) {
      acc = addition.negate ? -addend : addend;
    } else if (acc.x == addend.x) {
      const AffinePoint<F> signed_addend = addition.negate ? -addend : addend;
      acc = acc.y == signed_addend.y ? JacobianPoint<F>::from(acc).doubled().to_affine()
                                     : AffinePoint<F>::identity();
    } else {
      regular_.push_back(addition);
    }
  }
  if (regular_.empty()) return;
  kernel_(regular_, scratch_.data());
}

template <class F>
JacobianPoint<F> PointSum<F>::finish() {
  run();
  for (std::size_t half = kLanes / 2; half >= 64; half /= 2) {
    for (std::size_t i = 0; i < half; ++i)
      pending_.push_back({&lanes_[i], &lanes_[half + i], false});
    run();
    for (std::size_t i = 0; i < half; ++i) lanes_[half + i] = AffinePoint<F>::identity();
  }
  JacobianPoint<F> sum = JacobianPoint<F>::identity();
  for (AffinePoint<F>& lane : lanes_) {
    if (!lane.is_identity()) sum += lane;
    lane = AffinePoint<F>::identity();
  }
  return sum;
}

template class BatchAdder<Fp>;
template class BatchAdder<Fp2>;
template class PointSum<Fp>;
template class PointSum<Fp2>;

}  // namespace cuzk::curve
