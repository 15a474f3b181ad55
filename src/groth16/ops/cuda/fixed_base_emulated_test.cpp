#include "groth16/ops/cuda/fixed_base_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

using curve::device::G1;
using curve::device::G2;

TEST(FixedBasePlan, WindowsCoverTheScalar) {
  for (unsigned bits = FixedBasePlan::kMinBits; bits <= FixedBasePlan::kMaxBits; ++bits) {
    const FixedBasePlan plan = FixedBasePlan::make(bits);
    EXPECT_GE(plan.windows * bits, 256U);
    EXPECT_LT((plan.windows - 1) * bits, 256U);
    EXPECT_EQ(plan.table_points(), plan.windows << (bits - 1));
  }
  EXPECT_THROW(FixedBasePlan::make(1), base::InvalidInput);
  EXPECT_THROW(FixedBasePlan::make(25), base::InvalidInput);
  EXPECT_EQ(FixedBasePlan::for_count(std::size_t{1} << 27).window_bits, 16U);
  EXPECT_LT(FixedBasePlan::for_count(100).window_bits, 8U);
}

TEST(FixedBaseEmulated, G1) {
  EXPECT_EQ(check_fixed_base<G1>(2, 5, {}), "");
  EXPECT_EQ(check_fixed_base<G1>(5, 200, {}), "");
  EXPECT_EQ(check_fixed_base<G1>(8, 129, {}), "");
  EXPECT_EQ(check_fixed_base<G1>(6, 0, {}), "");
}
TEST(FixedBaseEmulated, G2) {
  EXPECT_EQ(check_fixed_base<G2>(4, 130, {}), "");
  EXPECT_EQ(check_fixed_base<G2>(7, 1, {}), "");
}

TEST(FixedBaseEmulated, RejectsWhatDoesNotFit) {
  const FixedBasePlan plan = FixedBasePlan::make(2);
  std::vector<curve::device::G1Affine> bases(plan.windows), table(plan.table_points()), out(2);
  std::vector<Fr> scalars(2);
  const auto multiply = [&](std::size_t table_points, std::size_t scalar_count,
                            std::size_t out_points) {
    multiply_fixed_base<G1>(plan, {table.data(), table_points}, {scalars.data(), scalar_count}, 2,
                            {out.data(), out_points}, {});
  };
  EXPECT_THROW(multiply(table.size() - 1, 2, 2), base::InvalidInput);
  EXPECT_THROW(multiply(table.size(), 1, 2), base::InvalidInput);
  EXPECT_THROW(multiply(table.size(), 2, 1), base::InvalidInput);
  EXPECT_THROW(make_fixed_base_table<G1>(plan, {bases.data(), bases.size() - 1},
                                         {table.data(), table.size()}, {}),
               base::InvalidInput);
  EXPECT_THROW(make_fixed_base_table<G1>(plan, {bases.data(), bases.size()},
                                         {table.data(), table.size() - 1}, {}),
               base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
