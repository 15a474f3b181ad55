#include "groth16/subgroup_check.hpp"

#include "groth16/testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cuzk::groth16 {
namespace {

using curve::AffinePoint;
using curve::Fr;
using curve::JacobianPoint;

bool square_root(const curve::Fp& value, curve::Fp& root) {
  return blst_fp_sqrt(root.blst(), value.blst());
}
bool square_root(const curve::Fp2& value, curve::Fp2& root) {
  return blst_fp2_sqrt(root.blst(), value.blst());
}
curve::Fp curve_b(const curve::Fp&) { return curve::Fp::from_u64(4); }
curve::Fp2 curve_b(const curve::Fp2&) { return {curve::Fp::from_u64(4), curve::Fp::from_u64(4)}; }

// A point of the cofactor's order: r times a point of the whole curve.
template <class F>
AffinePoint<F> torsion_point() {
  for (F x = F::one();; x += F::one()) {
    AffinePoint<F> point{x, {}};
    if (!square_root(x.square() * x + curve_b(x), point.y)) continue;
    const JacobianPoint<F> torsion = point * -Fr::one() + point;  // (r - 1) + 1
    if (!torsion.is_identity()) return torsion.to_affine();
  }
}

template <class F>
class SubgroupCheck : public ::testing::Test {};
using Groups = ::testing::Types<curve::Fp, curve::Fp2>;
TYPED_TEST_SUITE(SubgroupCheck, Groups);

// Sizes that are checked one by one, and by buckets.
TYPED_TEST(SubgroupCheck, AcceptsTheSubgroup) {
  using F = TypeParam;
  for (const std::size_t n : {0, 1, 100, 6000}) {
    std::vector<AffinePoint<F>> points = testing::multiples<F>(n);
    if (n > 3) points[2] = AffinePoint<F>::identity();
    EXPECT_TRUE(all_in_group<F>(points)) << n;
  }
}

TYPED_TEST(SubgroupCheck, PiecesAreOneSet) {
  using F = TypeParam;
  for (const std::size_t n : {100, 6000}) {
    std::vector<AffinePoint<F>> points = testing::multiples<F>(n);
    const auto pass = [&] {
      GroupCheck<F> check(n);
      const std::span<const AffinePoint<F>> all = points;
      for (std::size_t first = 0; first < n; first += n / 3)
        check.add(all.subspan(first, std::min(n / 3, n - first)));
      return check.passes();
    };
    EXPECT_TRUE(pass()) << n;
    const std::size_t wrong[] = {0, n / 2, n - 1};
    for (const std::size_t i : wrong) {
      const AffinePoint<F> good = points[i];
      points[i] = (JacobianPoint<F>::from(good) + torsion_point<F>()).to_affine();
      EXPECT_FALSE(pass()) << i << " of " << n;
      points[i] = good;
    }
  }
}

TYPED_TEST(SubgroupCheck, FindsWrongPointsAlsoWhereTheyCancel) {
  using F = TypeParam;
  const AffinePoint<F> torsion = torsion_point<F>();
  ASSERT_TRUE(torsion.is_on_curve());
  ASSERT_FALSE(torsion.is_in_group());
  for (const std::size_t n : {1, 100, 6000}) {
    std::vector<AffinePoint<F>> points = testing::multiples<F>(n);
    const auto shift = [&](std::size_t i, const AffinePoint<F>& by) {
      points[i] = (JacobianPoint<F>::from(points[i]) + by).to_affine();
    };
    shift(n / 2, torsion);
    EXPECT_FALSE(all_in_group<F>(points)) << n;
    if (n > 1) {
      shift(n - 1, -torsion);
      EXPECT_FALSE(all_in_group<F>(points)) << "two that cancel among " << n;
    }
  }
}

}  // namespace
}  // namespace cuzk::groth16
