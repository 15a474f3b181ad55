#pragma once

#include "curve/device/fr.hpp"
#include "curve/device/group.hpp"

#include <cstdint>
#include <type_traits>

/// Multiples of points of G1, with the endomorphism φ(x, y) = (βx, y) = λ·(x, y), λ = z² - 1, λ² +
/// λ + 1 = 0 mod r (z: BLS12-381's parameter). [Gallant, Lambert, Vanstone 2001]
///
/// A scalar is k = k1 + k2·λ with k1, k2 < 2^128, and k1 + k2·ω, ω² + ω + 1 = 0, is an Eisenstein
/// integer. Its digits to base 4 are 0, the six units ±1, ±ω, ±ω², and the units' multiples by 1 -
/// ω and by 2: 16 digits for 16 residues, and multiplying a point by a unit costs at most a
/// negation once βx and β²x are known. So a multiple takes 128 doublings, 64 additions, and a table
/// of three points, P, P - φP and 2P.
namespace cuzk::curve::device {

namespace multiple_detail {

/// β and β² = -1 - β, Montgomery form (multiple_test.cpp derives them).
CUZK_HD Fp beta() {
  return Fp{{0x8671f071, 0xcd03c9e4, 0x1fcda5d2, 0x5dab2246, 0xd3851b95, 0x587042af, 0x01bacb9e,
             0x8eb60ebe, 0x83d050d2, 0x03f97d6e, 0x54638741, 0x18f02065}};
}
CUZK_HD Fp beta_squared() {
  return Fp{{0x798a64e8, 0x30f1361b, 0x7ece5a2a, 0xf3b8ddab, 0xc61577f7, 0x16a8ca3a, 0x74fd029b,
             0xc26a2ff8, 0x60701c6e, 0x3636b766, 0x241b6160, 0x051ba4ab}};
}
/// Limb i of λ, i < 4.
CUZK_HD constexpr std::uint32_t lambda_limb(int i) {
  constexpr std::uint32_t limbs[4] = {0xffffffff, 0, 0x1a402, 0xac45a401};
  return limbs[i];
}

inline constexpr int kTablePoints = 3;
/// Base-4 digits of numbers below 2^128, with the last carry.
inline constexpr int kDigits = 65;

/// What the residue (a + bω) mod 4, class c = a | b << 2, means. Field c of each number:
struct Classes {
  std::uint64_t entries = 0;  ///< 4 bits: 3·point + power of ω, or kNone
  std::uint32_t negative = 0;
  std::uint32_t carry_a = 0, carry_b = 0;  ///< (residue - digit) / 4

