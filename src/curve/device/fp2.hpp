#pragma once

#include "curve/device/fp.hpp"
#include "curve/device/fp_inverse.hpp"

/// Fp2 = Fp[u] / (u² + 1): c0 + c1·u, both components in one thread. Every component stays in [0,
/// 2p): a product gives (2·2 + 2·2) / 9.84 + 1 < 2, so only sums need a correction. The template
/// arguments that the formulas of group.hpp pass are bounds for Fp's lazy ranges and mean nothing
/// here. Kernels use Fp2Lane, which splits an element over two threads.
namespace cuzk::curve::device {

struct alignas(16) Fp2 {
  Fp c0, c1;

  static CUZK_HD Fp2 zero() { return {Fp::zero(), Fp::zero()}; }
  static CUZK_HD Fp2 one() { return {Fp::one(), Fp::zero()}; }
  static CUZK_HD bool any(bool condition) { return condition; }
};

static_assert(sizeof(Fp2) == 96);

CUZK_HD Fp2 add(const Fp2& a, const Fp2& b) {
  return {subtract_if_possible<2>(add(a.c0, b.c0)), subtract_if_possible<2>(add(a.c1, b.c1))};
}
template <int K>
CUZK_HD Fp2 sub(const Fp2& a, const Fp2& b) {
  return {subtract_if_possible<2>(sub<2>(a.c0, b.c0)), subtract_if_possible<2>(sub<2>(a.c1, b.c1))};
}
template <int K>
CUZK_HD Fp2 neg(const Fp2& b) {
  return sub<2>(Fp2::zero(), b);
}
template <int K>
CUZK_HD Fp2 subtract_if_possible(const Fp2& a) {
  return a;
}
CUZK_HD Fp2 reduce_to_2p(const Fp2& a) { return a; }
CUZK_HD Fp2 canonical(const Fp2& a) { return {canonical(a.c0), canonical(a.c1)}; }
CUZK_HD Fp2 select(bool condition, const Fp2& a, const Fp2& b) {
  return {select(condition, a.c0, b.c0), select(condition, a.c1, b.c1)};
}
CUZK_HD bool may_be_zero_limbs(const Fp2& a) {
  return may_be_zero_limbs(a.c0) && may_be_zero_limbs(a.c1);
}
CUZK_HD bool is_zero_limbs(const Fp2& a) { return is_zero_limbs(a.c0) && is_zero_limbs(a.c1); }
CUZK_HD bool is_zero(const Fp2& a) { return is_zero(a.c0) && is_zero(a.c1); }
/// False for all but a few elements that are not zero.
CUZK_HD bool may_be_zero(const Fp2& a) {
  return (is_zero_limbs(a.c0) || may_be_zero(a.c0)) && (is_zero_limbs(a.c1) || may_be_zero(a.c1));
}

/// (a0·b0 - a1·b1) + (a1·b0 + a0·b1)·u.
CUZK_HD Fp2 mul(const Fp2& a, const Fp2& b) {
  return {mul_add(a.c0, b.c0, a.c1, neg<2>(b.c1)), mul_add(a.c1, b.c0, a.c0, b.c1)};
}
/// (a0 + a1)(a0 - a1) + 2·a0·a1·u.
CUZK_HD Fp2 square(const Fp2& a) {
  const Fp sum = subtract_if_possible<2>(add(a.c0, a.c1)),
           difference = subtract_if_possible<2>(sub<2>(a.c0, a.c1));
  return {mul(sum, difference), mul(subtract_if_possible<2>(add(a.c1, a.c1)), a.c0)};
}
/// conj(a) / (a0² + a1²); zero for zero.
CUZK_HD Fp2 inverse(const Fp2& a) {
  const Fp norm_inverse = inverse(mul_add(a.c0, a.c0, a.c1, a.c1));
  return {mul(norm_inverse, a.c0), neg<2>(mul(norm_inverse, a.c1))};
}

}  // namespace cuzk::curve::device
