#include "groth16/ops/msm.hpp"

#include "base/error.hpp"
#include "curve/endomorphism.hpp"
#include "groth16/testing.hpp"

#include <gtest/gtest.h>

#include <array>

namespace cuzk::groth16 {
namespace {

using curve::AffinePoint;
using curve::Arithmetic;
using curve::Fr;
using curve::JacobianPoint;

template <class F>
JacobianPoint<F> naive(std::span<const AffinePoint<F>> bases, std::span<const Fr> scalars) {
  JacobianPoint<F> sum = JacobianPoint<F>::identity();
  for (std::size_t i = 0; i < bases.size(); ++i) sum += bases[i] * scalars[i];
  return sum;
}

template <class F>
class Msm : public ::testing::Test {};
using Groups = ::testing::Types<curve::Fp, curve::Fp2>;
TYPED_TEST_SUITE(Msm, Groups);

TYPED_TEST(Msm, EqualsTheNaiveSumForSmallSizes) {
  using F = TypeParam;
  for (const std::size_t n : {0, 1, 2, 3, 15, 64, 101}) {
    const auto bases = testing::multiples<F>(n);
    const auto scalars = testing::random_scalars(n, n);
    const JacobianPoint<F> expected = naive<F>(bases, scalars);
    for (const ScalarSplit split :
         {ScalarSplit::kBySize, ScalarSplit::kNever, ScalarSplit::kAlways}) {
      EXPECT_EQ(msm<F>(bases, scalars, {.split = split}), expected) << n;
    }
  }
}

TYPED_TEST(Msm, TermsAddUp) {
  using F = TypeParam;
  const auto bases = testing::multiples<F>(500);
  const auto scalars = testing::random_scalars(500, 11);
  const std::span<const AffinePoint<F>> points(bases);
  const std::span<const Fr> factors(scalars);
  const std::array<MsmTerms<F>, 3> terms = {
      {{points.first(120), factors.first(120)}, {}, {points.subspan(120), factors.subspan(120)}}};
  for (const ScalarSplit split : {ScalarSplit::kNever, ScalarSplit::kAlways})
    EXPECT_EQ(msm<F>(terms, {.split = split}), naive<F>(bases, scalars));
  EXPECT_TRUE(msm<F>(std::span<const MsmTerms<F>>()).is_identity());
}

// With bases i·G and scalars i the sum is (Σ i²)·G.
TYPED_TEST(Msm, SumOfSquaresForEveryWindow) {
  using F = TypeParam;
  const std::uint64_t n = 700;
  const auto bases = testing::multiples<F>(n);
  std::vector<Fr> scalars;
  for (std::uint64_t i = 1; i <= n; ++i) scalars.push_back(Fr::from_u64(i));
  const JacobianPoint<F> expected =
      AffinePoint<F>::generator() * Fr::from_u64(n * (n + 1) * (2 * n + 1) / 6);
  for (unsigned bits = 2; bits <= 14; ++bits)
    EXPECT_EQ(msm<F>(bases, scalars, {.window_bits = bits}), expected) << bits;
  EXPECT_EQ(msm<F>(bases, scalars), expected);
}

TYPED_TEST(Msm, LargeScalarsForEveryWindow) {
  using F = TypeParam;
  const std::size_t n = 300;
  const auto bases = testing::multiples<F>(n);
  std::vector<Fr> scalars = testing::random_scalars(n, 5);
  const Fr half =
      Fr::from_u64(2).inverse();  // (r + 1)/2 and its neighbour are where scalars change sign
  const std::vector<Fr> edges = {Fr::zero(),
                                 Fr::one(),
                                 -Fr::one(),
                                 half,
                                 half - Fr::one(),
                                 Fr::power_of_two(254),
                                 -Fr::power_of_two(200),
                                 Fr::power_of_two(64) - Fr::one()};
  std::copy(edges.begin(), edges.end(), scalars.begin());
  Fr logarithm = Fr::zero();
  for (std::size_t i = 0; i < n; ++i) logarithm += scalars[i] * Fr::from_u64(i + 1);
  const JacobianPoint<F> expected = AffinePoint<F>::generator() * logarithm;
  for (unsigned bits = 2; bits <= 13; ++bits) {
    EXPECT_EQ(msm<F>(bases, scalars, {.window_bits = bits, .split = ScalarSplit::kNever}), expected)
        << bits;
    if (bits == 2) continue;
    EXPECT_EQ(msm<F>(bases, scalars, {.window_bits = bits, .split = ScalarSplit::kAlways}),
              expected)
        << bits;
  }
  EXPECT_EQ(msm<F>(bases, scalars, {.window_bits = 16}), expected);
  EXPECT_EQ(msm<F>(bases, scalars, {.window_bits = 17}), expected);
}

// Points at infinity, repeated, and opposite; all scalars equal, so that all meet in few buckets
// and the queue runs over.
TYPED_TEST(Msm, DegenerateInputs) {
  using F = TypeParam;
  const auto some = testing::multiples<F>(9);
  std::vector<AffinePoint<F>> bases;
  Fr logarithm = Fr::zero();
  for (std::uint64_t i = 0; i < 9000; ++i) {
    switch (i % 3) {
      case 0:
        bases.push_back(AffinePoint<F>::identity());
        break;
      case 1:
        bases.push_back(some[i % 9]);
        logarithm += Fr::from_u64(i % 9 + 1);
        break;
      default:
        bases.push_back(-some[i % 7]);
        logarithm -= Fr::from_u64(i % 7 + 1);
    }
  }
  const Fr scalar = -Fr::from_u64(12345).inverse();
  const std::vector<Fr> scalars(bases.size(), scalar);
  for (const ScalarSplit split : {ScalarSplit::kNever, ScalarSplit::kAlways}) {
    EXPECT_EQ(msm<F>(bases, scalars, {.split = split}),
              AffinePoint<F>::generator() * (logarithm * scalar));
  }
  const std::vector<Fr> zeros(bases.size());
  EXPECT_TRUE(msm<F>(bases, zeros).is_identity());
}

TYPED_TEST(Msm, ArithmeticsAgree) {
  using F = TypeParam;
  if (curve::resolve(Arithmetic::kBest) == Arithmetic::kScalar)
    GTEST_SKIP() << "this processor has neither AVX2 and FMA nor AVX-512 IFMA";
  const std::size_t n = 3000;
  const auto bases = testing::multiples<F>(n);
  const auto scalars = testing::random_scalars(n, 9);
  const MsmOptions scalar{.window_bits = 9, .arithmetic = Arithmetic::kScalar};
  const auto expected = msm<F>(bases, scalars, scalar);
  for (const auto arithmetic : {Arithmetic::kAvx2, Arithmetic::kIfma}) {
    if (!curve::is_available(arithmetic)) continue;
    const MsmOptions vector{.window_bits = 9, .arithmetic = arithmetic};
    EXPECT_EQ(msm<F>(bases, scalars, vector), expected) << to_string(arithmetic);
  }
}

TYPED_TEST(Msm, WrongArgumentsAreRefused) {
  using F = TypeParam;
  const auto bases = testing::multiples<F>(3);
  const std::vector<Fr> two(2), three(3);
  EXPECT_THROW(msm<F>(bases, two), base::InvalidInput);
  EXPECT_THROW(msm<F>(bases, three, {.window_bits = 1}), base::InvalidInput);
  EXPECT_THROW(msm<F>(bases, three, {.window_bits = kMaxWindowBits + 1}), base::InvalidInput);
  if (curve::kScalarParts<F> == 2) {
    EXPECT_THROW(msm<F>(bases, three, {.window_bits = 2, .split = ScalarSplit::kAlways}),
                 base::InvalidInput);
  }
}

TYPED_TEST(Msm, BatchAddTakesTheSetBits) {
  using F = TypeParam;
  // More than a chunk of words, about a third of them in the query, half of these set.
  std::mt19937_64 random(3);
  for (const std::size_t words : {0, 1, 2, 40, 1500}) {
    std::vector<std::uint64_t> mask(words), bits(words);
    for (std::size_t i = 0; i < words; ++i) {
      mask[i] = words == 1500 ? std::uint64_t{1} << random() % 64 : random() & random();
      bits[i] = random();
    }
    std::size_t count = 0;
    for (const std::uint64_t word : mask) count += static_cast<std::size_t>(std::popcount(word));
    const auto points = testing::multiples<F>(count);
    Fr logarithm = Fr::zero();
    std::size_t point = 0;
    for (std::size_t i = 0; i < 64 * words; ++i) {
      if ((mask[i / 64] >> i % 64 & 1) == 0) continue;
      ++point;
      if ((bits[i / 64] >> i % 64 & 1) != 0) logarithm += Fr::from_u64(point);
    }
    EXPECT_EQ(batch_add<F>(points, mask, bits), AffinePoint<F>::generator() * logarithm) << words;
  }
  const auto points = testing::multiples<F>(3);
  const std::vector<std::uint64_t> one_word = {7}, two_words = {7, 0}, other = {3};
  EXPECT_THROW(batch_add<F>(points, one_word, two_words), base::InvalidInput);
  EXPECT_THROW(batch_add<F>(points, other, other), base::InvalidInput);
}

TEST(MsmWindows, GrowWithTheSizeAndSplitOnlySmallSums) {
  for (const unsigned split_parts : {2U, 4U}) {
    unsigned last = 2;
    for (std::size_t n = 1; n < std::size_t{1} << 26; n *= 2) {
      const MsmWindows whole = msm_windows(n, split_parts, {.split = ScalarSplit::kNever});
      EXPECT_EQ(whole.parts, 1U);
      EXPECT_GE(whole.bits, last);
      EXPECT_LE(whole.bits, kMaxWindowBits);
      last = whole.bits;
    }
    // Of additions that are no faster than images.
    EXPECT_EQ(
        msm_windows(std::size_t{1} << 14, split_parts, {.arithmetic = Arithmetic::kScalar}).parts,
        split_parts);
    EXPECT_EQ(msm_windows(std::size_t{1} << 24, split_parts).parts, 1U);
  }
  EXPECT_EQ(msm_windows(1000, 2, {.window_bits = 2}).parts, 1U);
}

}  // namespace
}  // namespace cuzk::groth16
