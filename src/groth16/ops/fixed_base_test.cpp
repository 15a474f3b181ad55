#include "groth16/ops/fixed_base.hpp"

#include "base/error.hpp"
#include "groth16/testing.hpp"

#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using curve::AffinePoint;
using curve::Fr;

template <class F>
class FixedBaseOf : public ::testing::Test {};
using Groups = ::testing::Types<curve::Fp, curve::Fp2>;
TYPED_TEST_SUITE(FixedBaseOf, Groups);

TYPED_TEST(FixedBaseOf, EqualsMultiplication) {
  using F = TypeParam;
  const AffinePoint<F> base = (AffinePoint<F>::generator() * Fr::from_u64(77)).to_affine();
  // Announced sizes choose windows from the smallest up.
  for (const std::size_t announced : {1, 1000, 100000}) {
    const FixedBase<F> table(base, announced);
    std::vector<Fr> scalars = testing::random_scalars(30, announced);
    for (const Fr& edge :
         {Fr::zero(), Fr::one(), -Fr::one(), Fr::from_u64(2).inverse(), Fr::power_of_two(254)}) {
      scalars.push_back(edge);
    }
    std::vector<AffinePoint<F>> out(scalars.size(), base);
    table.multiply(scalars, out);
    for (std::size_t i = 0; i < scalars.size(); ++i)
      EXPECT_EQ(out[i], (base * scalars[i]).to_affine()) << i;
    EXPECT_THROW(table.multiply(scalars, std::span(out).first(1)), base::InvalidInput);
    table.multiply({}, {});
  }
}

}  // namespace
}  // namespace cuzk::groth16
