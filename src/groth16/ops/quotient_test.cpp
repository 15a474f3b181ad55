#include "groth16/ops/quotient.hpp"

#include "base/error.hpp"
#include "groth16/ops/ntt.hpp"
#include "groth16/testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

// Rows with a·b = c: what a satisfied circuit gives, zeros at the end.
struct Rows {
  Rows(std::size_t n, std::size_t rows)
      : a(testing::random_scalars(n, n)), b(testing::random_scalars(n, n + 1)), c(n) {
    for (std::size_t i = rows; i < n; ++i) a[i] = b[i] = Fr::zero();
    for (std::size_t i = 0; i < n; i += 5) b[i] = Fr::zero();
    for (std::size_t i = 0; i < n; ++i) c[i] = a[i] * b[i];
  }
  std::vector<Fr> a, b, c;
};

Fr evaluate_at(const std::vector<Fr>& coefficients, const Fr& x) {
  Fr out = Fr::zero();
  for (std::size_t k = coefficients.size(); k-- > 0;) out = out * x + coefficients[k];
  return out;
}

class QuotientOfSize : public ::testing::TestWithParam<unsigned> {};

// h·t = a·b - c at a point outside of the domain, and h has degree n - 2 at most.
TEST_P(QuotientOfSize, TextbookDivides) {
  const Domain domain(GetParam());
  Rows rows(domain.n(), domain.n() * 2 / 3 + 1);
  std::vector<Fr> a = rows.a, b = rows.b, c = rows.c;
  for (std::vector<Fr>* values : {&a, &b, &c}) intt(domain, *values);
  quotient_textbook(domain, rows.a, rows.b, rows.c);
  EXPECT_TRUE(rows.a.back().is_zero());
  const Fr x = Fr::from_u64(123456789).inverse();
  EXPECT_EQ(evaluate_at(rows.a, x) * domain.vanishing(x),
            evaluate_at(a, x) * evaluate_at(b, x) - evaluate_at(c, x));
}

// n·h(ω^i) = s_i - C*_i, with C* from its definition.
TEST_P(QuotientOfSize, DerivativeIsTheQuotientOnTheDomain) {
  const Domain domain(GetParam());
  const std::size_t used = domain.n() * 2 / 3 + 1;
  Rows rows(domain.n(), used);
  const base::LargeArray<Fr> s =
      quotient_derivative(domain, std::span(rows.a).first(used), std::span(rows.b).first(used));
  ASSERT_EQ(s.size(), used);
  std::vector<Fr> c_star = rows.c;
  intt(domain, c_star);
  for (std::size_t k = 0; k < c_star.size(); ++k) c_star[k] *= Fr::from_u64(k);
  ntt(domain, c_star);
  quotient_textbook(domain, rows.a, rows.b, rows.c);
  ntt(domain, rows.a);
  const Fr n = Fr::power_of_two(domain.log_n());
  for (std::size_t i = 0; i < domain.n(); ++i) {
    ASSERT_EQ(n * rows.a[i], (i < used ? s[i] : Fr::zero()) - c_star[i]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(LogSizes, QuotientOfSize, ::testing::Values(1, 2, 5, 6, 9, 12));

// Tiles of one and of several passes, with the last rows in the middle of one.
class QuotientArithmetics : public ::testing::TestWithParam<curve::Arithmetic> {};

TEST_P(QuotientArithmetics, AgreeWithScalar) {
  if (!is_available(GetParam())) GTEST_SKIP() << "this processor has not its instructions";
  for (const unsigned log_n : {6U, 10U, 15U, 16U, 19U}) {
    const Domain domain(log_n);
    const std::size_t used = domain.n() * 7 / 10 + 3;
    std::vector<Fr> a = testing::random_scalars(used, log_n), b(used);
    // What circuits give: mostly bits; and the largest limbs.
    for (std::size_t i = 0; i < used; ++i) {
      if (i % 3 != 0) a[i] = Fr::from_u64(a[i].limbs()[0] & 1);
      b[i] = i % 5 == 0 ? -Fr::one() : i % 5 == 1 ? a[i] : Fr::one();
    }
    for (std::size_t i = used / 2; i < used / 2 + 300 && i < used; ++i)
      a[i] = b[i] = Fr::from_montgomery(curve::kFrField.negate({1}));
    const base::LargeArray<Fr> vector = quotient_derivative(domain, a, b, GetParam()),
                               scalar =
                                   quotient_derivative(domain, a, b, curve::Arithmetic::kScalar);
    ASSERT_TRUE(std::ranges::equal(vector, scalar)) << log_n;
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, QuotientArithmetics,
                         ::testing::Values(curve::Arithmetic::kAvx2, curve::Arithmetic::kIfma),
                         [](const auto& test) {
                           return test.param == curve::Arithmetic::kAvx2 ? "Avx2" : "Ifma";
                         });

TEST(Quotient, ZeroRowsHaveZeroScalars) {
  const Domain domain(7);
  Rows rows(domain.n(), domain.n());
  rows.a[17] = rows.b[17] = Fr::zero();
  EXPECT_TRUE(quotient_derivative(domain, rows.a, rows.b)[17].is_zero());
}

TEST(Quotient, WrongSizesAreRefused) {
  const Domain domain(3);
  std::vector<Fr> eight(8), seven(7), nine(9);
  EXPECT_THROW(quotient_textbook(domain, eight, seven, eight), base::InvalidInput);
  EXPECT_THROW(quotient_textbook(domain, eight, eight, nine), base::InvalidInput);
  EXPECT_THROW(quotient_derivative(domain, eight, seven), base::InvalidInput);
  EXPECT_THROW(quotient_derivative(domain, nine, nine), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16
