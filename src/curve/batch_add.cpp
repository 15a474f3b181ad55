#include "curve/batch_add.hpp"

#include "base/error.hpp"
#include "curve/arithmetic.hpp"
#include "curve/batch_add_kernels.hpp"

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

template <class F>
BatchAdder<F>::BatchAdder(Arithmetic arithmetic) : kernel_(batch_add_kernels::add_scalar<F>) {
  const Arithmetic resolved = resolve(arithmetic);
#if defined(__x86_64__)
  if (resolved == Arithmetic::kAvx2) kernel_ = batch_add_kernels::add_avx2;
  if (resolved == Arithmetic::kIfma) kernel_ = batch_add_kernels::add_ifma;
#endif
  regular_.resize(kCapacity);
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

namespace {

// Two finite points with different x, by one word of each: false for some others, too, but hardly
// ever. Measured: -3 % for an addition in G1.
template <class F>
bool has_slope(const AffinePoint<F>& a, const AffinePoint<F>& b) {
  const std::uint64_t x1 = a.x.limbs()[0], x2 = b.x.limbs()[0];
  return x1 != 0 && x2 != 0 && x1 != x2;
}

}  // namespace

// Deals with what has no slope or another one, and leaves the rest to the kernel.
template <class F>
void BatchAdder<F>::add_chunk(std::span<const PointAddition<F>> additions) {
  std::size_t regular = 0;
  for (const PointAddition<F>& addition : additions) {
    const AffinePoint<F>& addend = *addition.addend;
    AffinePoint<F>& acc = *addition.acc;
    if (has_slope(acc, addend)) [[likely]] {
      regular_[regular++] = addition;
      continue;
    }
    if (addend.is_identity()) continue;
    if (acc.is_identity()) {
      acc = addition.negate ? -addend : addend;
    } else if (acc.x == addend.x) {
      const AffinePoint<F> signed_addend = addition.negate ? -addend : addend;
      acc = acc.y == signed_addend.y ? JacobianPoint<F>::from(acc).doubled().to_affine()
                                     : AffinePoint<F>::identity();
    } else {
      regular_[regular++] = addition;
    }
  }
  if (regular == 0) return;
  kernel_(std::span(regular_).first(regular), scratch_.data());
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
