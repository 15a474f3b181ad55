#pragma once

#include "curve/device/fr.hpp"

/// Products in Fr.
///
/// Columns of even and odd weight go to separate accumulators, as a fused 32 x 32 + 64-bit product
/// needs an aligned register pair. Reduction uses 2^256 - r = 2^32 - 1 + 2^64·N: a digit is
/// *subtracted*, so limb 0 cancels, limb 1 takes one addition and only the six limbs of N are
/// multiplied. Measured on H200 (chains, G products/s): mul_by 81.2, mul 69.0, the general
/// Montgomery product 60.7.
namespace cuzk::curve::device {

/// Shoup's product: loose x, factor f -> lazy x·w, in the form of x. 93 half-rate multiplier slots.
///
/// q = floor(companion·x / 2^256) or one less; result = w·x - q·r. As companion / 2^256 = w/r - e
/// with 0 <= e < 2^-256, the result is below r·(x / 2^256 + 1 + tiny) < 2r. So the quotient need
/// not be exact and its columns 0..5 are left out (together below 6·2^224, that is 2^-29 of a
/// unit). As the result is below 2^256, only low halves are computed, and there -q·r = q·(2^32 - 1)
/// + q·N·2^64 mod 2^256.
CUZK_HD Fr mul_by(const Fr& x, const FrFactor& f) {
  using namespace carry;
  // Quotient: even[k] has weight 2^(32 (k + 6)), odd[k] has weight 2^(32 (k + 7)).
  std::uint32_t even[10] = {}, odd[9] = {};
  const std::uint32_t* q = f.companion.limbs;
  const std::uint32_t* y = x.limbs;
  mad_row<1>(even + 0, q + 6, y[0]);
  mad_row<1>(odd + 0, q + 7, y[0]);
  mad_row<2>(even + 0, q + 5, y[1]);
  mad_row<1>(odd + 0, q + 6, y[1]);
  odd[2] = addc(0, 0);
  mad_row<2>(even + 0, q + 4, y[2]);
  even[4] = addc(0, 0);
  mad_row<2>(odd + 0, q + 5, y[2]);
  mad_row<3>(even + 0, q + 3, y[3]);
  mad_row<2>(odd + 0, q + 4, y[3]);
  odd[4] = addc(0, 0);
  mad_row<3>(even + 0, q + 2, y[4]);
  even[6] = addc(0, 0);
  mad_row<3>(odd + 0, q + 3, y[4]);
  mad_row<4>(even + 0, q + 1, y[5]);
  mad_row<3>(odd + 0, q + 2, y[5]);
  odd[6] = addc(0, 0);
  mad_row<4>(even + 0, q + 0, y[6]);
  even[8] = addc(0, 0);
  mad_row<4>(odd + 0, q + 1, y[6]);
  mad_row<4>(even + 2, q + 1, y[7]);
  mad_row<4>(odd + 0, q + 0, y[7]);
  odd[8] = addc(0, 0);
  std::uint32_t t[8];
  add_cc(even[1], odd[0]);
  CUZK_UNROLL
  for (int k = 0; k < 7; ++k) t[k] = addc_cc(even[k + 2], odd[k + 1]);
  t[7] = addc(even[9], odd[8]);

  // Low half: low[k] of weight 2^(32 k) starts as -t, middle[k] of weight 2^(32 (k + 1)) starts as
  // t.
  std::uint32_t low[8], middle[8];
  low[0] = sub_cc(0, t[0]);
  CUZK_UNROLL
  for (int k = 1; k < 7; ++k) low[k] = subc_cc(0, t[k]);
  low[7] = subc(0, t[7]);
  CUZK_UNROLL
  for (int k = 0; k < 7; ++k) middle[k] = t[k];
  const std::uint32_t* w = f.w.limbs;
  const std::uint32_t n[6] = {fr_constants::complement_limb(0), fr_constants::complement_limb(1),
                              fr_constants::complement_limb(2), fr_constants::complement_limb(3),
                              fr_constants::complement_limb(4), fr_constants::complement_limb(5)};
  // w·x by rows of x's limbs: the row of limb j starts at column j (one parity) and at column j + 1
  // (the other).
  mad_row<4>(low + 0, w + 0, y[0]);
  mad_row<3>(middle + 0, w + 1, y[0]);
  middle[6] = madc_lo(w[7], y[0], middle[6]);
  mad_row<3>(middle + 0, w + 0, y[1]);
  middle[6] = madc_lo(w[6], y[1], middle[6]);
  mad_row<3>(low + 2, w + 1, y[1]);
  mad_row<3>(low + 2, w + 0, y[2]);
  mad_row<2>(middle + 2, w + 1, y[2]);
  middle[6] = madc_lo(w[5], y[2], middle[6]);
  mad_row<2>(middle + 2, w + 0, y[3]);
  middle[6] = madc_lo(w[4], y[3], middle[6]);
  mad_row<2>(low + 4, w + 1, y[3]);
  mad_row<2>(low + 4, w + 0, y[4]);
  mad_row<1>(middle + 4, w + 1, y[4]);
  middle[6] = madc_lo(w[3], y[4], middle[6]);
  mad_row<1>(middle + 4, w + 0, y[5]);
  middle[6] = madc_lo(w[2], y[5], middle[6]);
  mad_row<1>(low + 6, w + 1, y[5]);
  mad_row<1>(low + 6, w + 0, y[6]);
  middle[6] = mad_lo(w[1], y[6], middle[6]);
  middle[6] = mad_lo(w[0], y[7], middle[6]);
  // t·N, two limbs up.
  mad_row<3>(low + 2, n + 0, t[0]);
  mad_row<2>(middle + 2, n + 1, t[0]);
  middle[6] = madc_lo(n[5], t[0], middle[6]);
  mad_row<2>(middle + 2, n + 0, t[1]);
  middle[6] = madc_lo(n[4], t[1], middle[6]);
  mad_row<2>(low + 4, n + 1, t[1]);
  mad_row<2>(low + 4, n + 0, t[2]);
  mad_row<1>(middle + 4, n + 1, t[2]);
  middle[6] = madc_lo(n[3], t[2], middle[6]);
  mad_row<1>(middle + 4, n + 0, t[3]);
  middle[6] = madc_lo(n[2], t[3], middle[6]);
  mad_row<1>(low + 6, n + 1, t[3]);
  mad_row<1>(low + 6, n + 0, t[4]);
  middle[6] = mad_lo(n[1], t[4], middle[6]);
  middle[6] = mad_lo(n[0], t[5], middle[6]);
  Fr d;
  d.limbs[0] = low[0];
  d.limbs[1] = add_cc(low[1], middle[0]);
  CUZK_UNROLL
  for (int k = 2; k < 7; ++k) d.limbs[k] = addc_cc(low[k], middle[k - 1]);
  d.limbs[7] = addc(low[7], middle[6]);
  return d;
}

namespace fr_detail {

/// One digit of Montgomery reduction on the running total of two accumulators, `e` at the lowest
/// weight and `o` one limb up. With the digit t = e[0], T - t·r = (T - t) + t·2^32 + t·N·2^64 -
/// t·2^256: limb 0 cancels; the caller takes the terms t·2^256 off. Returns the digit.
CUZK_HD std::uint32_t reduce_digit(std::uint32_t* e, std::uint32_t* o) {
  using namespace carry;
  const std::uint32_t n[6] = {fr_constants::complement_limb(0), fr_constants::complement_limb(1),
                              fr_constants::complement_limb(2), fr_constants::complement_limb(3),
                              fr_constants::complement_limb(4), fr_constants::complement_limb(5)};
  const std::uint32_t digit = e[0];
  o[0] = add_cc(o[0], digit);
  mad_row<3, true>(e + 2, n, digit);
  o[7] = addc(o[7], 0);
  mad_row<3>(o + 2, n + 1, digit);
  return digit;
}
/// (o + (e >> one limb)) - digit·2^224 + r after a single digit.
CUZK_HD Fr finish_digit(const std::uint32_t* e, const std::uint32_t* o, std::uint32_t digit) {
  using namespace carry;
  Fr d;
  d.limbs[0] = add_cc(o[0], e[1]);
  CUZK_UNROLL
  for (int i = 1; i < 7; ++i) d.limbs[i] = addc_cc(o[i], e[i + 1]);
  d.limbs[7] = addc(o[7], 0);
  d.limbs[7] -= digit;
  d.limbs[0] = add_cc(d.limbs[0], fr_constants::modulus_limb<false>(0));
  CUZK_UNROLL
  for (int i = 1; i < 7; ++i)
    d.limbs[i] = addc_cc(d.limbs[i], fr_constants::modulus_limb<false>(i));
  d.limbs[7] = addc(d.limbs[7], fr_constants::modulus_limb<false>(7));
  return d;
}

}  // namespace fr_detail

/// Montgomery product: canonical a, loose b -> a·b / 2^256, lazy. 112 wide products. One limb of b
/// a step; the two accumulators swap roles as the window moves up by a limb.
CUZK_HD Fr mul(const Fr& a, const Fr& b) {
  using namespace carry;
  std::uint32_t even[8] = {}, odd[8] = {}, digit[8];
  CUZK_UNROLL
  for (int i = 0; i < 8; ++i) {
    std::uint32_t* e = (i & 1) ? odd : even;
    std::uint32_t* o = (i & 1) ? even : odd;
    if (i > 0) {
      // o still holds the last step's lower accumulator: its limb 1 belongs to e[0], the rest moves
      // down by two limbs.
      e[0] = add_cc(e[0], o[1]);
      CUZK_UNROLL
      for (int k = 0; k < 6; ++k) o[k] = o[k + 2];
      o[6] = o[7] = 0;
      mad_row<4, true>(o, a.limbs + 1, b.limbs[i]);
    } else {
      mad_row<4>(o, a.limbs + 1, b.limbs[i]);
    }
    mad_row<4>(e, a.limbs, b.limbs[i]);
    o[7] = addc(o[7], 0);
    digit[i] = fr_detail::reduce_digit(e, o);
  }
  Fr d;
  d.limbs[0] = add_cc(even[0], odd[1]);
  CUZK_UNROLL
  for (int k = 1; k < 7; ++k) d.limbs[k] = addc_cc(even[k], odd[k + 1]);
  d.limbs[7] = addc(even[7], 0);
  d.limbs[0] = sub_cc(d.limbs[0], digit[0]);
  CUZK_UNROLL
  for (int k = 1; k < 7; ++k) d.limbs[k] = subc_cc(d.limbs[k], digit[k]);
  d.limbs[7] = subc(d.limbs[7], digit[7]);
  d.limbs[0] = add_cc(d.limbs[0], fr_constants::modulus_limb<false>(0));
  CUZK_UNROLL
  for (int k = 1; k < 7; ++k)
    d.limbs[k] = addc_cc(d.limbs[k], fr_constants::modulus_limb<false>(k));
  d.limbs[7] = addc(d.limbs[7], fr_constants::modulus_limb<false>(7));
  return d;
}

/// Loose x, k < 2^30 -> x·k / 2^32, lazy: one digit of reduction, 14 wide products. The factor
/// 2^-32 goes into a constant elsewhere.
CUZK_HD Fr mul_small(const Fr& x, std::uint32_t k) {
  using namespace carry;
  std::uint32_t e[8] = {}, o[8] = {};
  mad_row<4>(o, x.limbs + 1, k);
  mad_row<4>(e, x.limbs, k);
  o[7] = addc(o[7], 0);
  const std::uint32_t digit = fr_detail::reduce_digit(e, o);
  return fr_detail::finish_digit(e, o, digit);
}

/// x, y in [0, 2r], k + m < 2^29 -> (x·k + y·m) / 2^32, canonical. Before the digit is taken off
/// the total is below 2^30·r, so the result lies in (0, r + r/4] and one subtraction makes it
/// canonical.
CUZK_HD Fr combine_small(const Fr& x, std::uint32_t k, const Fr& y, std::uint32_t m) {
  using namespace carry;
  std::uint32_t e[8] = {}, o[8] = {};
  mad_row<4>(o, x.limbs + 1, k);
  mad_row<4>(o, y.limbs + 1, m);
  mad_row<4>(e, x.limbs, k);
  o[7] = addc(o[7], 0);
  mad_row<4>(e, y.limbs, m);
  o[7] = addc(o[7], 0);
  const std::uint32_t digit = fr_detail::reduce_digit(e, o);
  Fr d = fr_detail::finish_digit(e, o, digit);
  subtract_modulus_if_possible<false>(d);
  return d;
}

/// Loose a, b -> a·b, canonical: the product of plain integers, by two Montgomery products. For
/// tables and tests.
CUZK_HD Fr mul_plain(const Fr& a, const Fr& b) {
  return canonical(mul(Fr::montgomery_two(), mul(canonical(a), b)));
}

/// The factor of a canonical plain w. With w·2^256 = q·r + s, s = (w·2^256 mod r): q = -s / r mod
/// 2^256, a low product by the constant -1/r mod 2^256.
CUZK_HD FrFactor make_factor(const Fr& w) {
  constexpr std::uint32_t inverse[8] = {0xffffffff, 0xfffffffe, 0xfffe5bfd, 0x53ba5bff,
                                        0x0004ec06, 0x181b2c17, 0xd7bf2839, 0x3d443ab0};
  const Fr s = canonical(mul(Fr::montgomery_two(), w));
  FrFactor f{w, Fr::zero()};
  for (int i = 0; i < 8; ++i) {
    std::uint32_t carry_word = 0;
    for (int j = 0; i + j < 8; ++j) {
      const std::uint64_t t =
          std::uint64_t{s.limbs[i]} * inverse[j] + f.companion.limbs[i + j] + carry_word;
      f.companion.limbs[i + j] = static_cast<std::uint32_t>(t);
      carry_word = static_cast<std::uint32_t>(t >> 32);
    }
  }
  return f;
}

/// base^exponent, canonical; plain integers.
CUZK_HD Fr pow_plain(Fr base, std::uint64_t exponent) {
  Fr result = Fr::from_u32(1);
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = mul_plain(result, base);
    base = mul_plain(base, base);
  }
  return result;
}

/// omega of the domain of 2^log_n points, canonical and plain: 7^((r-1) / 2^log_n), log_n <= 32.
CUZK_HD Fr root_of_unity(int log_n) {
  // 7^((r-1) / 2^32)
  Fr w{{0x439f0d2b, 0x3829971f, 0x8c2280b9, 0xb6368350, 0x22c813b4, 0xd09b6819, 0xdfe81f20,
        0x16a2a19e}};
  for (int i = 32; i > log_n; --i) w = mul_plain(w, w);
  return w;
}

}  // namespace cuzk::curve::device
