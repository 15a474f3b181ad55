#include "curve/batch_add.hpp"

#include "curve/testing.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cuzk::curve {
namespace {

using testing::multiples;

template <class T>
class BatchAdd : public ::testing::Test {};

template <class F, Arithmetic kArithmetic>
struct Case {
  using Field = F;
  static constexpr Arithmetic arithmetic = kArithmetic;
};
using Cases = ::testing::Types<Case<Fp, Arithmetic::kScalar>, Case<Fp, Arithmetic::kAvx2>,
                               Case<Fp, Arithmetic::kIfma>, Case<Fp2, Arithmetic::kScalar>,
                               Case<Fp2, Arithmetic::kAvx2>, Case<Fp2, Arithmetic::kIfma>>;
TYPED_TEST_SUITE(BatchAdd, Cases);

constexpr const char* kNotAvailable = "this processor has not the instructions of this arithmetic";

template <class C>
bool skipped() {
  return !is_available(C::arithmetic);
}

TYPED_TEST(BatchAdd, EqualsProjectiveAdditionForAllLengths) {
  using F = typename TypeParam::Field;
  if (skipped<TypeParam>()) GTEST_SKIP() << kNotAvailable;
  const std::vector<AffinePoint<F>> points = multiples<F>(2300);
  BatchAdder<F> adder(TypeParam::arithmetic);
  for (const std::size_t n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 100, 1023, 1024, 1025}) {
    std::vector<AffinePoint<F>> acc(points.begin(),
                                    points.begin() + static_cast<std::ptrdiff_t>(n));
    std::vector<PointAddition<F>> additions;
    for (std::size_t i = 0; i < n; ++i) additions.push_back({&acc[i], &points[n + i], i % 3 == 1});
    adder.add(additions);
    for (std::size_t i = 0; i < n; ++i) {
      const AffinePoint<F> addend = i % 3 == 1 ? -points[n + i] : points[n + i];
      ASSERT_EQ(acc[i], (JacobianPoint<F>::from(points[i]) + addend).to_affine())
          << i << " of " << n;
    }
  }
}

TYPED_TEST(BatchAdd, IsComplete) {
  using F = typename TypeParam::Field;
  using Point = AffinePoint<F>;
  if (skipped<TypeParam>()) GTEST_SKIP() << kNotAvailable;
  const Point g = Point::generator(), none = Point::identity();
  const Point twice = JacobianPoint<F>::from(g).doubled().to_affine();
  struct Row {
    Point acc, addend;
    bool negate;
    Point sum;
  };
  const std::vector<Row> rows = {
      {none, none, false, none}, {none, none, true, none}, {none, g, false, g},
      {none, g, true, -g},       {g, none, false, g},      {g, none, true, g},
      {g, g, false, twice},      {g, g, true, none},       {g, -g, false, none},
      {g, -g, true, twice},      {twice, g, true, g},      {twice, -g, false, g}};
  std::vector<Point> acc;
  for (const Row& row : rows) acc.push_back(row.acc);
  std::vector<PointAddition<F>> additions;
  for (std::size_t i = 0; i < rows.size(); ++i)
    additions.push_back({&acc[i], &rows[i].addend, rows[i].negate});
  BatchAdder<F>(TypeParam::arithmetic).add(additions);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(acc[i], rows[i].sum) << i;
}

// Chains of additions reach coordinates of every size, and the vector form must stay canonical.
TYPED_TEST(BatchAdd, LongChainsStayCanonical) {
  using F = typename TypeParam::Field;
  if (skipped<TypeParam>()) GTEST_SKIP() << kNotAvailable;
  const std::vector<AffinePoint<F>> points = multiples<F>(64);
  std::vector<AffinePoint<F>> acc(points.begin(), points.end());
  BatchAdder<F> adder(TypeParam::arithmetic);
  std::vector<std::uint64_t> logarithms(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) logarithms[i] = i + 1;
  std::mt19937_64 rng(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<PointAddition<F>> additions;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t j = rng() % points.size();
      additions.push_back({&acc[i], &points[j], false});
      logarithms[i] += j + 1;
    }
    adder.add(additions);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(acc[i], (AffinePoint<F>::generator() * Fr::from_u64(logarithms[i])).to_affine());
  }
}

TYPED_TEST(BatchAdd, SumOfAStream) {
  using F = typename TypeParam::Field;
  if (skipped<TypeParam>()) GTEST_SKIP() << kNotAvailable;
  const std::vector<AffinePoint<F>> points = multiples<F>(1500);
  PointSum<F> sum(TypeParam::arithmetic);
  for (const std::size_t n : {0, 1, 511, 1023, 1024, 1025, 1500}) {
    for (std::size_t i = 0; i < n; ++i) sum.add(points[i]);
    EXPECT_EQ(sum.finish(), AffinePoint<F>::generator() * Fr::from_u64(n * (n + 1) / 2)) << n;
  }
}

}  // namespace
}  // namespace cuzk::curve
