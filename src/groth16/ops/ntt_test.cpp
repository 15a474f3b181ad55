#include "groth16/ops/ntt.hpp"

#include "base/error.hpp"
#include "groth16/testing.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

std::vector<Fr> definition(const Domain& domain, const std::vector<Fr>& coefficients,
                           const Fr& shift) {
  std::vector<Fr> out(domain.n());
  for (std::size_t i = 0; i < domain.n(); ++i) {
    const Fr x = shift * domain.omega().pow(i);
    for (std::size_t k = domain.n(); k-- > 0;) out[i] = out[i] * x + coefficients[k];
  }
  return out;
}

class SmallNtt : public ::testing::TestWithParam<unsigned> {};

TEST_P(SmallNtt, EqualsTheDefinition) {
  const Domain domain(GetParam());
  const std::vector<Fr> coefficients = testing::random_scalars(domain.n(), GetParam());
  std::vector<Fr> values = coefficients;
  ntt(domain, values);
  EXPECT_EQ(values, definition(domain, coefficients, Fr::one()));
  values = coefficients;
  coset_ntt(domain, values);
  EXPECT_EQ(values, definition(domain, coefficients, Domain::coset_shift()));
}

INSTANTIATE_TEST_SUITE_P(LogSizes, SmallNtt, ::testing::Range(0U, 10U));

class NttOfSize : public ::testing::TestWithParam<unsigned> {};

TEST_P(NttOfSize, SomeEvaluationsEqualHorners) {
  const Domain domain(GetParam());
  const std::vector<Fr> coefficients = testing::random_scalars(domain.n(), 100 + GetParam());
  std::vector<Fr> values = coefficients;
  ntt(domain, values);
  for (const std::size_t i : {std::size_t{0}, domain.n() / 2, domain.n() / 3, domain.n() - 1}) {
    const Fr x = domain.omega().pow(i);
    Fr expected = Fr::zero();
    for (std::size_t k = domain.n(); k-- > 0;) expected = expected * x + coefficients[k];
    EXPECT_EQ(values[i], expected) << i;
  }
}

TEST_P(NttOfSize, InverseUndoesBoth) {
  const Domain domain(GetParam());
  const std::vector<Fr> coefficients = testing::random_scalars(domain.n(), 200 + GetParam());
  std::vector<Fr> values = coefficients;
  ntt(domain, values);
  intt(domain, values);
  EXPECT_EQ(values, coefficients);
  coset_ntt(domain, values);
  coset_intt(domain, values);
  EXPECT_EQ(values, coefficients);
}

TEST_P(NttOfSize, HalvesAreTheWholeWithoutPermutation) {
  const Domain domain(GetParam());
  const std::vector<Fr> input = testing::random_scalars(domain.n(), 300 + GetParam());
  std::vector<Fr> half = input, whole = input;
  intt_unscaled(domain, half);
  intt(domain, whole);
  const Fr n = Fr::power_of_two(domain.log_n());
  for (std::size_t k = 0; k < domain.n(); ++k)
    ASSERT_EQ(half[reverse_bits(k, domain.log_n())], n * whole[k]) << k;
  ntt_from_bit_reversed(domain, half);
  for (std::size_t i = 0; i < domain.n(); ++i) ASSERT_EQ(half[i], n * input[i]) << i;
}

// Every vector arithmetic against scalar, for each size.
class NttArithmetics : public ::testing::TestWithParam<std::tuple<unsigned, curve::Arithmetic>> {
 protected:
  void SetUp() override {
    if (!is_available(arithmetic())) GTEST_SKIP() << "this processor has not its instructions";
  }
  static unsigned log_n() { return std::get<0>(GetParam()); }
  static curve::Arithmetic arithmetic() { return std::get<1>(GetParam()); }

  // Both transforms, one after the other, give the same.
  static void expect_agreement(const std::vector<Fr>& values) {
    const Domain domain(log_n());
    std::vector<Fr> vector = values, scalar = values;
    intt_unscaled(domain, vector, arithmetic());
    intt_unscaled(domain, scalar, curve::Arithmetic::kScalar);
    EXPECT_TRUE(vector == scalar);
    ntt_from_bit_reversed(domain, vector, arithmetic());
    ntt_from_bit_reversed(domain, scalar, curve::Arithmetic::kScalar);
    EXPECT_TRUE(vector == scalar);
  }
};

