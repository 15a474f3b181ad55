#include "curve/batch_invert.hpp"
#include "curve/fp2.hpp"
#include "curve/fr.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

// The laws of all fields of this layer, on edge values first.
namespace cuzk::curve {
namespace {

template <class F>
struct Elements;

template <std::size_t N>
Limbs<N> minus(Limbs<N> a, std::uint64_t b) {
  wide::subtract(a, Limbs<N>{b});
  return a;
}

template <class F, std::size_t N>
std::vector<F> prime_field_elements(const PrimeField<N>& field, std::uint64_t seed) {
  // Montgomery limbs: 0, 1 and 2 as limbs, the forms of 1 and R, m - 1 and m - 2 as limbs, all ones
  // below m.
  Limbs<N> ones;
  ones.fill(~std::uint64_t{0});
  ones[N - 1] = field.modulus[N - 1] - 1;
  std::vector<F> out;
  for (const Limbs<N>& limbs :
       {Limbs<N>{}, Limbs<N>{1}, Limbs<N>{2}, field.one, field.r2, field.negate(field.one),
        minus(field.modulus, 1), minus(field.modulus, 2), ones}) {
    out.push_back(F::from_montgomery(limbs));
  }
  std::mt19937_64 random(seed);
  for (int i = 0; i < 12; ++i) {
    Limbs<N> limbs;
    for (auto& limb : limbs) limb = random();
    limbs[N - 1] %= field.modulus[N - 1];
    out.push_back(F::from_montgomery(limbs));
  }
  return out;
}

template <>
struct Elements<Fr> {
  static std::vector<Fr> make() { return prime_field_elements<Fr>(kFrField, 1); }
};
template <>
struct Elements<Fp> {
  static std::vector<Fp> make() { return prime_field_elements<Fp>(kFpField, 2); }
};
template <>
struct Elements<Fp2> {
  static std::vector<Fp2> make() {
    const std::vector<Fp> parts = Elements<Fp>::make();
    std::vector<Fp2> out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      out.push_back({parts[i], Fp::zero()});
      out.push_back({parts[i], parts[(7 * i + 3) % parts.size()]});
    }
    return out;
  }
};

template <class F>
class Field : public ::testing::Test {};
using Fields = ::testing::Types<Fr, Fp, Fp2>;
TYPED_TEST_SUITE(Field, Fields);

TYPED_TEST(Field, IsAField) {
  using F = TypeParam;
  const std::vector<F> elements = Elements<F>::make();
  for (const F& a : elements) {
    EXPECT_EQ(a + F::zero(), a);
    EXPECT_EQ(a * F::one(), a);
    EXPECT_EQ(a - a, F::zero());
    EXPECT_EQ(a + -a, F::zero());
    EXPECT_EQ(a.square(), a * a);
    EXPECT_EQ(a.doubled(), a + a);
    EXPECT_EQ(a.is_zero(), a == F::zero());
    EXPECT_EQ(a * a.inverse(), a.is_zero() ? F::zero() : F::one());
    for (const F& b : elements) {
      EXPECT_EQ(a + b, b + a);
      EXPECT_EQ(a * b, b * a);
      EXPECT_EQ(a - b, a + -b);
      for (std::size_t i = 0; i < elements.size(); i += 5) {
        const F& c = elements[i];
        EXPECT_EQ((a + b) + c, a + (b + c));
        EXPECT_EQ((a * b) * c, a * (b * c));
        EXPECT_EQ(a * (b + c), a * b + a * c);
      }
    }
  }
}

TYPED_TEST(Field, BatchInversionSkipsZeros) {
  using F = TypeParam;
  const std::vector<F> elements = Elements<F>::make();
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, elements.size()}) {
    std::vector<F> inverses(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(n));
    invert_all(std::span(inverses));
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(inverses[i], elements[i].inverse());
  }
}

TEST(Fp2, IsFpWithARootOfMinusOne) {
  const Fp2 u = {Fp::zero(), Fp::one()};
  EXPECT_EQ(u.square(), (Fp2{-Fp::one(), Fp::zero()}));
}

TEST(Fr, BytesAreCanonicalOrRefused) {
  const base::Bytes32 zero{};
  EXPECT_EQ(Fr::from_bytes_le(zero), Fr::zero());
  base::Bytes32 modulus;
  for (std::size_t i = 0; i < 32; ++i)
    modulus[i] = static_cast<std::uint8_t>(kFrField.modulus[i / 8] >> 8 * (i % 8));
  EXPECT_FALSE(Fr::from_bytes_le(modulus).has_value());
  EXPECT_EQ(Fr::from_bytes_le_reduced(modulus), Fr::zero());
  modulus[0] -= 1;
  EXPECT_EQ(Fr::from_bytes_le(modulus), -Fr::one());
  EXPECT_EQ((-Fr::one()).to_bytes_le(), modulus);
  base::Bytes32 ones;
  ones.fill(0xff);
  EXPECT_FALSE(Fr::from_bytes_le(ones).has_value());
  EXPECT_EQ(Fr::from_bytes_le_reduced(ones), Fr::power_of_two(256) - Fr::one());
}

TEST(Fr, PowersAndIntegers) {
  EXPECT_EQ(Fr::from_u64(3).pow(5), Fr::from_u64(243));
  EXPECT_EQ(Fr::from_u64(3).pow(0), Fr::one());
  for (const unsigned exponent : {0U, 63U, 64U, 253U, 254U, 255U, 300U}) {
    Fr expected = Fr::one();
    for (unsigned i = 0; i < exponent; ++i) expected = expected.doubled();
    EXPECT_EQ(Fr::power_of_two(exponent), expected) << exponent;
  }
  EXPECT_EQ(Fr::from_u64(~std::uint64_t{0}).to_canonical(), (Limbs<4>{~std::uint64_t{0}}));
}

}  // namespace
}  // namespace cuzk::curve
