#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/fp.hpp"
#include "curve/device/fp_inverse.hpp"

/// Fp2 on a pair of neighbouring lanes: lane 2i holds c0, lane 2i + 1 holds c1. A product fetches
/// the other lane's operands and is then one ab + cd with a single reduction on each lane:
///
///   c0 = a0·b0 + a1·(-b1)        c1 = a1·b0 + a0·b1
///
/// Half the registers of Fp2, twice the threads. Components stay in [0, 2p), as in Fp2.
///
/// Everything here but add, sub, select and the like exchanges data within the warp, so all 32
/// lanes must call it together: kernels keep their control flow uniform within a warp (any()) and
/// select where pairs differ. Where a function gives a truth value about the element, both lanes of
/// the pair get the same one.
namespace cuzk::curve::device {

struct alignas(16) Fp2Lane {
  Fp component;

  static CUZK_HD bool is_odd() { return (base::cuda::lane_index() & 1u) != 0; }
  static CUZK_HD bool any(bool condition) { return base::cuda::ballot(condition) != 0; }
  static CUZK_HD Fp2Lane zero() { return {Fp::zero()}; }
  static CUZK_HD Fp2Lane one() { return {select(is_odd(), Fp::zero(), Fp::one())}; }
};

namespace lane_detail {

/// The other lane's component.
CUZK_HD Fp other(const Fp& a) {
#ifdef __CUDACC__
  Fp d;
  CUZK_UNROLL
  for (int i = 0; i < 12; ++i) d.limbs[i] = base::cuda::shuffle_xor(a.limbs[i], 1);
  return d;
#else
  return __shfl_xor_sync(base::cuda::kFullWarp, a, 1);  // one exchange instead of twelve
#endif
}
/// Whether both lanes of the pair say so.
CUZK_HD bool both(bool mine) {
  const std::uint32_t votes = base::cuda::ballot(mine);
  return ((votes >> (base::cuda::lane_index() & 30u)) & 3u) == 3u;
}
/// One call a product: inlined, a G2 addition is 80 KB of instructions.
CUZK_HD_CALL Fp product(const Fp a, const Fp b) {
  const Fp other_a = other(a), other_b = other(b);
  const bool odd = Fp2Lane::is_odd();
  return mul_add(a, select(odd, other_b, b), other_a, select(odd, b, neg<2>(other_b)));
}
CUZK_HD_CALL Fp square(const Fp a) {
  const Fp o = other(a);
  const bool odd = Fp2Lane::is_odd();
  // even: (a0 + a1)·(a0 - a1); odd: (a1 + a1)·a0
  return mul(subtract_if_possible<2>(add(a, select(odd, a, o))),
             select(odd, o, subtract_if_possible<2>(sub<2>(a, o))));
}
}  // namespace lane_detail

CUZK_HD Fp2Lane add(const Fp2Lane& a, const Fp2Lane& b) {
  return {subtract_if_possible<2>(add(a.component, b.component))};
}
template <int K>
CUZK_HD Fp2Lane sub(const Fp2Lane& a, const Fp2Lane& b) {
  return {subtract_if_possible<2>(sub<2>(a.component, b.component))};
}
template <int K>
CUZK_HD Fp2Lane neg(const Fp2Lane& b) {
  return {subtract_if_possible<2>(neg<2>(b.component))};
}
template <int K>
CUZK_HD Fp2Lane subtract_if_possible(const Fp2Lane& a) {
  return a;
}
CUZK_HD Fp2Lane reduce_to_2p(const Fp2Lane& a) { return a; }
CUZK_HD Fp2Lane canonical(const Fp2Lane& a) { return {canonical(a.component)}; }
CUZK_HD Fp2Lane select(bool condition, const Fp2Lane& a, const Fp2Lane& b) {
  return {select(condition, a.component, b.component)};
}
CUZK_HD bool is_zero_limbs(const Fp2Lane& a) {
  return lane_detail::both(is_zero_limbs(a.component));
}
/// Of this lane alone, which both lanes' disjunction makes good.
CUZK_HD bool may_be_zero_limbs(const Fp2Lane& a) { return may_be_zero_limbs(a.component); }
CUZK_HD bool is_zero(const Fp2Lane& a) { return lane_detail::both(is_zero(a.component)); }
CUZK_HD bool may_be_zero(const Fp2Lane& a) {
  return lane_detail::both(is_zero_limbs(a.component) || may_be_zero(a.component));
}
CUZK_HD Fp2Lane mul(const Fp2Lane& a, const Fp2Lane& b) {
  return {lane_detail::product(a.component, b.component)};
}
CUZK_HD Fp2Lane square(const Fp2Lane& a) { return {lane_detail::square(a.component)}; }
/// Both lanes invert the norm: a warp in lockstep pays once.
CUZK_HD Fp2Lane inverse(const Fp2Lane& a) {
  const Fp o = lane_detail::other(a.component);
  const Fp d = mul(inverse(mul_add(a.component, a.component, o, o)), a.component);
  return {select(Fp2Lane::is_odd(), subtract_if_possible<2>(neg<2>(d)), d)};
}

}  // namespace cuzk::curve::device
