#include "curve/device/fp.hpp"

#include "curve/device/fp2.hpp"
#include "curve/device/fp_inverse.hpp"
#include "curve/device/testing.hpp"
#include "curve/params.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace cuzk::curve::device {
namespace {

using testing::from_blst;
using testing::lazy_fp_values;
using testing::to_blst;

blst_fp product(const blst_fp& a, const blst_fp& b) {
  blst_fp d;
  blst_fp_mul(&d, &a, &b);
  return d;
}
blst_fp sum(const blst_fp& a, const blst_fp& b) {
  blst_fp d;
  blst_fp_add(&d, &a, &b);
  return d;
}
blst_fp difference(const blst_fp& a, const blst_fp& b) {
  blst_fp d;
  blst_fp_sub(&d, &a, &b);
  return d;
}
bool same(const blst_fp& a, const blst_fp& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

// a < k·p, by subtracting.
bool below_multiple(const Fp& a, int k) {
  Fp bound = Fp::zero(), p;
  for (int i = 0; i < 12; ++i) p.limbs[i] = fp_constants::multiple_limb<1>(i);
  for (int i = 0; i < k; ++i) bound = add(bound, p);
  for (int i = 11; i >= 0; --i) {
    if (a.limbs[i] != bound.limbs[i]) return a.limbs[i] < bound.limbs[i];
  }
  return false;
}

// Host and device have the same numbers: those of curve/params.hpp, which follow from the curve's
// parameter.
constexpr bool fp_modulus_is_the_curves() {
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t word = kFpField.modulus[static_cast<std::size_t>(i / 2)];
    if (fp_constants::multiple_limb<1>(i) != static_cast<std::uint32_t>(word >> (32 * (i % 2))))
      return false;
  }
  return true;
}
static_assert(fp_modulus_is_the_curves());
static_assert(fp_constants::kMinusInverse == static_cast<std::uint32_t>(kFpField.negative_inverse));

TEST(DeviceFp, MultiplesOfTheModulus) {
  std::uint64_t carry[6] = {};
  for (int i = 0; i < 12; ++i) {
    const std::uint32_t got[6] = {0,
                                  fp_constants::multiple_limb<1>(i),
                                  fp_constants::multiple_limb<2>(i),
                                  fp_constants::multiple_limb<3>(i),
                                  fp_constants::multiple_limb<4>(i),
                                  fp_constants::multiple_limb<5>(i)};
    for (int k = 1; k <= 5; ++k) {
      carry[k] += static_cast<std::uint64_t>(k) * got[1];
      EXPECT_EQ(got[k], static_cast<std::uint32_t>(carry[k]));
      carry[k] >>= 32;
    }
  }
  EXPECT_EQ(std::memcmp(Fp::one().limbs, kFpField.one.data(), 48), 0);
}

TEST(DeviceFp, RangesOfReductions) {
  for (const Fp& a : lazy_fp_values(8, 40)) {
    EXPECT_TRUE(below_multiple(reduce_to_2p(a), 2));
    EXPECT_TRUE(below_multiple(canonical(a), 1));
    EXPECT_EQ(is_zero(a), same(to_blst(a), blst_fp{}));
  }
  int zeros = 0;
  for (const Fp& a : lazy_fp_values(5, 40)) {
    if (is_zero_limbs(a) || !is_zero(a)) continue;
    EXPECT_TRUE(may_be_zero(a));
    ++zeros;
  }
  EXPECT_EQ(zeros, 4);
  EXPECT_FALSE(may_be_zero(Fp::one()));
}

TEST(DeviceFp, SumsAgreeWithBlst) {
  const std::vector<Fp> left = lazy_fp_values(4, 12), right = lazy_fp_values(2, 12);
  Fp two_p;
  for (int i = 0; i < 12; ++i) two_p.limbs[i] = fp_constants::multiple_limb<2>(i);
  for (const Fp& a : left) {
    for (const Fp& b : right) {
      ASSERT_TRUE(same(to_blst(add(a, b)), sum(to_blst(a), to_blst(b))));
      ASSERT_TRUE(same(to_blst(sub<2>(a, b)), difference(to_blst(a), to_blst(b))));
      ASSERT_TRUE(same(to_blst(sub<4>(a, b)), difference(to_blst(a), to_blst(b))));
      ASSERT_TRUE(same(to_blst(neg<2>(b)), difference(blst_fp{}, to_blst(b))));
    }
    ASSERT_TRUE(same(to_blst(sub<2>(a, two_p)), to_blst(a)));
    ASSERT_TRUE(same(to_blst(neg<5>(a)), difference(blst_fp{}, to_blst(a))));
  }
}

TEST(DeviceFp, ProductsAgreeWithBlstUpToTheirRanges) {
  // mul takes 8p times 9p: bounds A <= 8.84, B <= 9.84.
  const std::vector<Fp> left = lazy_fp_values(8, 10), right = lazy_fp_values(9, 10);
  for (const Fp& a : left) {
    for (const Fp& b : right) {
      const Fp d = mul(a, b);
      ASSERT_TRUE(same(to_blst(reduce_to_2p(subtract_if_possible<4>(subtract_if_possible<4>(d)))),
                       product(to_blst(a), to_blst(subtract_if_possible<4>(b)))));
    }
  }
  for (const Fp& a : lazy_fp_values(4, 60)) {
    ASSERT_TRUE(same(to_blst(square(a)), product(to_blst(a), to_blst(a))));
    ASSERT_TRUE(below_multiple(square(a), 3));
  }
}

TEST(DeviceFp, MulAddAgreesWithBlstUpToItsRange) {
  // A + C + 1 <= 9.84: 4 and 4; B and D up to 4.
  const std::vector<Fp> values = lazy_fp_values(4, 3);
  for (const Fp& a : values) {
    for (const Fp& b : values) {
      for (const Fp& c : values) {
        const Fp d = values[(static_cast<std::size_t>(a.limbs[0]) + b.limbs[1] + c.limbs[2]) %
                            values.size()];
        ASSERT_TRUE(same(to_blst(mul_add(a, b, c, d)),
                         sum(product(to_blst(a), to_blst(b)), product(to_blst(c), to_blst(d)))));
      }
    }
  }
}

TEST(DeviceFp, InverseAgreesWithBlst) {
  std::vector<Fp> values = lazy_fp_values(8, 30);
  for (int k = 0; k < 300; ++k) {  // short and sparse values, powers of two
    Fp a = Fp::zero();
    a.limbs[k % 12] =
        k < 12   ? 1u
        : k < 24 ? 0xffffffffu >> 5
        : k < 150
            ? 1u << (k % 27)
            : static_cast<std::uint32_t>(testing::mix(static_cast<std::uint64_t>(k))) >> (k % 30);
    values.push_back(a);
  }
  for (const Fp& a : values) {
    const blst_fp wanted_of = to_blst(a);
    blst_fp wanted;
    blst_fp_inverse(&wanted, &wanted_of);
    ASSERT_TRUE(same(to_blst(inverse(a)), wanted));
    ASSERT_TRUE(below_multiple(inverse(a), 2));
  }
  EXPECT_TRUE(is_zero(inverse(Fp::zero())));
}

TEST(DeviceFp2, AgreesWithBlst) {
  const std::vector<Fp> components = lazy_fp_values(2, 6);
  std::vector<Fp2> values;
  for (std::size_t i = 0; i < components.size(); ++i) {
    for (const std::size_t j : {i, std::size_t{0}, (i * 7 + 3) % components.size()}) {
      values.push_back({components[i], components[j]});
    }
  }
  for (const Fp2& a : values) {
    const blst_fp2 ba = to_blst(a);
    blst_fp2 wanted;
    blst_fp2_sqr(&wanted, &ba);
    ASSERT_TRUE(same(to_blst(square(a)).fp[0], wanted.fp[0]) &&
                same(to_blst(square(a)).fp[1], wanted.fp[1]));
    blst_fp2_inverse(&wanted, &ba);
    ASSERT_TRUE(same(to_blst(inverse(a)).fp[0], wanted.fp[0]) &&
                same(to_blst(inverse(a)).fp[1], wanted.fp[1]));
    ASSERT_EQ(is_zero(a), same(ba.fp[0], blst_fp{}) && same(ba.fp[1], blst_fp{}));
    for (const Fp2& b : values) {
      const blst_fp2 bb = to_blst(b);
      const Fp2 d = mul(a, b);
      blst_fp2_mul(&wanted, &ba, &bb);
      ASSERT_TRUE(same(to_blst(d.c0), wanted.fp[0]) && same(to_blst(d.c1), wanted.fp[1]));
      ASSERT_TRUE(below_multiple(d.c0, 2) && below_multiple(d.c1, 2));
      blst_fp2_sub(&wanted, &ba, &bb);
      const Fp2 s = sub<2>(a, b);
      ASSERT_TRUE(same(to_blst(s.c0), wanted.fp[0]) && same(to_blst(s.c1), wanted.fp[1]));
      ASSERT_TRUE(below_multiple(s.c0, 2) && below_multiple(s.c1, 2));
    }
  }
}

}  // namespace
}  // namespace cuzk::curve::device
