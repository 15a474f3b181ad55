#include "curve/params.hpp"

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <blst.h>
#include <gtest/gtest.h>

namespace cuzk::curve {
namespace {

template <std::size_t N>
Limbs<N> from_hex_be(std::string_view text) {
  const base::Bytes bytes = base::from_hex(text).value();
  Limbs<N> out{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    out[i / 8] |= std::uint64_t{bytes[bytes.size() - 1 - i]} << 8 * (i % 8);
  return out;
}

TEST(Params, ModuliAreThePublishedOnes) {
  EXPECT_EQ(kFrField.modulus,
            from_hex_be<4>("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"));
  EXPECT_EQ(kFpField.modulus,
            from_hex_be<6>("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f624"
                           "1eabfffeb153ffffb9feffffffffaaab"));
}

// blst's Montgomery forms of 1 and of R are R and R² mod m.
TEST(Params, MontgomeryConstantsAreBlsts) {
  const std::uint64_t one[6] = {1};
  blst_fr fr;
  blst_fr_from_uint64(&fr, one);
  EXPECT_TRUE(std::equal(kFrField.one.begin(), kFrField.one.end(), fr.l));
  blst_fr_from_uint64(&fr, kFrField.one.data());
  EXPECT_TRUE(std::equal(kFrField.r2.begin(), kFrField.r2.end(), fr.l));
  blst_fp fp;
  blst_fp_from_uint64(&fp, one);
  EXPECT_TRUE(std::equal(kFpField.one.begin(), kFpField.one.end(), fp.l));
  blst_fp_from_uint64(&fp, kFpField.one.data());
  EXPECT_TRUE(std::equal(kFpField.r2.begin(), kFpField.r2.end(), fp.l));
  EXPECT_EQ(kFrField.modulus[0] * kFrField.negative_inverse, ~std::uint64_t{0});
  EXPECT_EQ(kFpField.modulus[0] * kFpField.negative_inverse, ~std::uint64_t{0});
}

TEST(Params, CompileTimeProductsAreBlsts) {
  Limbs<4> a = kFrField.r2, b = kFrField.one;
  Limbs<6> c = kFpField.r2, d = kFpField.one;
  for (int i = 0; i < 100; ++i) {
    const Fr product = Fr::from_montgomery(a) * Fr::from_montgomery(b);
    const Limbs<4> fr = kFrField.multiply(a, b);
    ASSERT_EQ(Fr::from_montgomery(fr), product);
    b = kFrField.add(a, b);
    a = fr;
    const Fp fp_product = Fp::from_montgomery(c) * Fp::from_montgomery(d);
    const Limbs<6> fp = kFpField.multiply(c, d);
    ASSERT_EQ(Fp::from_montgomery(fp), fp_product);
    d = kFpField.add(c, d);
    c = fp;
  }
}

TEST(Params, RootOfUnityHasOrderTwoToTheThirtyTwo) {
  Fr root = Fr::from_montgomery(kFrRootOfUnity);
  for (unsigned i = 0; i < 31; ++i) root = root.square();
  EXPECT_EQ(root, -Fr::one());
  // The value that libraries of the ecosystem write down: 7^((r-1)/2^32).
  EXPECT_EQ(Fr::from_montgomery(kFrRootOfUnity).to_canonical(),
            from_hex_be<4>("16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b"));
}

TEST(Params, CubeRootActsAsMinusZSquared) {
  const G1Affine& g = G1Affine::generator();
  const G1Affine image = {g.x * Fp::from_montgomery(kFpCubeRoot), g.y};
  const Fr z = Fr::from_u64(kX);
  EXPECT_EQ(G1Jacobian::from(image), g * -z.square());
}

TEST(Params, GeneratorsSatisfyTheCurveEquations) {
  const G1Affine& g1 = G1Affine::generator();
  EXPECT_EQ(g1.y.square(), g1.x.square() * g1.x + Fp::from_u64(kCurveB));
  const G2Affine& g2 = G2Affine::generator();
  const Fp2 b = {Fp::from_u64(kCurveB), Fp::from_u64(kCurveB)};
  EXPECT_EQ(g2.y.square(), g2.x.square() * g2.x + b);
}

TEST(Wide, Arithmetic) {
  using L = Limbs<2>;
  L a = {~std::uint64_t{0}, 1};
  EXPECT_FALSE(wide::add(a, L{1, 0}));
  EXPECT_EQ(a, (L{0, 2}));
  EXPECT_TRUE(wide::subtract(a, L{1, 2}));
  EXPECT_EQ(a, (L{~std::uint64_t{0}, ~std::uint64_t{0}}));
  EXPECT_TRUE(wide::add(a, L{1, 0}));
  EXPECT_EQ(wide::multiply(Limbs<1>{~std::uint64_t{0}}, Limbs<1>{~std::uint64_t{0}}),
            (L{1, ~std::uint64_t{0} - 1}));
  std::uint64_t rest = 0;
  EXPECT_EQ(wide::divide(L{5, 7}, 3, rest), (L{0x5555555555555557, 2}));
  EXPECT_EQ(rest, 0U);
  EXPECT_EQ(wide::divide(L{6, 7}, 3, rest), (L{0x5555555555555557, 2}));
  EXPECT_EQ(rest, 1U);
  EXPECT_EQ(wide::shift_right(L{1, 2}, 65), (L{1, 0}));
  EXPECT_EQ(wide::bit_width(L{0, 4}), 67U);
  EXPECT_EQ(wide::bit_width(L{}), 0U);
  EXPECT_EQ(wide::trailing_zeros(L{0, 4}), 66U);
  EXPECT_TRUE(wide::less(L{9, 1}, L{0, 2}));
  EXPECT_FALSE(wide::less(L{0, 2}, L{0, 2}));
}

}  // namespace
}  // namespace cuzk::curve
