#include "groth16/ops/cuda/group_table_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

TEST(GroupTableEmulated, G1) {
  for (const BatchAddCase& c : batch_add_cases(1)) {
    if (c.n > 2000) continue;
    EXPECT_EQ(check_grouped<curve::device::G1>(c, 1, {}), "");
  }
}
TEST(GroupTableEmulated, G2) {
  for (const BatchAddCase& c : batch_add_cases(1)) {
    if (c.n > 200) continue;
    EXPECT_EQ(check_grouped<curve::device::G2>(c, 1, {}), "");
  }
}

TEST(GroupTable, HalfIsHalf) {
  const std::uint32_t two[8] = {2}, six[8] = {6}, four[8] = {4};
  const auto multiple = [](const std::uint32_t* k) {
    return curve::device::testing::multiple_of_generator(blst_p1{}, k);
  };
  EXPECT_TRUE(curve::device::testing::same(finish_grouped_sum(multiple(two), multiple(six)),
                                           multiple(four)));
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
