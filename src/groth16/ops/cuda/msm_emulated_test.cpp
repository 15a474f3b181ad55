#include "groth16/ops/cuda/msm_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

using curve::device::G1;
using curve::device::G2;

TEST(MsmPlan, WindowsCoverTheScalarAndDigitsFit) {
  for (int count = MsmWindows::kMin; count <= MsmWindows::kMax; ++count) {
    const MsmWindows windows = MsmWindows::make(count);
    int position = 0;
    std::uint32_t buckets = 0;
    for (int w = 0; w < count; ++w) {
      const auto i = static_cast<std::size_t>(w);
      EXPECT_EQ(windows.position[i], position);
      EXPECT_EQ(windows.base[i], buckets);
      EXPECT_GE(windows.bits[i], 6);
      position += windows.bits[i];
      buckets += 1u << (windows.bits[i] - 1);
    }
    EXPECT_EQ(position, 256);
    EXPECT_EQ(windows.buckets(), buckets);
  }
  EXPECT_THROW(MsmWindows::make(9), base::InvalidInput);
  EXPECT_THROW(MsmWindows::make(41), base::InvalidInput);
}

TEST(MsmPlan, FollowsSizeAndDevice) {
  const MsmPlan full = make_msm_plan<G1>(std::size_t{1} << 27, 132);
  EXPECT_EQ(full.windows.count, 12);
  EXPECT_EQ(full.accumulation, Accumulation::kAffine);
  const MsmPlan small = make_msm_plan<G1>(std::size_t{1} << 20, 132);
  EXPECT_EQ(small.accumulation, Accumulation::kXyzz);
  EXPECT_GT(small.windows.count, full.windows.count);
  EXPECT_LE(small.final_sums(), 40u * 8u);
  EXPECT_THROW(make_msm_plan<G1>(std::size_t{1} << 31, 132), base::InvalidInput);
  MsmPlan large = full;
  EXPECT_THROW(large.set_windows(32, 1), base::InvalidInput);
  // 2^27 products must leave room beside a 47.5 GB key and the transforms on a 141 GB device.
  EXPECT_LT(msm_workspace<G1>(full), std::size_t{16} << 30);
}

TEST(MsmEmulated, G1) {
  for (const MsmCase& c : msm_cases(1)) EXPECT_EQ(check_msm<G1>(c, 1, {}), "");
}
// Emulated exchanges are slow, so every third of the smaller cases; gpu_check runs all.
TEST(MsmEmulated, G2) {
  std::size_t index = 0;
  for (const MsmCase& c : msm_cases(1)) {
    if (index++ % 3 != 2 || c.n > 200) continue;
    EXPECT_EQ(check_msm<G2>(c, 1, {}), "");
  }
}
TEST(MsmEmulated, PlannedWindows) {
  EXPECT_EQ(check_msm<G1>({500, Bases::kDistinct, Scalars::kRandom}, 1, {}), "");
}

TEST(MsmEmulated, RejectsWhatDoesNotFit) {
  const MsmPlan plan = make_msm_plan<G1>(16, 1);
  const TestBases<G1> bases(Bases::kDistinct, 16, 1);
  const std::vector<Fr> scalars(16);
  std::vector<std::byte> workspace(msm_workspace<G1>(plan));
  std::vector<StoredXyzz<G1>> out(2 * plan.final_sums());
  const auto run = [&](std::size_t points, std::size_t values, std::size_t bytes,
                       std::size_t sums) {
    msm<G1>(plan, {bases.points.data(), points}, {scalars.data(), values}, nullptr,
            {workspace.data(), bytes}, {out.data(), sums}, {});
  };
  EXPECT_THROW(run(15, 16, workspace.size(), out.size()), base::InvalidInput);
  EXPECT_THROW(run(16, 15, workspace.size(), out.size()), base::InvalidInput);
  EXPECT_THROW(run(16, 16, workspace.size() - 1, out.size()), base::InvalidInput);
  EXPECT_THROW(run(16, 16, workspace.size(), out.size() - 1), base::InvalidInput);
  EXPECT_THROW(finish_msm(plan, std::span<const curve::device::G1Xyzz>(out).first(out.size() - 1)),
               base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
