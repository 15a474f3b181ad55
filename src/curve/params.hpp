#pragma once

#include "curve/wide.hpp"

/// The numbers of BLS12-381, all derived at compile time from the curve's parameter z and the two
/// generators of the scalar field's and the curve's definition. Host and device code read them from
/// here. [S. Bowe, "BLS12-381: New zk-SNARK Elliptic Curve Construction"; zkcrypto/bls12_381
/// src/notes/design.rs]
namespace cuzk::curve {

using wide::Limbs;

/// A prime field in Montgomery form: x is held as x·R mod m with R = 2^(64·N).
template <std::size_t N>
struct PrimeField {
  Limbs<N> modulus;                ///< m
  Limbs<N> one;                    ///< R mod m
  Limbs<N> r2;                     ///< R² mod m
  std::uint64_t negative_inverse;  ///< -m⁻¹ mod 2^64

  static constexpr PrimeField derive(const Limbs<N>& modulus) {
    PrimeField out{modulus, {1}, {}, 0};
    for (unsigned i = 0; i < 64 * N; ++i) out.one = out.add(out.one, out.one);
    out.r2 = out.one;
    for (unsigned i = 0; i < 64 * N; ++i) out.r2 = out.add(out.r2, out.r2);
    std::uint64_t inverse = 1;  // Newton: each step doubles the number of right bits
    for (int i = 0; i < 6; ++i) inverse *= 2 - modulus[0] * inverse;
    out.negative_inverse = 0 - inverse;
    return out;
  }

  constexpr Limbs<N> add(Limbs<N> a, const Limbs<N>& b) const {
    const bool carry = wide::add(a, b);
    if (carry || !wide::less(a, modulus)) wide::subtract(a, modulus);
    return a;
  }
  constexpr Limbs<N> negate(const Limbs<N>& a) const {
    Limbs<N> out = modulus;
    wide::subtract(out, a);
    return a == Limbs<N>{} ? a : out;
  }
  /// a·b/R mod m.
  constexpr Limbs<N> multiply(const Limbs<N>& a, const Limbs<N>& b) const {
    Limbs<N + 1> t{};
    for (std::size_t i = 0; i < N; ++i) {
      accumulate(t, b, a[i]);
      accumulate(t, modulus, t[0] * negative_inverse);
      for (std::size_t j = 0; j < N; ++j) t[j] = t[j + 1];
      t[N] = 0;
    }
    Limbs<N> out = wide::resize<N>(t);
    if (!wide::less(out, modulus)) wide::subtract(out, modulus);
    return out;
  }
  template <std::size_t M>
  constexpr Limbs<N> pow(const Limbs<N>& base, const Limbs<M>& exponent) const {
    Limbs<N> out = one;
    for (unsigned i = wide::bit_width(exponent); i-- > 0;) {
      out = multiply(out, out);
      if (exponent[i / 64] >> i % 64 & 1) out = multiply(out, base);
    }
    return out;
  }
  constexpr Limbs<N> from_u64(std::uint64_t value) const { return multiply({value}, r2); }

 private:
  // t += a·b; moduli leave the top bit of N limbs free, so t stays within N + 1 limbs.
  static constexpr void accumulate(Limbs<N + 1>& t, const Limbs<N>& a, std::uint64_t b) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < N; ++j) {
      const unsigned __int128 sum = static_cast<unsigned __int128>(a[j]) * b + t[j] + carry;
      t[j] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    t[N] += carry;
  }
};

namespace detail {

constexpr Limbs<4> scalar_modulus(std::uint64_t x) {
  const Limbs<2> x2 = wide::multiply(Limbs<1>{x}, Limbs<1>{x});
  Limbs<4> out = wide::multiply(x2, x2);
  wide::subtract(out, wide::resize<4>(x2));
  wide::add(out, Limbs<4>{1});
  return out;
}

constexpr Limbs<6> base_modulus(std::uint64_t x, const Limbs<4>& r) {
  const Limbs<2> square = wide::multiply(Limbs<1>{x + 1}, Limbs<1>{x + 1});
  std::uint64_t remainder = 0;
  Limbs<6> out = wide::divide(wide::multiply(square, r), 3, remainder);
  if (remainder != 0) throw "3 must divide (z - 1)²·r";
  wide::subtract(out, Limbs<6>{x});
  return out;
}

}  // namespace detail

/// The curve's parameter is z = -kX.
inline constexpr std::uint64_t kX = 0xd201000000010000;

/// Scalar field: r = z⁴ - z² + 1.
inline constexpr PrimeField<4> kFrField = PrimeField<4>::derive(detail::scalar_modulus(kX));
/// Base field: p = (z - 1)²·r/3 + z.
inline constexpr PrimeField<6> kFpField =
    PrimeField<6>::derive(detail::base_modulus(kX, kFrField.modulus));

static_assert(wide::bit_width(kFrField.modulus) == 255 && wide::bit_width(kFpField.modulus) == 381);

/// A generator of the scalar field's multiplicative group; also the shift of the coset that
/// quotients are divided on.
inline constexpr std::uint64_t kFrGenerator = 7;
/// 2^kTwoAdicity is the highest power of two that divides r - 1: the largest evaluation domain.
inline constexpr unsigned kTwoAdicity = 32;

namespace detail {
constexpr Limbs<4> scalar_modulus_minus_one() {
  Limbs<4> out = kFrField.modulus;
  out[0] -= 1;
  return out;
}
}  // namespace detail

static_assert(wide::trailing_zeros(detail::scalar_modulus_minus_one()) == kTwoAdicity);

/// A primitive 2^32-th root of unity: 7^((r-1)/2^32), Montgomery form.
inline constexpr Limbs<4> kFrRootOfUnity =
    kFrField.pow(kFrField.from_u64(kFrGenerator),
                 wide::shift_right(detail::scalar_modulus_minus_one(), kTwoAdicity));

static_assert(kFrField.pow(kFrRootOfUnity, Limbs<1>{std::uint64_t{1} << 31}) ==
                  kFrField.negate(kFrField.one),
              "the root has order 2^32 exactly");

/// A primitive cube root of unity β of Fp, Montgomery form: (x, y) -> (βx, y) multiplies G1 by -z².
/// [GLV 2001]
inline constexpr Limbs<6> kFpCubeRoot = [] {
  Limbs<6> exponent = kFpField.modulus;
  exponent[0] -= 1;
  std::uint64_t remainder = 0;
  return kFpField.pow(kFpField.from_u64(2), wide::divide(exponent, 3, remainder));
}();

static_assert(kFpCubeRoot != kFpField.one &&
              kFpField.pow(kFpCubeRoot, Limbs<1>{3}) == kFpField.one);

/// G1: y² = x³ + 4 over Fp; G2: y² = x³ + 4(1 + u) over Fp2 = Fp[u]/(u² + 1).
inline constexpr std::uint64_t kCurveB = 4;

}  // namespace cuzk::curve
