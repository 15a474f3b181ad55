#include "groth16/ops/cuda/batch_add_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

TEST(BatchAddEmulated, G1) {
  for (const BatchAddCase& c : batch_add_cases(1))
    EXPECT_EQ(check_batch_add<curve::device::G1>(c, 1, {}), "");
}
TEST(BatchAddEmulated, G2) {
  for (const BatchAddCase& c : batch_add_cases(1)) {
    if (c.n > 2000) continue;  // emulated exchanges are slow; gpu_check runs all
    EXPECT_EQ(check_batch_add<curve::device::G2>(c, 1, {}), "");
  }
}

TEST(BatchAddEmulated, RejectsWhatDoesNotFit) {
  using curve::device::G1;
  EXPECT_THROW(BatchAddPlan::make<G1>(std::size_t{1} << 31, 1, 0), base::InvalidInput);
  const BatchAddPlan plan = BatchAddPlan::make<G1>(64, 1, 0);
  const TestBases<G1> bases(Bases::kDistinct, 64, 1);
  std::vector<std::uint32_t> bits(2, 0);
  std::vector<std::byte> workspace(batch_add_workspace<G1>(plan));
  StoredXyzz<G1> result;
  const auto run = [&](std::size_t points, std::size_t words, std::size_t bytes) {
    batch_add<G1>(plan, {bases.points.data(), points}, {bits.data(), words},
                  {workspace.data(), bytes}, &result, {});
  };
  EXPECT_THROW(run(63, 2, workspace.size()), base::InvalidInput);
  EXPECT_THROW(run(64, 1, workspace.size()), base::InvalidInput);
  EXPECT_THROW(run(64, 2, workspace.size() - 1), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
