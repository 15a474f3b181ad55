#include "curve/device/fr.hpp"

#include "curve/device/fr_mul.hpp"
#include "curve/device/testing.hpp"
#include "curve/fr.hpp"
#include "curve/params.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace cuzk::curve::device {
namespace {

using testing::loose_fr_values;

// The residue of a loose value, as the host's field knows it.
curve::Fr residue(const Fr& x) {
  base::Bytes32 bytes;
  std::memcpy(bytes.data(), x.limbs, 32);
  return curve::Fr::from_bytes_le_reduced(bytes);
}
bool at_most(const Fr& x, const Fr& bound) {
  for (int i = 7; i >= 0; --i) {
    if (x.limbs[i] != bound.limbs[i]) return x.limbs[i] < bound.limbs[i];
  }
  return true;
}
Fr modulus(bool twice, std::uint32_t minus) {
  Fr d;
  for (int i = 0; i < 8; ++i) {
    d.limbs[i] = twice ? fr_constants::modulus_limb<true>(i) : fr_constants::modulus_limb<false>(i);
  }
  d.limbs[0] -= minus;  // limb 0 is 1 or 2
  return d;
}
bool is_lazy(const Fr& x) { return at_most(x, modulus(true, 1)); }
bool is_canonical(const Fr& x) { return at_most(x, modulus(false, 1)); }

// Host and device have the same numbers: those of curve/params.hpp, which follow from the curve's
// parameter.
constexpr bool fr_modulus_is_the_curves() {
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t word = kFrField.modulus[static_cast<std::size_t>(i / 2)];
    if (fr_constants::modulus_limb<false>(i) != static_cast<std::uint32_t>(word >> (32 * (i % 2))))
      return false;
  }
  return true;
}
static_assert(fr_modulus_is_the_curves());