  static constexpr unsigned kNone = 15;
};

constexpr Classes make_classes() {
  Classes out;
  constexpr int bases[kTablePoints][2] = {{1, 0}, {1, -1}, {2, 0}};
  for (unsigned c = 0; c < 16; ++c) {
    const int a = static_cast<int>(c & 3), b = static_cast<int>(c >> 2);
    unsigned found = Classes::kNone;
    for (unsigned entry = 0; entry < 9 && c != 0 && found == Classes::kNone; ++entry) {
      int x = bases[entry / 3][0], y = bases[entry / 3][1];
      for (unsigned power = 0; power < entry % 3; ++power) {
        const int old = x;  // (x + yω)ω = -y + (x - y)ω
        x = -y;
        y = old - y;
      }
      for (int sign = 1; sign >= -1; sign -= 2) {
        const int da = a - sign * x, db = b - sign * y;
        if (da % 4 != 0 || db % 4 != 0 || found != Classes::kNone) continue;
        found = entry;
        out.negative |= (sign < 0 ? 1U : 0U) << c;
        out.carry_a |= static_cast<std::uint32_t>(da / 4) << c;
        out.carry_b |= static_cast<std::uint32_t>(db / 4) << c;
      }
    }
    out.entries |= std::uint64_t{found} << (4 * c);
  }
  return out;
}
inline constexpr Classes kClasses = make_classes();

/// k1 and k2 of k = k1 + k2·λ.
struct Halves {
  std::uint32_t low[4], high[4];
};

/// Long division, a bit at a time: a hundredth of what the multiple costs. `k` is canonical and
/// plain.
CUZK_HD Halves halves(const Fr& k) {
  using namespace carry;
  // The remainder has up to 129 bits; k / 2^128 is below λ.
  std::uint32_t rest[5] = {k.limbs[4], k.limbs[5], k.limbs[6], k.limbs[7], 0};
  std::uint32_t low[4] = {k.limbs[0], k.limbs[1], k.limbs[2], k.limbs[3]};
  std::uint32_t quotient[4] = {0, 0, 0, 0};
  CUZK_NO_UNROLL
  for (int bit = 0; bit < 128; ++bit) {
    CUZK_UNROLL
    for (int i = 4; i > 0; --i) rest[i] = rest[i] << 1 | rest[i - 1] >> 31;
    rest[0] = rest[0] << 1 | low[3] >> 31;
    CUZK_UNROLL
    for (int i = 3; i > 0; --i) {
      low[i] = low[i] << 1 | low[i - 1] >> 31;
      quotient[i] = quotient[i] << 1 | quotient[i - 1] >> 31;
    }
    low[0] <<= 1;
    quotient[0] <<= 1;
    std::uint32_t less[5];
    less[0] = sub_cc(rest[0], lambda_limb(0));
    CUZK_UNROLL
    for (int i = 1; i < 4; ++i) less[i] = subc_cc(rest[i], lambda_limb(i));
    less[4] = subc_cc(rest[4], 0);
    const std::uint32_t borrow = subc(0, 0);
    CUZK_UNROLL
    for (int i = 0; i < 5; ++i) rest[i] = borrow != 0 ? rest[i] : less[i];
    quotient[0] |= borrow != 0 ? 0 : 1;
  }
  Halves out;
  CUZK_UNROLL
  for (int i = 0; i < 4; ++i) {
    out.low[i] = rest[i];
    out.high[i] = quotient[i];
  }
  return out;
}

/// The digits' classes, 8 a word, lowest first.
struct Digits {
  std::uint32_t words[(kDigits + 7) / 8];
};
CUZK_HD Digits digits(const Fr& k) {
  Halves rest = halves(k);
  Digits out;
  std::uint32_t carry_a = 0, carry_b = 0;
  CUZK_UNROLL
  for (int w = 0; w < (kDigits + 7) / 8; ++w) {
    std::uint32_t word = 0;
    CUZK_NO_UNROLL
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t a = (rest.low[0] & 3) + carry_a, b = (rest.high[0] & 3) + carry_b;
      const std::uint32_t c = (a & 3) | (b & 3) << 2;
      carry_a = (a >> 2) + (kClasses.carry_a >> c & 1);
      carry_b = (b >> 2) + (kClasses.carry_b >> c & 1);
      word |= c << (4 * i);
      CUZK_UNROLL
      for (int j = 0; j < 3; ++j) {
        rest.low[j] = rest.low[j] >> 2 | rest.low[j + 1] << 30;
        rest.high[j] = rest.high[j] >> 2 | rest.high[j + 1] << 30;
      }
      rest.low[3] >>= 2;
      rest.high[3] >>= 2;
    }
    out.words[w] = word;
  }
  return out;
}

/// x = X/Z², y = Y/Z³, X, Y, Z < 2p; the identity has only zero limbs in Z.
struct Jacobian {
  Fp x, y, z;
};

/// 2a: 3 squares, 5 products of which two share a reduction. B = Y² < 1.41p, V = 4B < 5.7p, S = X·V
/// < 2.2p, M = 3X² < 4.3p, X3 = M² - 2S + 5p < 7.9p, Y3 = M·(S - X3) - 2B·V < (4.3·4.2 + 3·5.7) /
/// 9.84 + 1 < 4.6p, Z3 = 2Y·Z < 1.9p. The identity stays one.
CUZK_HD Jacobian doubled(const Jacobian& a) {
  const Fp b = square(a.y), two_b = add(b, b), v = add(two_b, two_b);
  const Fp s = mul(a.x, v), xx = square(a.x), m = add(xx, add(xx, xx));
  Jacobian d;
  d.x = reduce_to_2p(sub<5>(square(m), add(s, s)));
  d.y = reduce_to_2p(mul_sub<3>(m, sub<2>(s, d.x), two_b, v));
  d.z = mul(add(a.y, a.y), a.z);
  return d;
}

/// a + b where the x-coordinates may be the same: a = ±b or one of them the identity.
CUZK_HD_CALL Jacobian add_special(const Jacobian& a, const G1Affine& b, bool same_x, bool same_y) {
  if (is_zero_limbs(a.z)) return {b.x, b.y, Fp::one()};
  if (same_x && same_y) return doubled(a);
  return {Fp::one(), Fp::one(), Fp::zero()};
}

/// a + b, b not the identity: 3 squares, 8 products of which two share a reduction. p < 3.3p, r <
/// 3.3p, PP < 2.1p, PPP < 1.8p, Q < 1.5p, X3 = r² - PPP - 2Q + 5p < 7.1p, Y3 < 2.5p, Z3 < 1.7p.
CUZK_HD Jacobian added(const Jacobian& a, const G1Affine& b) {
  const Fp zz = square(a.z), p = sub<2>(mul(b.x, zz), a.x);
  const Fp r = sub<2>(mul(b.y, mul(a.z, zz)), a.y);
  const bool suspect = is_zero_limbs(a.z) || may_be_zero(p);
  if (suspect) {
    const bool same_x = is_zero(p);
    if (is_zero_limbs(a.z) || same_x) return add_special(a, b, same_x, is_zero(r));
  }
  const Fp pp = square(p), ppp = mul(p, pp), q = mul(a.x, pp);
  Jacobian d;
  d.x = reduce_to_2p(sub<5>(square(r), add(ppp, add(q, q))));
  d.y = subtract_if_possible<2>(mul_sub<2>(r, sub<2>(q, d.x), a.y, ppp));
  d.z = mul(a.z, p);
  return d;
}

}  // namespace multiple_detail

