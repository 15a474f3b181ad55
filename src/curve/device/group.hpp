#pragma once

#include "curve/device/fp.hpp"
#include "curve/device/fp2.hpp"

/// Points of y² = x³ + b over F: G1 with F = Fp, G2 with F = Fp2 (one thread) or Fp2Lane (a pair of
/// lanes). One text for all; a = 0 and the formulas never need b. No point has y = 0 (both
/// cofactors are odd), so twice a point is the identity only for the identity.
///
/// Ranges for Fp: affine x, y in [0, 2p]; XYZZ X < 2p, Y < 3p, ZZ < 1.27p, ZZZ < 1.21p. For Fp2 all
/// components are below 2p.
///
/// Every function here is complete: any operand may be the identity, and the two may be equal or
/// opposite. The hot ones test for that with a few comparisons and then go through a slow common
/// path.
///
/// Lanes that share an element must branch together, so a branch here depends on F::any(condition):
/// the condition itself where a thread holds whole elements, its disjunction over the warp where
/// lanes share them. What differs between the elements of a warp is selected.
namespace cuzk::curve::device {

/// Affine point; the identity is (0, 0) as in blst: x has only zero limbs and y is 0 mod p.
template <class F>
struct Affine {
  F x, y;

  static CUZK_HD Affine identity() { return {F::zero(), F::zero()}; }
};

/// x = X/ZZ, y = Y/ZZZ, ZZ³ = ZZZ²; the identity has only zero limbs, and nothing else has so in
/// ZZ.
template <class F>
struct Xyzz {
  F x, y, zz, zzz;