TEST_P(NttArithmetics, AgreeOnRandomAndExtremeValues) {
  const std::size_t n = std::size_t{1} << log_n();
  std::vector<Fr> values = testing::random_scalars(n, 400 + log_n());
  // Extremes, too: what is largest in a lane decides whether the lazy form stays within its bounds.
  for (std::size_t i = 0; i < n; i += 3) values[i] = -Fr::one();
  for (std::size_t i = 0; i < n / 2; ++i)
    values[i] = Fr::from_montgomery(curve::kFrField.negate({1}));
  expect_agreement(values);
  expect_agreement(std::vector<Fr>(n, Fr::from_montgomery(curve::kFrField.negate({1}))));
}

// What circuits give: long runs of zeros, ones and other small numbers, whose sums and products
// have regular limbs.
TEST_P(NttArithmetics, AgreeOnSparseAndRegularValues) {
  std::mt19937_64 random(log_n());
  for (int kind = 0; kind < 4; ++kind) {
    SCOPED_TRACE(kind);
    std::vector<Fr> values(std::size_t{1} << log_n());
    for (Fr& value : values) {
      const std::uint64_t draw = random();
      switch (kind) {
        case 0:  // bits
          value = Fr::from_u64(draw & 1);
          break;
        case 1:  // -1, 0, 1, 2, mostly 0
          if (draw % 5 == 0) value = Fr::from_u64(draw >> 60 & 3) - Fr::one();
          break;
        case 2:  // Montgomery limbs with one bit set
          value = Fr::from_montgomery({0, 0, 0, 0});
          value.blst()->l[draw & 3] = std::uint64_t{1} << (draw >> 8) % 62;
          break;
        default:  // powers of two
          value = Fr::power_of_two(static_cast<unsigned>(draw % 255));
      }
    }
    expect_agreement(values);
  }
}

TEST_P(NttOfSize, ScalingByPowersFindsNaturalIndices) {
  const Domain domain(GetParam());
  const Fr first = Fr::from_u64(5), ratio = Fr::from_u64(3);
  std::vector<Fr> values(domain.n(), Fr::one());
  scale_by_powers_bit_reversed(domain, values, first, ratio);
  permute_bit_reversed(domain, values);
  Fr expected = first;
  for (std::size_t k = 0; k < domain.n(); ++k, expected *= ratio)
    ASSERT_EQ(values[k], expected) << k;
}

// One block, the smallest tiles, two passes, unequal passes, three passes.
const auto kLogSizes = ::testing::Values(0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 13, 17, 18, 19);
INSTANTIATE_TEST_SUITE_P(LogSizes, NttOfSize, kLogSizes);
INSTANTIATE_TEST_SUITE_P(LogSizes, NttArithmetics,
                         ::testing::Combine(kLogSizes, ::testing::Values(curve::Arithmetic::kAvx2,
                                                                         curve::Arithmetic::kIfma)),
                         [](const auto& test) {
                           const bool avx2 = std::get<1>(test.param) == curve::Arithmetic::kAvx2;
                           return std::string(avx2 ? "Avx2_" : "Ifma_") +
                                  std::to_string(std::get<0>(test.param));
                         });

TEST(Ntt, WrongSizesAreRefused) {
  const Domain domain(4);
  std::vector<Fr> values(15);
  EXPECT_THROW(ntt(domain, values), base::InvalidInput);
  EXPECT_THROW(intt(domain, values), base::InvalidInput);
  EXPECT_THROW(coset_ntt(domain, values), base::InvalidInput);
  EXPECT_THROW(coset_intt(domain, values), base::InvalidInput);
  EXPECT_THROW(permute_bit_reversed(domain, values), base::InvalidInput);
}

TEST(Domain, OmegaHasTheDomainsOrder) {
  for (unsigned log_n = 1; log_n <= Domain::kMaxLog; ++log_n) {
    const Domain domain(log_n);
    EXPECT_EQ(domain.omega().pow(domain.n() / 2), -Fr::one()) << log_n;
    EXPECT_EQ(domain.omega() * domain.omega_inverse(), Fr::one());
    EXPECT_EQ(domain.n_inverse() * Fr::power_of_two(log_n), Fr::one());
    EXPECT_TRUE(domain.vanishing(domain.omega().pow(3)).is_zero());
    EXPECT_FALSE(domain.vanishing(Domain::coset_shift()).is_zero());
  }
  EXPECT_EQ(Domain(0).omega(), Fr::one());
  EXPECT_THROW(Domain(33), base::InvalidInput);
}

TEST(ReverseBits, EqualsBitByBit) {
  for (unsigned bits = 0; bits <= 20; ++bits) {
    for (std::size_t value = 0; value < std::size_t{1} << bits; value += 1 + value / 37) {
      std::size_t expected = 0;
      for (unsigned i = 0; i < bits; ++i) expected |= (value >> i & 1) << (bits - 1 - i);
      ASSERT_EQ(reverse_bits(value, bits), expected);
    }
  }
}

}  // namespace
}  // namespace cuzk::groth16
