#include "curve/endomorphism.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cuzk::curve {
namespace {

const Fr kBase = Fr::from_u64(kX);

// Edges and random scalars.
std::vector<Fr> scalars() {
  const Fr half = Fr::from_u64(2).inverse();
  std::vector<Fr> out = {Fr::zero(),
                         Fr::one(),
                         -Fr::one(),
                         half,
                         half - Fr::one(),
                         Fr::from_u64(kX / 2),
                         Fr::from_u64(kX / 2 + 1),
                         Fr::power_of_two(254)};
  for (Fr power = kBase; out.size() < 20; power *= kBase) {
    for (const Fr& edge : {power, power - Fr::one(), -power}) out.push_back(edge);
  }
  for (unsigned i = 0; i < 255; i += 6) out.push_back(Fr::power_of_two(i) - Fr::one());
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    Fr value = Fr::from_u64(random());
    for (int limb = 0; limb < 3; ++limb)
      value = value * Fr::power_of_two(64) + Fr::from_u64(random());
    out.push_back(value);
  }
  return out;
}

Fr signed_fr(std::int64_t value) {
  const Fr magnitude = Fr::from_u64(value < 0 ? 0 - static_cast<std::uint64_t>(value)
                                              : static_cast<std::uint64_t>(value));
  return value < 0 ? -magnitude : magnitude;
}

TEST(DigitsToBaseX, AddUpAndAreSmall) {
  for (const Fr& scalar : scalars()) {
    const std::array<std::int64_t, 4> digits = digits_to_base_x(scalar);
    Fr sum = Fr::zero();
    for (unsigned i = 4; i-- > 0;) {
      sum = sum * kBase + signed_fr(digits[i]);
      EXPECT_LE(digits[i], static_cast<std::int64_t>(kX / 2));
      EXPECT_GE(digits[i], -static_cast<std::int64_t>(kX / 2));
    }
    EXPECT_EQ(sum, scalar);
  }
  EXPECT_EQ(digits_to_base_x(Fr::one()), (std::array<std::int64_t, 4>{1, 0, 0, 0}));
  EXPECT_EQ(digits_to_base_x(-kBase), (std::array<std::int64_t, 4>{0, -1, 0, 0}));
}

template <class F>
class Endomorphisms : public ::testing::Test {};
using Groups = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(Endomorphisms, Groups);

TYPED_TEST(Endomorphisms, MultiplyByAPowerOfX) {
  using F = TypeParam;
  Fr multiplier = Fr::one();
  for (unsigned i = 0; i < 4 / kScalarParts<F>; ++i) multiplier *= kBase;
  for (const Fr& scalar : scalars()) {
    const AffinePoint<F> point = (AffinePoint<F>::generator() * scalar).to_affine();
    const AffinePoint<F> image = endomorphism(point);
    EXPECT_TRUE(image.is_on_curve());
    EXPECT_EQ(image, (point * multiplier).to_affine());
  }
  EXPECT_TRUE(endomorphism(AffinePoint<F>::identity()).is_identity());
}

}  // namespace
}  // namespace cuzk::curve
