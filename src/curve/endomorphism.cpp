#include "curve/endomorphism.hpp"

namespace cuzk::curve {

namespace {

constexpr Limbs<4> kHalfOrder = wide::shift_right(kFrField.modulus, 1);

// (1 + u)^-((p - 1)/divisor); `divisor` divides p - 1.
Fp2 twist_power(std::uint64_t divisor) {
  Limbs<6> exponent = kFpField.modulus;
  exponent[0] -= 1;
  std::uint64_t remainder = 0;
  exponent = wide::divide(exponent, divisor, remainder);
  const Fp2 base{Fp::one(), Fp::one()};
  Fp2 out = Fp2::one();
  for (unsigned i = wide::bit_width(exponent); i-- > 0;) {
    out = out.square();
    if ((exponent[i / 64] >> i % 64 & 1) != 0) out *= base;
  }
  return out.inverse();
}

Fp2 conjugate(const Fp2& value) { return {value.c0, -value.c1}; }

}  // namespace

AffinePoint<Fp> endomorphism(const AffinePoint<Fp>& point) {
  return {point.x * Fp::from_montgomery(kFpCubeRoot), -point.y};
}

AffinePoint<Fp2> endomorphism(const AffinePoint<Fp2>& point) {
  static const Fp2 x_factor = twist_power(3), minus_y_factor = -twist_power(2);
  return {conjugate(point.x) * x_factor, conjugate(point.y) * minus_y_factor};
}

std::array<std::int64_t, 4> digits_to_base_x(const Fr& k) {
  Limbs<4> rest = k.to_canonical();
  const bool negative = wide::less(kHalfOrder, rest);
  if (negative) {
    Limbs<4> negated = kFrField.modulus;
    wide::subtract(negated, rest);
    rest = negated;
  }
  std::array<std::int64_t, 4> out;
  for (unsigned i = 0; i < 3; ++i) {
    // The quotient has a limb less: its highest, rest[3 - i], is below X and stays as remainder.
    std::uint64_t remainder = rest[3 - i];
    for (unsigned limb = 3 - i; limb-- > 0;) {
      const unsigned __int128 part = static_cast<unsigned __int128>(remainder) << 64 | rest[limb];
      const auto quotient = static_cast<std::uint64_t>(part / kX);
      remainder = rest[limb] - quotient * kX;
      rest[limb] = quotient;
    }
    rest[3 - i] = 0;
    // remainder > X/2: the digit below zero, and one more above.
    if (remainder > kX / 2) {
      remainder -= kX;
      wide::add(rest, Limbs<4>{1});
    }
    out[i] = static_cast<std::int64_t>(remainder);
  }
  out[3] = static_cast<std::int64_t>(rest[0]);
  if (negative) {
    for (std::int64_t& digit : out) digit = -digit;
  }
  return out;
}

}  // namespace cuzk::curve