  static CUZK_HD Xyzz identity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
};

using G1Affine = Affine<Fp>;
using G1Xyzz = Xyzz<Fp>;
using G2Affine = Affine<Fp2>;
using G2Xyzz = Xyzz<Fp2>;
static_assert(sizeof(G1Affine) == 96 && sizeof(G1Xyzz) == 192 && sizeof(G2Affine) == 192 &&
              sizeof(G2Xyzz) == 384);

template <class F>
CUZK_HD bool is_identity(const Affine<F>& a) {
  const bool x_zero = is_zero_limbs(a.x), y_zero = is_zero(a.y);
  return x_zero && y_zero;
}
template <class F>
CUZK_HD bool is_identity(const Xyzz<F>& a) {
  return is_zero_limbs(a.zz);
}
template <class F>
CUZK_HD Affine<F> select(bool condition, const Affine<F>& a, const Affine<F>& b) {
  return {select(condition, a.x, b.x), select(condition, a.y, b.y)};
}
template <class F>
CUZK_HD Xyzz<F> select(bool condition, const Xyzz<F>& a, const Xyzz<F>& b) {
  return {select(condition, a.x, b.x), select(condition, a.y, b.y), select(condition, a.zz, b.zz),
          select(condition, a.zzz, b.zzz)};
}
template <class F>
CUZK_HD Xyzz<F> to_xyzz(const Affine<F>& a) {
  return select(is_identity(a), Xyzz<F>::identity(), Xyzz<F>{a.x, a.y, F::one(), F::one()});
}
/// -a if `negative`, else a.
template <class F>
CUZK_HD Affine<F> negate_if(const Affine<F>& a, bool negative) {
  return {a.x, select(negative, neg<2>(a.y), a.y)};
}

/// a·b - c·d for c <= K·p, with one reduction where F allows it.
template <int K>
CUZK_HD Fp mul_sub(const Fp& a, const Fp& b, const Fp& c, const Fp& d) {
  return mul_add(a, b, neg<K>(c), d);
}
template <int K, class F>
CUZK_HD F mul_sub(const F& a, const F& b, const F& c, const F& d) {
  return sub<K>(mul(a, b), mul(c, d));
}

namespace group_detail {

/// What both additions end with. p = x2 - x1 < 3.26p and r = y2 - y1 < 4.25p, scaled; x1 < 2p and
/// y1 < 3p, scaled alike:
///
///   PP = p² < 2.08p, PPP = p·PP < 1.69p, Q = x1·PP < 1.43p
///   X3 = r² - PPP - 2Q + 5p < 7.84p -> [0, 2p)
///   Y3 = r·(Q - X3 + 2p) - y1·PPP < (4.25·3.43 + 3·1.69) / 9.84 + 1 < 3p
///   ZZ3 = ZZ·PP, ZZZ3 = ZZZ·PPP
template <class F>
CUZK_HD Xyzz<F> finish_addition(const F& p, const F& r, const F& x1, const F& y1, const F& zz,
                                const F& zzz) {
  const F pp = square(p), ppp = mul(p, pp), q = mul(x1, pp);
  Xyzz<F> d;
  d.x = reduce_to_2p(sub<5>(square(r), add(ppp, add(q, q))));
  d.y = mul_sub<3>(r, sub<2>(q, d.x), y1, ppp);
  d.zz = mul(pp, zz);
  d.zzz = mul(ppp, zzz);
  return d;
}

}  // namespace group_detail

/// 2a. U = 2Y < 4p, V = U² < 2.63p, W = U·V < 2.07p, S = X·V < 1.54p, M = 3X² < 4.23p, X3 = M² -
/// 2S, Y3 = M·(S - X3) - W·Y.
template <class F>
CUZK_HD Xyzz<F> doubled(const Xyzz<F>& a) {
  const F y = subtract_if_possible<2>(a.y), u = add(y, y);
  const F v = square(u), w = mul(u, v), s = mul(a.x, v);
  const F xx = square(a.x), m = add(xx, add(xx, xx));
  Xyzz<F> d;
  d.x = reduce_to_2p(sub<4>(square(m), add(s, s)));
  d.y = mul_sub<2>(m, sub<2>(s, d.x), y, w);
  d.zz = mul(v, a.zz);
  d.zzz = mul(w, a.zzz);
  return select(is_identity(a), Xyzz<F>::identity(), d);
}

/// a += b. 12 products, 2 squares. A call on the device: the reductions use it several times in a
/// loop.
template <class F>
CUZK_HD_CALL_TEMPLATE void add_assign(Xyzz<F>& a, const Xyzz<F>& b) {
  const bool a_identity = is_identity(a), b_identity = is_identity(b);
  if (!F::any(!b_identity)) return;
  if (!F::any(!a_identity)) {
    a = b;
    return;
  }
  const F u1 = mul(a.x, b.zz), s1 = mul(a.y, b.zzz);  // < 1.26p, 1.37p
  const F p = sub<2>(mul(b.x, a.zz), u1), r = sub<2>(mul(b.y, a.zzz), s1);
  Xyzz<F> sum = group_detail::finish_addition(p, r, u1, s1, mul(a.zz, b.zz), mul(a.zzz, b.zzz));
  const bool same_x = is_zero(p) && !a_identity && !b_identity;
  if (F::any(same_x)) {
    const bool same_y = is_zero(r);
    const Xyzz<F> twice = doubled(a);
    sum = select(same_x, select(same_y, twice, Xyzz<F>::identity()), sum);
  }
  a = select(b_identity, a, select(a_identity, b, sum));
}

/// a += b, b affine: 8 products of which two share a reduction and 2 squares, 2,607 wide
/// multiply-adds in G1.
template <class F>
CUZK_HD void add_assign(Xyzz<F>& a, const Affine<F>& b) {
  const F p = sub<2>(mul(b.x, a.zz), a.x);   // < 3.26p; 2p where a is the identity
  const F r = sub<3>(mul(b.y, a.zzz), a.y);  // < 4.25p
  const bool x_zero = may_be_zero_limbs(b.x), p_suspect = may_be_zero(p);
  if (F::any(x_zero || p_suspect)) {
    Xyzz<F> sum = a;
    add_assign(sum, to_xyzz(b));
    a = sum;
    return;
  }
  a = group_detail::finish_addition(p, r, a.x, a.y, a.zz, a.zzz);
}

// ---- Affine additions that share an inversion
//
// Of a pair (a, b) the caller takes denominator(), multiplies it into a running product, and later
// hands its inverse to finish_pair(). The denominator is never zero: where no division is needed it
// is one.

enum class PairKind { kChord, kTangent, kFirst, kSecond, kCancel };

/// Which case the sum a + b is.
template <class F>
CUZK_HD_CALL_TEMPLATE PairKind classify_pair(const Affine<F>& a, const Affine<F>& b) {
  const bool a_identity = is_identity(a), b_identity = is_identity(b);
  const bool same_x = is_zero(sub<2>(b.x, a.x)), same_y = is_zero(sub<2>(b.y, a.y));
  if (b_identity) return PairKind::kFirst;
  if (a_identity) return PairKind::kSecond;
  if (!same_x) return PairKind::kChord;
  return same_y ? PairKind::kTangent : PairKind::kCancel;
}
/// False for pairs that are certainly chords, decided by x1, x2 and their difference (sub<2>(x2,
/// x1)) alone.
template <class F>
CUZK_HD bool pair_is_suspect(const F& x1, const F& x2, const F& difference) {
  const bool first = may_be_zero_limbs(x1), second = may_be_zero_limbs(x2),
             same = may_be_zero(difference);
  return first || second || same;
}
/// Denominator of a pair of the given kind.
template <class F>
CUZK_HD F denominator(PairKind kind, const F& difference, const F& y1) {
  return select(kind == PairKind::kChord, difference,
                select(kind == PairKind::kTangent, add(y1, y1), F::one()));
}
/// The line's third point, mirrored: slope l = numerator·inverse < 1.6p (numerator <= 4.25p,
/// inverse < 1.3p), x3 = l² - x1 - x2 + 4p < 5.3p -> [0, 2p), y3 = l·(x1 - x3 + 2p) - y1 + 2p
/// < 3.7p -> [0, 2p).
template <class F>
CUZK_HD Affine<F> finish_line(const F& numerator, const F& x1, const F& y1, const F& x2,
                              const F& inverse) {
  const F slope = mul(numerator, inverse);
  Affine<F> d;
  d.x = reduce_to_2p(sub<4>(square(slope), add(x1, x2)));
  d.y = subtract_if_possible<2>(sub<2>(mul(slope, sub<2>(x1, d.x)), y1));
  return d;
}
/// a + b of a chord: 2 products, 1 square.
template <class F>
CUZK_HD Affine<F> finish_chord(const Affine<F>& a, const Affine<F>& b, const F& inverse) {
  return finish_line(sub<2>(b.y, a.y), a.x, a.y, b.x, inverse);
}
/// a + b of any kind.
template <class F>
CUZK_HD_CALL_TEMPLATE Affine<F> finish_pair(PairKind kind, const Affine<F>& a, const Affine<F>& b,
                                            const F& inverse) {
  const F xx = square(a.x), tangent = add(xx, add(xx, xx));
  const F numerator = select(kind == PairKind::kTangent, tangent, sub<2>(b.y, a.y));
  Affine<F> d = finish_line(numerator, a.x, a.y, b.x, inverse);
  d = select(kind == PairKind::kFirst, a, d);
  d = select(kind == PairKind::kSecond, b, d);
  return select(kind == PairKind::kCancel, Affine<F>::identity(), d);
}

/// a as an affine point, by an inversion of its own: with ZZ = Z² and ZZZ = Z³, 1/Z = ZZ/ZZZ.
template <class F>
CUZK_HD Affine<F> to_affine(const Xyzz<F>& a) {
  const F zzz_inverse = inverse(a.zzz), z_inverse = mul(zzz_inverse, a.zz),
          zz_inverse = square(z_inverse);
  const bool identity = is_identity(a);
  const Affine<F> d{mul(a.x, zz_inverse), mul(a.y, zzz_inverse)};
  return select(identity, Affine<F>::identity(), d);
}

}  // namespace cuzk::curve::device