/// k·a, for a of order r or the identity; `k` is canonical and plain. A call on the device: about
/// 128 doublings and 64 additions.
///
/// With a = (X, Y, ZZ, ZZZ), (X, Y) is an affine point of an isomorphic curve, and so, with other
/// scales, are the points of the table once they have one denominator: additions are mixed ones.
template <class F>
CUZK_HD_CALL_TEMPLATE Xyzz<F> multiple(const Xyzz<F>& a, const Fr& k) {
  static_assert(std::is_same_v<F, Fp>, "β and λ are those of G1");
  using namespace multiple_detail;
  const Digits code = digits(k);
  // P, D = P - φP, T = 2P over one denominator (βX - X)·2Y: D's is βX - X, T's 2Y.
  Fp x[3 * kTablePoints], y[kTablePoints], scale, scale_squared;
  {
    const Fp ay = subtract_if_possible<2>(a.y), two_y = add(ay, ay);  // < 4p
    const Fp dx = sub<2>(mul(a.x, beta()), a.x);                      // < 3.3p
    const Fp dxdx = square(dx), yy4 = square(two_y);                  // < 2.2p, 2.7p
    scale = mul(dx, two_y);
    scale_squared = square(scale);
    x[0] = mul(a.x, scale_squared);
    y[0] = mul(ay, mul(scale, scale_squared));
    // D = (X, Y) + (βX, -Y): X_D = 4Y² - (X + βX)·dx² = 4Y² + β²X·dx², Y_D = -2Y·(X·dx² - X_D) -
    // Y·dx³, Z_D = dx.
    const Fp x_d = reduce_to_2p(mul_add(a.x, mul(dxdx, beta_squared()), two_y, two_y));
    const Fp x_dxdx = mul(a.x, dxdx), y_dx3 = mul(ay, mul(dx, dxdx));
    const Fp y_d = sub<2>(mul(neg<4>(two_y), sub<2>(x_dxdx, x_d)), y_dx3);
    x[3] = mul(x_d, yy4);
    y[1] = mul(y_d, mul(two_y, yy4));
    // T: M = 3X², S = X·4Y², X_T = M² - 2S, Y_T = M·(S - X_T) - 8Y⁴, Z_T = 2Y.
    const Fp xx = square(a.x), m = add(xx, add(xx, xx)), s = mul(a.x, yy4);
    const Fp x_t = reduce_to_2p(sub<4>(square(m), add(s, s)));
    const Fp half = mul(ay, two_y);  // 2Y²
    const Fp y_t = mul_sub<2>(m, sub<2>(s, x_t), half, yy4);
    x[6] = mul(x_t, dxdx);
    y[2] = mul(y_t, mul(dx, dxdx));
  }
  CUZK_UNROLL
  for (int i = 0; i < kTablePoints; ++i) {
    x[3 * i + 1] = mul(x[3 * i], beta());
    x[3 * i + 2] = mul(x[3 * i], beta_squared());
  }

  Jacobian sum{Fp::one(), Fp::one(), Fp::zero()};
  CUZK_NO_UNROLL
  for (int i = kDigits - 1; i >= 0; --i) {
    // In a loop: unrolled, the code of a digit outgrows the instruction cache.
    CUZK_NO_UNROLL
    for (int twice = 0; twice < 2; ++twice) sum = doubled(sum);
    const unsigned c = code.words[i / 8] >> (4 * (i % 8)) & 15;
    const auto entry = static_cast<unsigned>(kClasses.entries >> (4 * c) & 15);
    if (entry == Classes::kNone) continue;
    const G1Affine point{x[entry], y[entry / 3]};
    sum = added(sum, negate_if(point, (kClasses.negative >> c & 1) != 0));
  }
  const Fp zz = square(sum.z), zzz = mul(sum.z, zz);
  const Xyzz<F> d{sum.x, sum.y, mul(zz, mul(scale_squared, a.zz)),
                  mul(zzz, mul(mul(scale, scale_squared), a.zzz))};
  return select(is_identity(d), Xyzz<F>::identity(), d);
}

}  // namespace cuzk::curve::device