TEST(DeviceFr, ConstantsFollowFromTheModulus) {
  EXPECT_EQ(std::memcmp(Fr::montgomery_one().limbs, kFrField.one.data(), 32), 0);
  EXPECT_EQ(std::memcmp(Fr::montgomery_two().limbs, kFrField.r2.data(), 32), 0);
  std::uint64_t carry = 0;
  for (int i = 0; i < 8; ++i) {
    carry += 2 * std::uint64_t{fr_constants::modulus_limb<false>(i)};
    EXPECT_EQ(fr_constants::modulus_limb<true>(i), static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  // 2^256 - r = 2^32 - 1 + 2^64·N, so r + that is 2^256: all limbs cancel.
  const std::uint32_t n[8] = {0xffffffff,
                              0,
                              fr_constants::complement_limb(0),
                              fr_constants::complement_limb(1),
                              fr_constants::complement_limb(2),
                              fr_constants::complement_limb(3),
                              fr_constants::complement_limb(4),
                              fr_constants::complement_limb(5)};
  carry = 0;
  for (int i = 0; i < 8; ++i) {
    carry += std::uint64_t{fr_constants::modulus_limb<false>(i)} + n[i];
    EXPECT_EQ(static_cast<std::uint32_t>(carry), 0u) << i;
    carry >>= 32;
  }
  EXPECT_EQ(carry, 1u);
  EXPECT_EQ(residue(Fr::montgomery_one()), curve::Fr::power_of_two(256));
  EXPECT_EQ(residue(Fr::montgomery_two()), curve::Fr::power_of_two(512));
  EXPECT_TRUE(is_canonical(Fr::montgomery_one()) && is_canonical(Fr::montgomery_two()));
}

TEST(DeviceFr, MontgomeryFormHasTheHostsBytes) {
  for (const Fr& x : loose_fr_values(20)) {
    const curve::Fr host = residue(x);
    const Fr form = canonical(mul(Fr::montgomery_two(), x));
    EXPECT_EQ(std::memcmp(form.limbs, host.limbs(), 32), 0);
  }
}

TEST(DeviceFr, CanonicalKeepsTheResidue) {
  for (const Fr& x : loose_fr_values(300)) {
    EXPECT_TRUE(is_canonical(canonical(x)));
    EXPECT_EQ(residue(canonical(x)), residue(x));
  }
}

TEST(DeviceFr, SumsAndProductsAgreeWithTheHost) {
  const curve::Fr one_over_r = curve::Fr::power_of_two(256).inverse();
  const std::vector<Fr> values = loose_fr_values(90);
  int lazy_pairs = 0;
  for (const Fr& a : values) {
    const Fr ca = canonical(a);
    const FrFactor factor = make_factor(ca);
    for (const Fr& b : values) {
      const curve::Fr ra = residue(a), rb = residue(b);
      const Fr product = mul_by(b, factor);
      ASSERT_TRUE(is_lazy(product));
      ASSERT_EQ(residue(product), ra * rb);
      const Fr montgomery = mul(ca, b);
      ASSERT_TRUE(is_lazy(montgomery));
      ASSERT_EQ(residue(montgomery), ra * rb * one_over_r);
      ASSERT_EQ(residue(mul_plain(a, b)), ra * rb);
      ASSERT_TRUE(is_canonical(mul_plain(a, b)));
      if (!is_lazy(a) || !is_lazy(b)) continue;
      ++lazy_pairs;
      ASSERT_TRUE(is_lazy(add(a, b)) && is_lazy(sub(a, b)));
      ASSERT_EQ(residue(add(a, b)), ra + rb);
      ASSERT_EQ(residue(sub(a, b)), ra - rb);
    }
  }
  EXPECT_GT(lazy_pairs, 1000);
}

TEST(DeviceFr, FactorCompanionIsTheExactQuotient) {
  // companion·r <= w·2^256 < (companion + 1)·r, seen modulo 2^256: w·2^256 - companion·r is the
  // remainder, below r.
  for (const Fr& x : loose_fr_values(60)) {
    const FrFactor f = make_factor(canonical(x));
    std::uint32_t remainder[8] = {};
    for (int i = 0; i < 8; ++i) {
      std::uint64_t carry = 0;
      for (int j = 0; i + j < 8; ++j) {
        carry += std::uint64_t{f.companion.limbs[i]} * fr_constants::modulus_limb<false>(j) +
                 remainder[i + j];
        remainder[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    Fr negative;  // -companion·r mod 2^256
    std::uint64_t borrow = 0;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t t = std::uint64_t{0} - remainder[i] - borrow;
      negative.limbs[i] = static_cast<std::uint32_t>(t);
      borrow = t >> 63;
    }
    EXPECT_TRUE(is_canonical(negative));
    EXPECT_EQ(residue(negative), residue(x) * curve::Fr::power_of_two(256));
  }
}

TEST(DeviceFr, SmallFactors) {
  const curve::Fr shift = curve::Fr::power_of_two(32).inverse();
  const std::vector<Fr> values = loose_fr_values(60);
  for (const Fr& x : values) {
    for (const std::uint32_t k : {0u, 1u, 2u, 12345u, 0x7ffffffu, 0x3fffffffu}) {
      const Fr product = mul_small(x, k);
      ASSERT_TRUE(is_lazy(product));
      ASSERT_EQ(residue(product), residue(x) * curve::Fr::from_u64(k) * shift);
    }
    if (!at_most(x, modulus(true, 0))) continue;
    for (const Fr& y : values) {
      if (!at_most(y, modulus(true, 0))) continue;
      for (const std::uint32_t k : {0u, 1u, 127u, 0xfffffffu}) {
        for (const std::uint32_t m : {0u, 3u, 0xfffffffu}) {
          const Fr combined = combine_small(x, k, y, m);
          ASSERT_TRUE(is_canonical(combined));
          ASSERT_EQ(
              residue(combined),
              (residue(x) * curve::Fr::from_u64(k) + residue(y) * curve::Fr::from_u64(m)) * shift);
        }
      }
    }
  }
}

TEST(DeviceFr, NegationAndSmallIntegers) {
  for (const Fr& x : loose_fr_values(60)) {
    if (!at_most(x, modulus(true, 0))) continue;
    EXPECT_EQ(residue(negate_if(x, true)), -residue(x));
    EXPECT_TRUE(equal(negate_if(x, false), x));
    EXPECT_TRUE(at_most(negate_if(x, true), modulus(true, 0)));
  }
  for (const int value : {0, 1, 2, 127, 2147483647, -1, -2, -3, -128, -2147483647}) {
    const Fr x = fr_from_small(value);
    EXPECT_TRUE(is_canonical(x)) << value;
    const curve::Fr magnitude =
        curve::Fr::from_u64(static_cast<std::uint64_t>(value < 0 ? -std::int64_t{value} : value));
    EXPECT_EQ(residue(x), value < 0 ? -magnitude : magnitude) << value;
  }
}

TEST(DeviceFr, RootsHaveTheirOrder) {
  // 7 generates the multiplicative group: (7^((r-1)/2^32))^(2^31) = -1.
  EXPECT_EQ(residue(pow_plain(root_of_unity(32), std::uint64_t{1} << 31)), -curve::Fr::one());
  for (int log_n = 1; log_n <= 32; ++log_n) {
    EXPECT_EQ(residue(pow_plain(root_of_unity(log_n), std::uint64_t{1} << (log_n - 1))),
              -curve::Fr::one())
        << log_n;
  }
  EXPECT_EQ(residue(root_of_unity(0)), curve::Fr::one());
  const Fr montgomery = canonical(mul(Fr::montgomery_two(), root_of_unity(32)));
  EXPECT_EQ(std::memcmp(montgomery.limbs, kFrRootOfUnity.data(), 32), 0);
}

}  // namespace
}  // namespace cuzk::curve::device
