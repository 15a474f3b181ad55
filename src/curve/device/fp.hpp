#pragma once

#include "base/cuda/qualifiers.hpp"
#include "curve/device/carry.hpp"

#include <cstdint>

/// The base field of BLS12-381 for kernels (host and device run the same text; see carry.hpp).
///
///   p =
///   0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab
///
/// An element is twelve 32-bit limbs, least significant first, in Montgomery form with R = 2^384:
/// canonical limbs have the bytes of blst_fp. R / p = 9.84, so 384 bits hold values up to 9.84 p,
/// and hardly anything is reduced to [0, p): each function states its ranges as multiples of p. For
/// a < A·p and b < B·p,
///
///   mul(a, b) < (A·B / 9.84 + 1)·p,   required: A <= 8.84, B <= 9.84.
///
/// Measured on H200 (chains, G/s): mul 25.8 (288 wide multiply-adds), square 34.8 (222),
/// mul_add 17.6 (432).
namespace cuzk::curve::device {

struct alignas(16) Fp {
  std::uint32_t limbs[12];

  static CUZK_HD Fp zero() { return Fp{}; }
  /// R mod p.
  static CUZK_HD Fp one() {
    return Fp{{0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857, 0x70525745,
               0x77ce5853, 0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3}};
  }
  /// What a branch on `condition` may depend on; see group.hpp.
  static CUZK_HD bool any(bool condition) { return condition; }
};

static_assert(sizeof(Fp) == 48);

namespace fp_constants {

/// Limb i of K·p, K = 1 .. 5; a literal once the loop around it is unrolled.
template <int K>
CUZK_HD constexpr std::uint32_t multiple_limb(int i) {
  static_assert(K >= 1 && K <= 5);
  constexpr std::uint32_t table[5][12] = {
      {0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0, 0xf38512bf,
       0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea},
      {0xffff5556, 0x73fdffff, 0x62a7ffff, 0x3d57fffd, 0xed61ec48, 0xce61a541, 0xe70a257e,
       0xc8ee9709, 0x869759ae, 0x96374f6c, 0x72ffcd34, 0x340223d4},
      {0xffff0001, 0x2dfcffff, 0x13fbffff, 0x5c03fffc, 0xe412e26c, 0x359277e2, 0xda8f383e,
       0x2d65e28e, 0xc9e30686, 0xe152f722, 0xac7fb3ce, 0x4e0335be},
      {0xfffeaaac, 0xe7fbffff, 0xc54ffffe, 0x7aaffffa, 0xdac3d890, 0x9cc34a83, 0xce144afd,
       0x91dd2e13, 0x0d2eb35d, 0x2c6e9ed9, 0xe5ff9a69, 0x680447a8},
      {0xfffe5557, 0xa1faffff, 0x76a3fffe, 0x995bfff9, 0xd174ceb4, 0x03f41d24, 0xc1995dbd,
       0xf6547998, 0x507a6034, 0x778a468f, 0x1f7f8103, 0x82055993}};
  return table[K - 1][i];
}

/// -1/p mod 2^32.
inline constexpr std::uint32_t kMinusInverse = 0xfffcfffd;

}  // namespace fp_constants

// ---- Sums

/// a + b, not reduced.
CUZK_HD Fp add(const Fp& a, const Fp& b) {
  Fp d;
  d.limbs[0] = carry::add_cc(a.limbs[0], b.limbs[0]);
  CUZK_UNROLL
  for (int i = 1; i < 11; ++i) d.limbs[i] = carry::addc_cc(a.limbs[i], b.limbs[i]);
  d.limbs[11] = carry::addc(a.limbs[11], b.limbs[11]);
  return d;
}

/// a - b + K·p, for b <= K·p; not reduced.
template <int K>
CUZK_HD Fp sub(const Fp& a, const Fp& b) {
  using fp_constants::multiple_limb;
  Fp d;
  d.limbs[0] = carry::sub_cc(a.limbs[0], b.limbs[0]);
  CUZK_UNROLL
  for (int i = 1; i < 11; ++i) d.limbs[i] = carry::subc_cc(a.limbs[i], b.limbs[i]);
  d.limbs[11] = carry::subc(a.limbs[11], b.limbs[11]);
  d.limbs[0] = carry::add_cc(d.limbs[0], multiple_limb<K>(0));
  CUZK_UNROLL
  for (int i = 1; i < 11; ++i) d.limbs[i] = carry::addc_cc(d.limbs[i], multiple_limb<K>(i));
  d.limbs[11] = carry::addc(d.limbs[11], multiple_limb<K>(11));
  return d;
}

/// K·p - b, for b <= K·p.
template <int K>
CUZK_HD Fp neg(const Fp& b) {
  using fp_constants::multiple_limb;
  Fp d;
  d.limbs[0] = carry::sub_cc(multiple_limb<K>(0), b.limbs[0]);
  CUZK_UNROLL
  for (int i = 1; i < 11; ++i) d.limbs[i] = carry::subc_cc(multiple_limb<K>(i), b.limbs[i]);
  d.limbs[11] = carry::subc(multiple_limb<K>(11), b.limbs[11]);
  return d;
}

/// a - K·p if that is not negative, else a: [0, 2K·p) -> [0, K·p).
template <int K>
CUZK_HD Fp subtract_if_possible(const Fp& a) {
  using fp_constants::multiple_limb;
  Fp d;
  d.limbs[0] = carry::sub_cc(a.limbs[0], multiple_limb<K>(0));
  CUZK_UNROLL
  for (int i = 1; i < 12; ++i) d.limbs[i] = carry::subc_cc(a.limbs[i], multiple_limb<K>(i));
  const std::uint32_t borrow = carry::subc(0, 0);
  CUZK_UNROLL
  for (int i = 0; i < 12; ++i) d.limbs[i] = borrow != 0 ? a.limbs[i] : d.limbs[i];
  return d;
}

CUZK_HD Fp select(bool condition, const Fp& a, const Fp& b) {
  Fp d;
  CUZK_UNROLL
  for (int i = 0; i < 12; ++i) d.limbs[i] = condition ? a.limbs[i] : b.limbs[i];
  return d;
}

/// [0, 8p) -> [0, 2p).
CUZK_HD Fp reduce_to_2p(const Fp& a) { return subtract_if_possible<2>(subtract_if_possible<4>(a)); }
/// [0, 8p) -> [0, p).
CUZK_HD Fp canonical(const Fp& a) { return subtract_if_possible<1>(reduce_to_2p(a)); }

CUZK_HD bool is_zero_limbs(const Fp& a) {
  std::uint32_t any = 0;
  CUZK_UNROLL
  for (int i = 0; i < 12; ++i) any |= a.limbs[i];
  return any == 0;
}
/// False for elements that certainly have another limb than zero: all but one in 2^32 of those.
CUZK_HD bool may_be_zero_limbs(const Fp& a) { return a.limbs[0] == 0; }
/// a = 0 mod p, for a in [0, 8p).
CUZK_HD bool is_zero(const Fp& a) { return is_zero_limbs(canonical(a)); }
/// Whether the lowest limb is that of p, 2p, 3p or 4p: false for all but one in 2^30 elements of
/// (0, 5p) that are not zero mod p.
CUZK_HD bool may_be_zero(const Fp& a) {
  using fp_constants::multiple_limb;
  const std::uint32_t low = a.limbs[0];
  return low == multiple_limb<1>(0) || low == multiple_limb<2>(0) || low == multiple_limb<3>(0) ||
         low == multiple_limb<4>(0);
}

// ---- Products
//
// The running total is X + Y·2^32, two arrays of 12 limbs. The 64-bit product a_j·b_i lands on
// limbs (j, j + 1): products with even j go to X, those with odd j to Y, so that inside each array
// they tile the limbs without overlap and one carry chain of six fused multiply-adds covers a row.
// After adding m·p the lowest limb X[0] is zero and the total moves down one limb: the arrays swap
// roles, and X[1], which has lost its partner, is added to the new lowest limb; its carry enters
// the next row's odd chain at exactly the limb where that chain begins. With a < A·p the total
// stays below 2^32·(A + 1)·p, so 13 limbs are enough.

namespace fp_detail {

/// Shifts the total by one limb, then adds a·b, from limb j = first on (first > 0 only for
/// squares).
CUZK_HD void shift_and_mad(std::uint32_t* x, std::uint32_t* y, const std::uint32_t* a,
                           std::uint32_t b, int first = 0) {
  using namespace carry;
  std::uint32_t n[12];
  y[0] = add_cc(y[0], x[1]);
  CUZK_UNROLL
  for (int j = 1; j < 11; j += 2) {
    if (j >= first) {
      n[j - 1] = madc_lo_cc(a[j], b, x[j + 1]);
      n[j] = madc_hi_cc(a[j], b, x[j + 2]);
    } else {
      n[j - 1] = addc_cc(x[j + 1], 0);
      n[j] = addc_cc(x[j + 2], 0);
    }
  }
  n[10] = madc_lo_cc(a[11], b, 0);
  n[11] = madc_hi(a[11], b, 0);
  CUZK_UNROLL
  for (int j = 0; j < 12; ++j) {
    x[j] = y[j];
    y[j] = n[j];
  }
  bool chain_open = false;
  CUZK_UNROLL
  for (int j = 0; j < 12; j += 2) {
    if (j < first) continue;
    x[j] = chain_open ? madc_lo_cc(a[j], b, x[j]) : mad_lo_cc(a[j], b, x[j]);
    x[j + 1] = madc_hi_cc(a[j], b, x[j + 1]);
    chain_open = true;
  }
  if (chain_open) y[11] = addc(y[11], 0);
}
/// total += a·b, no shift.
CUZK_HD void mad(std::uint32_t* x, std::uint32_t* y, const std::uint32_t* a, std::uint32_t b) {
  using namespace carry;
  y[0] = mad_lo_cc(a[1], b, y[0]);
  y[1] = madc_hi_cc(a[1], b, y[1]);
  CUZK_UNROLL
  for (int j = 3; j < 11; j += 2) {
    y[j - 1] = madc_lo_cc(a[j], b, y[j - 1]);
    y[j] = madc_hi_cc(a[j], b, y[j]);
  }
  y[10] = madc_lo_cc(a[11], b, y[10]);
  y[11] = madc_hi(a[11], b, y[11]);
  x[0] = mad_lo_cc(a[0], b, x[0]);
  x[1] = madc_hi_cc(a[0], b, x[1]);
  CUZK_UNROLL
  for (int j = 2; j < 12; j += 2) {
    x[j] = madc_lo_cc(a[j], b, x[j]);
    x[j + 1] = madc_hi_cc(a[j], b, x[j + 1]);
  }
  y[11] = addc(y[11], 0);
}
/// total += m·p with m chosen so that x[0] becomes 0.
CUZK_HD void reduce(std::uint32_t* x, std::uint32_t* y) {
  std::uint32_t p[12];
  CUZK_UNROLL
  for (int j = 0; j < 12; ++j) p[j] = fp_constants::multiple_limb<1>(j);
  mad(x, y, p, x[0] * fp_constants::kMinusInverse);
}
/// total = a·b.
CUZK_HD void start(std::uint32_t* x, std::uint32_t* y, const std::uint32_t* a, std::uint32_t b) {
  CUZK_UNROLL
  for (int j = 0; j < 12; j += 2) {
    const std::uint64_t even = std::uint64_t{a[j]} * b, odd = std::uint64_t{a[j + 1]} * b;
    x[j] = static_cast<std::uint32_t>(even);
    x[j + 1] = static_cast<std::uint32_t>(even >> 32);
    y[j] = static_cast<std::uint32_t>(odd);
    y[j + 1] = static_cast<std::uint32_t>(odd >> 32);
  }
}
/// The last shift.
CUZK_HD Fp finish(const std::uint32_t* x, const std::uint32_t* y) {
  Fp d;
  d.limbs[0] = carry::add_cc(y[0], x[1]);
  CUZK_UNROLL
  for (int j = 1; j < 11; ++j) d.limbs[j] = carry::addc_cc(y[j], x[j + 1]);
  d.limbs[11] = carry::addc(y[11], 0);
  return d;
}

}  // namespace fp_detail

/// a·b / R; ranges at the top of this file.
CUZK_HD Fp mul(const Fp& a, const Fp& b) {
  std::uint32_t x[12], y[12];
  fp_detail::start(x, y, a.limbs, b.limbs[0]);
  fp_detail::reduce(x, y);
  CUZK_UNROLL
  for (int i = 1; i < 12; ++i) {
    fp_detail::shift_and_mad(x, y, a.limbs, b.limbs[i]);
    fp_detail::reduce(x, y);
  }
  return fp_detail::finish(x, y);
}

/// (a·b + c·d) / R with one reduction: for A + C + 1 <= 9.84; the result is below ((A·B + C·D)
/// / 9.84 + 1)·p.
CUZK_HD Fp mul_add(const Fp& a, const Fp& b, const Fp& c, const Fp& d) {
  std::uint32_t x[12], y[12];
  fp_detail::start(x, y, a.limbs, b.limbs[0]);
  fp_detail::mad(x, y, c.limbs, d.limbs[0]);
  fp_detail::reduce(x, y);
  CUZK_UNROLL
  for (int i = 1; i < 12; ++i) {
    fp_detail::shift_and_mad(x, y, a.limbs, b.limbs[i]);
    fp_detail::mad(x, y, c.limbs, d.limbs[i]);
    fp_detail::reduce(x, y);
  }
  return fp_detail::finish(x, y);
}

/// a² / R, for A <= 4.42. Row i needs only the products j >= i: a_i·a_i + sum over j > i of
/// a_i·(2a)_j, where the doubled operand is cut below limb i + 1 (its first limb is shifted without
/// the bit coming in).
CUZK_HD Fp square(const Fp& a) {
  std::uint32_t x[12], y[12], doubled[12];
  doubled[0] = a.limbs[0] << 1;
  CUZK_UNROLL
  for (int j = 1; j < 12; ++j) doubled[j] = (a.limbs[j] << 1) | (a.limbs[j - 1] >> 31);
  CUZK_UNROLL
  for (int i = 0; i < 12; ++i) {
    std::uint32_t row[12];
    CUZK_UNROLL
    for (int j = 0; j < 12; ++j)
      row[j] = j == i ? a.limbs[j] : j == i + 1 ? a.limbs[j] << 1 : doubled[j];
    if (i == 0) {
      fp_detail::start(x, y, row, a.limbs[0]);
    } else {
      fp_detail::shift_and_mad(x, y, row, a.limbs[i], i);
    }
    fp_detail::reduce(x, y);
  }
  return fp_detail::finish(x, y);
}

}  // namespace cuzk::curve::device
