#pragma once

#include "curve/device/fp.hpp"

/// Inversion in Fp by binary GCD on approximations (T. Pornin, "Optimized Binary GCD for Modular
/// Inversion", ePrint 2020/972), thirty steps at a time. Thirty steps on (top bits, low 30 bits) of
/// (a, b) give factors with
///
///   2^30·a' = ±(F0·a - G0·b),   2^30·b' = ±(G1·b - F1·a),   F, G >= 0, F + G <= 2^30,
///
/// which are then applied to the full values and, modulo p, to the cofactors (u, v). No branch
/// depends on the value, so a warp inverts 32 elements for the price of one; it stops when all its
/// values are done, after about 19 rounds. Measured on H200: 0.70 G/s over the chip, 29 us of
/// latency.
namespace cuzk::curve::device {

namespace fp_detail {

/// t = x·f - y·g, 13 limbs in two's complement. -y·g = (2^384 - 1 - y)·g + g - 2^384·g.
CUZK_HD void linear_combination(std::uint32_t* t, const std::uint32_t* x, std::uint32_t f,
                                const std::uint32_t* y, std::uint32_t g) {
  std::uint32_t even[12], odd[12], complement[12];
  CUZK_UNROLL
  for (int j = 0; j < 12; ++j) complement[j] = ~y[j];
  start(even, odd, x, f);
  mad(even, odd, complement, g);
  t[0] = carry::add_cc(even[0], g);
  CUZK_UNROLL
  for (int j = 1; j < 12; ++j) t[j] = carry::addc_cc(even[j], odd[j - 1]);
  t[12] = carry::addc(odd[11], 0);
  t[12] -= g;
}
/// t = -t where `mask` is all ones; t where it is zero. 13 limbs.
CUZK_HD void negate_if(std::uint32_t* t, std::uint32_t mask) {
  t[0] = carry::add_cc(t[0] ^ mask, mask & 1);
  CUZK_UNROLL
  for (int j = 1; j < 13; ++j) t[j] = carry::addc_cc(t[j] ^ mask, 0);
}
CUZK_HD std::uint32_t sign_mask(std::uint32_t top) { return (top >> 31) != 0 ? 0xffffffffu : 0u; }
CUZK_HD void shift_right_30(std::uint32_t* d, const std::uint32_t* t) {
  CUZK_UNROLL
  for (int j = 0; j < 12; ++j) d[j] = (t[j] >> 30) | (t[j + 1] << 2);
}
/// w = ±(x·f - y·g) / 2^30 mod p, in [0, p), for x, y in [0, p).
CUZK_HD void update_cofactor(std::uint32_t* w, const std::uint32_t* x, std::uint32_t f,
                             const std::uint32_t* y, std::uint32_t g, std::uint32_t sign) {
  using fp_constants::multiple_limb;
  std::uint32_t t[13], p[12], even[12], odd[12], s[13];
  linear_combination(t, x, f, y, g);
  const std::uint32_t m =
      (t[0] * fp_constants::kMinusInverse) & 0x3fffffffu;  // t + m·p is divisible by 2^30
  CUZK_UNROLL
  for (int j = 0; j < 12; ++j) {
    p[j] = multiple_limb<1>(j);
    even[j] = t[j];
    odd[j] = 0;
  }
  odd[11] = t[12];  // limb 12; the sum is meant modulo 2^416
  mad(even, odd, p, m);
  s[0] = even[0];
  s[1] = carry::add_cc(even[1], odd[0]);
  CUZK_UNROLL
  for (int j = 2; j < 12; ++j) s[j] = carry::addc_cc(even[j], odd[j - 1]);
  s[12] = carry::addc(odd[11], 0);
  shift_right_30(s, s);
  s[12] = (s[12] >> 30) | (sign_mask(s[12]) << 2);  // in (-p, 2p)
  negate_if(s, sign);                               // in (-2p, 2p)
  const std::uint32_t negative = sign_mask(s[12]);
  Fp d;
  d.limbs[0] = carry::add_cc(s[0], multiple_limb<2>(0) & negative);
  CUZK_UNROLL
  for (int j = 1; j < 11; ++j) d.limbs[j] = carry::addc_cc(s[j], multiple_limb<2>(j) & negative);
  d.limbs[11] = carry::addc(s[11], multiple_limb<2>(11) & negative);
  d = subtract_if_possible<1>(d);
  CUZK_UNROLL
  for (int j = 0; j < 12; ++j) w[j] = d.limbs[j];
}
CUZK_HD int leading_zeros(std::uint32_t x) {
#ifdef __CUDA_ARCH__
  return __clz(static_cast<int>(x));
#else
  return x != 0 ? __builtin_clz(x) : 32;
#endif
}
/// Whether `done` holds in every thread of the warp that is here.
CUZK_HD bool all_done(bool done) {
#ifdef __CUDA_ARCH__
  return __all_sync(__activemask(), done);
#else
  return done;
#endif
}

struct GcdFactors {
  std::uint32_t f0 = 1, g0 = 0, f1 = 0, g1 = 1;
};
/// Thirty steps on the approximations of a and b.
CUZK_HD GcdFactors thirty_steps(const std::uint32_t* a, const std::uint32_t* b) {
  std::uint32_t a_high = a[1], a_next = a[0], b_high = b[1], b_next = b[0];
  int shift = leading_zeros(a_high | b_high);
  shift = shift > 2 ? 2 : shift;
  CUZK_UNROLL
  for (int j = 2; j < 12; ++j) {
    if ((a[j] | b[j]) != 0) {
      a_high = a[j];
      a_next = a[j - 1];
      b_high = b[j];
      b_next = b[j - 1];
      shift = leading_zeros(a[j] | b[j]);
    }
  }
  const auto approximate = [shift](std::uint32_t high, std::uint32_t next, std::uint32_t low) {
    const std::uint64_t top = (std::uint64_t{high} << 32 | next) << shift;
    return top >> 32 << 30 | (low & 0x3fffffffu);
  };
  std::uint64_t s = approximate(a_high, a_next, a[0]), t = approximate(b_high, b_next, b[0]);
  GcdFactors k;
#ifdef __CUDA_ARCH__
#pragma unroll 5
#endif
  for (int step = 0; step < 30; ++step) {
    const bool odd = (s & 1) != 0, less = s < t;
    const std::uint64_t difference = s - t, distance = less ? 0 - difference : difference;
    const std::uint32_t f = k.f0, g = k.g0;
    if (odd) {
      k.f0 += k.f1;
      k.g0 += k.g1;
    }
    if (odd && less) {
      t = s;
      k.f1 = f;
      k.g1 = g;
    }
    s = odd ? distance : s;
    s >>= 1;
    k.f1 <<= 1;
    k.g1 <<= 1;
  }
  return k;
}

}  // namespace fp_detail

/// 1/x in Montgomery form (R² / x as integers), below 1.3 p, for x in [0, 8p). Zero for x = 0 mod
/// p.
CUZK_HD_CALL Fp inverse(Fp x) {
  x = canonical(x);
  std::uint32_t a[12], b[12], u[12], v[12];
  CUZK_UNROLL
  for (int j = 0; j < 12; ++j) {
    a[j] = x.limbs[j];
    b[j] = fp_constants::multiple_limb<1>(j);
    u[j] = j == 0;
    v[j] = 0;
  }
  CUZK_NO_UNROLL
  for (int round = 0; round < 26; ++round) {
    const fp_detail::GcdFactors k = fp_detail::thirty_steps(a, b);
    std::uint32_t next_a[13], next_b[13], next_u[12], next_v[12];
    fp_detail::linear_combination(next_a, a, k.f0, b, k.g0);
    fp_detail::linear_combination(next_b, b, k.g1, a, k.f1);
    const std::uint32_t sign_a = fp_detail::sign_mask(next_a[12]),
                        sign_b = fp_detail::sign_mask(next_b[12]);
    fp_detail::negate_if(next_a, sign_a);
    fp_detail::negate_if(next_b, sign_b);
    fp_detail::shift_right_30(a, next_a);
    fp_detail::shift_right_30(b, next_b);
    fp_detail::update_cofactor(next_u, u, k.f0, v, k.g0, sign_a);
    fp_detail::update_cofactor(next_v, v, k.g1, u, k.f1, sign_b);
    std::uint32_t rest = 0;
    CUZK_UNROLL
    for (int j = 0; j < 12; ++j) {
      u[j] = next_u[j];
      v[j] = next_v[j];
      rest |= a[j];
    }
    if (fp_detail::all_done(rest == 0)) break;
  }
  Fp w;
  CUZK_UNROLL
  for (int j = 0; j < 12; ++j) w.limbs[j] = v[j];
  // R³ mod p: (1/x)·R³ / R = R² / x.
  const Fp r_cubed{{0xd94ca1e0, 0xed48ac6b, 0x03a7adf8, 0x315f831e, 0x615e29dd, 0x9a53352a,
                    0x921e1761, 0x34c04e5e, 0x65724728, 0x2512d435, 0x91755d4d, 0x0aa63460}};
  return mul(w, r_cubed);
}

}  // namespace cuzk::curve::device
