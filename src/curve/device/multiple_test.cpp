#include "curve/device/multiple.hpp"

#include "curve/device/testing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace cuzk::curve::device {
namespace {

using testing::affine;
using testing::same;

// 0, 1, small numbers, numbers next to r, λ and its small multiples, powers of two, all digits of a
// kind, and random ones; canonical, plain.
std::vector<Fr> scalars() {
  std::vector<Fr> out;
  const auto both = [&](const Fr& k) {
    out.push_back(canonical(k));
    out.push_back(canonical(sub(Fr::zero(), canonical(k))));
  };
  for (std::uint32_t k = 0; k < 20; ++k) both(Fr::from_u32(k));
  Fr lambda = Fr::zero();
  for (int i = 0; i < 4; ++i) lambda.limbs[i] = multiple_detail::lambda_limb(i);
  for (Fr k = lambda; out.size() < 60; k = canonical(add(k, lambda))) {
    both(k);
    both(canonical(add(k, Fr::from_u32(1))));
    both(canonical(sub(k, Fr::from_u32(2))));
  }
  for (unsigned bit = 3; bit < 255; bit += 12) {
    Fr power = Fr::zero();
    power.limbs[bit / 32] = 1U << (bit % 32);
    both(power);
  }
  for (const std::uint32_t pattern : {0x55555555U, 0xaaaaaaaaU, 0xffffffffU}) {
    Fr k;
    for (std::uint32_t& limb : k.limbs) limb = pattern;
    k.limbs[7] &= 0x3fffffff;
    both(k);
  }
  for (std::uint64_t seed = 0; seed < 12; ++seed) both(testing::random_fr(seed));
  return out;
}

std::vector<blst_p1> points() {
  std::vector<blst_p1> out;
  for (const std::uint32_t k : {1U, 2U, 0x12345U}) {
    const std::uint32_t limbs[8] = {k, k - 1, 0, 77 * (k - 1)};
    out.push_back(testing::multiple_of_generator(blst_p1{}, limbs));
  }
  return out;
}

// Of points with one and with other denominators.
std::vector<G1Xyzz> forms(const blst_p1& point) {
  const G1Affine a = from_blst(affine(point));
  G1Xyzz scaled = to_xyzz(a);
  const std::uint32_t limbs[8] = {99};
  const G1Affine other = from_blst(affine(testing::multiple_of_generator(blst_p1{}, limbs)));
  add_assign(scaled, other);
  add_assign(scaled, negate_if(other, true));
  return {to_xyzz(a), scaled};
}

TEST(Multiple, IsTheScalarsMultipleOfThePoint) {
  for (const blst_p1& point : points()) {
    for (const G1Xyzz& form : forms(point)) {
      for (const Fr& k : scalars()) {
        ASSERT_TRUE(same(to_blst(multiple(form, k)), testing::times(point, k.limbs)))
            << std::hex << k.limbs[7] << " ... " << k.limbs[0];
      }
    }
  }
}

// In its one form: mixed additions look at X.
TEST(Multiple, OfTheIdentityAndByZeroIsTheIdentity) {
  const auto is_exact = [](const G1Xyzz& a) {
    return is_zero_limbs(a.x) && is_zero_limbs(a.y) && is_zero_limbs(a.zz) && is_zero_limbs(a.zzz);
  };
  for (const Fr& k : scalars()) EXPECT_TRUE(is_exact(multiple(G1Xyzz::identity(), k)));
  for (const blst_p1& point : points())
    EXPECT_TRUE(is_exact(multiple(forms(point)[1], Fr::zero())));
}

// Sums of multiples stay within the ranges that additions take: a chain of them.
TEST(Multiple, GoesOnFromItsOwnResults) {
  blst_p1 expected = points()[2];
  G1Xyzz sum = forms(expected)[1];
  for (const Fr& k : scalars()) {
    if (is_zero_limbs(k)) continue;
    const G1Xyzz step = multiple(sum, k);
    expected = testing::sum(expected, testing::times(expected, k.limbs));
    add_assign(sum, step);
    ASSERT_TRUE(same(to_blst(sum), expected));
    if (is_identity(sum)) {
      expected = points()[1];
      sum = forms(expected)[0];
    }
  }
}

TEST(Multiple, ConstantsAreWhatTheySay) {
  using namespace multiple_detail;
  // β: a cube root of one whose square is -1 - β.
  EXPECT_TRUE(is_zero(add(add(beta(), beta_squared()), Fp::one())));
  EXPECT_TRUE(is_zero(sub<2>(mul(beta(), beta()), beta_squared())));
  // λ = z² - 1 for z = 0xd201000000010000, where λ² + λ + 1 = r.
  const unsigned __int128 z = 0xd201000000010000, lambda = z * z - 1;
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(lambda_limb(i), static_cast<std::uint32_t>(lambda >> (32 * i)));
  // λ is β's: the other root, λ², would do for no scalar but those that are small.
  Fr k = Fr::zero();
  for (int i = 0; i < 4; ++i) k.limbs[i] = lambda_limb(i);
  const blst_p1 point = points()[2];
  const G1Affine a = from_blst(affine(point));
  const G1Affine image{mul(a.x, beta()), a.y};
  EXPECT_TRUE(same(to_blst(to_xyzz(image)), testing::times(point, k.limbs)));
}

// Every class has a digit with its residue; the digits give back the number.
TEST(Multiple, DigitsAddUpToTheHalves) {
  using namespace multiple_detail;
  constexpr int bases[3][2] = {{1, 0}, {1, -1}, {2, 0}};
  const auto digit = [&](unsigned c) -> std::array<__int128, 2> {
    const auto entry = static_cast<unsigned>(kClasses.entries >> (4 * c) & 15);
    if (entry == Classes::kNone) return {0, 0};
    __int128 x = bases[entry / 3][0], y = bases[entry / 3][1];
    for (unsigned power = 0; power < entry % 3; ++power) {
      const __int128 old = x;
      x = -y;
      y = old - y;
    }
    const int sign = (kClasses.negative >> c & 1) != 0 ? -1 : 1;
    return {sign * x, sign * y};
  };
  for (unsigned c = 1; c < 16; ++c) {
    const auto [x, y] = digit(c);
    EXPECT_EQ(x & 3, c & 3);
    EXPECT_EQ(y & 3, c >> 2);
  }
  for (const Fr& k : scalars()) {
    const Halves parts = halves(k);
    unsigned __int128 low = 0, high = 0, sum_low = 0, sum_high = 0;
    for (int i = 3; i >= 0; --i) {
      low = low << 32 | parts.low[i];
      high = high << 32 | parts.high[i];
    }
    const Digits code = digits(k);
    for (int i = kDigits - 1; i >= 0; --i) {
      const auto [x, y] = digit(code.words[i / 8] >> (4 * (i % 8)) & 15);
      sum_low = sum_low * 4 + static_cast<unsigned __int128>(x);
      sum_high = sum_high * 4 + static_cast<unsigned __int128>(y);
    }
    EXPECT_TRUE(sum_low == low && sum_high == high);
  }
}

}  // namespace
}  // namespace cuzk::curve::device
