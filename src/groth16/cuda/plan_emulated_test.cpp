#include "base/error.hpp"
#include "groth16/cuda/plan.hpp"
#include "groth16/cuda/streamed_plan.hpp"
#include "groth16/ops/cuda/instances/batch_add.hpp"
#include "groth16/ops/cuda/instances/msm.hpp"
#include "groth16/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::groth16::cuda {
namespace {

using base::cuda::ArenaPlan;

/// About the numbers of a 32 GiB PoRep partition on an H200.
LaneRequest porep_request() {
  LaneRequest request;
  request.log_n = 27;
  request.h_count = 130'279'197;
  request.wide_rows = 1'500'000;
  request.witness_bytes = 60'000'000;
  request.bit_count = {128'900'000, 128'500'000, 32'800'000, 32'800'000};
  request.field_count = {1'270'000, 1'260'000, 330'000, 330'000};
  request.sm_count = 132;
  return request;
}

TEST(LanePlan, HasRoomForEverySumOverH) {
  const LanePlan plan(porep_request());
  const std::size_t room = plan.arena.block(plan.h_workspace).bytes;
  EXPECT_EQ(msm_workspace<curve::device::G1>(plan.h), room);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20,
        std::size_t{1} << 24, std::size_t{89'600'000}, plan.request.h_count}) {
    const MsmPlan h = plan.h_plan(count);
    EXPECT_EQ(h.n, count);
    EXPECT_LE(msm_workspace<curve::device::G1>(h), room) << count;
    EXPECT_LE(2 * h.final_sums() * sizeof(curve::device::G1Xyzz), plan.h_result_bytes) << count;
  }
}

TEST(LanePlan, ResultsDoNotOverlap) {
  const LanePlan plan(porep_request());
  std::size_t end = plan.h_result_bytes;
  for (std::size_t i = 0; i < kQueries; ++i) {
    const LanePlan::Query& query = plan.queries[i];
    const std::size_t point = i == kQueryBG2 ? 384 : 192;
    EXPECT_GE(query.bits_at, end);
    EXPECT_GE(query.tail_at, query.bits_at + point);
    end = query.tail_at + 2 * query.tail.final_sums() * point;
  }
  EXPECT_LE(end, plan.result_bytes);
  EXPECT_EQ(plan.arena.block(plan.results).bytes, plan.result_bytes);
}

TEST(LanePlan, WorkspacesSufficeAndShareMemory) {
  LaneRequest request = porep_request();
  for (const bool tabled : {false, true}) {
    request.tables = tabled ? GroupTables::all() : GroupTables{};
    const LanePlan plan(request);
    const std::size_t room = plan.arena.block(plan.query_workspace).bytes;
    for (const std::size_t i : {kQueryL, kQueryA, kQueryBG1}) {
      const LanePlan::Query& query = plan.queries[i];
      EXPECT_EQ(query.tabled, tabled);
      EXPECT_LE(tabled ? grouped_workspace<curve::device::G1>(query.bits)
                       : batch_add_workspace<curve::device::G1>(query.bits),
                room);
      EXPECT_LE(msm_workspace<curve::device::G1>(query.tail), room);
    }
    EXPECT_EQ(plan.arena.bytes(), plan.arena.least_bytes());
  }
  const std::size_t beside = LanePlan(request).arena.bytes();
  request.overlap = false;
  const LanePlan after(request);
  EXPECT_LT(after.arena.bytes(), beside);
  EXPECT_EQ(after.arena.bytes(), after.arena.least_bytes());
}

TEST(StreamedPlan, CoversEveryRowAndKeepsItsPlaces) {
  StreamedRequest request{.lane = porep_request(), .placement = {}, .partitions = 10};
  request.placement.h = request.placement.l = request.placement.b_g2 = Placement::kHost;
  request.h_slices = 4;
  request.buffer_bytes = std::size_t{1} << 30;
  const StreamedPlan plan(request);
  std::size_t rows = 0;
  for (std::size_t i = 0; i < plan.h_slices; ++i) {
    rows += plan.rows_of(i);
    EXPECT_LE(msm_workspace<curve::device::G1>(plan.h_plan(i)),
              plan.arena.block(plan.h_workspace).bytes);
    EXPECT_LE(2 * plan.h_plan(i).final_sums() * sizeof(curve::device::G1Xyzz), plan.h_result_bytes);
  }
  EXPECT_EQ(rows, request.lane.h_count);
  EXPECT_TRUE(plan.queries[kQueryL].streamed && plan.queries[kQueryBG2].streamed);
  EXPECT_FALSE(plan.queries[kQueryA].streamed || plan.queries[kQueryBG1].streamed);
  std::size_t end = plan.h_at(plan.h_slices);
  for (std::size_t i = 0; i < kQueries; ++i) {
    const StreamedPlan::Query& query = plan.queries[i];
    const std::size_t point = i == kQueryBG2 ? 384 : 192;
    EXPECT_GE(query.bits_at, end);
    EXPECT_GE(query.tail_at, query.bits_at + query.slices * point);
    end = query.tail_at + 2 * query.tail.final_sums() * point;
  }
  EXPECT_LE(end, plan.result_bytes);
}

class ChooseResidency : public ::testing::Test {
 protected:
  static constexpr std::size_t kPlenty = std::size_t{1} << 30, kCircuitBytes = 5'000;

  std::optional<Residency> resident(std::size_t budget, unsigned lanes = 2) const {
    return choose_residency(layout, request, kCircuitBytes, budget, lanes, true);
  }
  StreamedResidency streamed(std::size_t budget) const {
    return choose_streaming(layout, request, kCircuitBytes, budget, 3);
  }

  testing::ToyCircuit toy{20};
  KeyLayout layout{toy.shape, QuotientForm::kDerivative};
  LaneRequest request{layout, 20, 10'000};
};

TEST_F(ChooseResidency, GivesUpTheLeastUsefulFirst) {
  const std::optional<Residency> all = resident(kPlenty);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->lanes, 2u);
  EXPECT_TRUE(all->overlap);
  EXPECT_TRUE(all->tables.l && all->tables.a && all->tables.b_g1 && all->tables.b_g2);
  EXPECT_THAT(all->describe(), ::testing::HasSubstr("l a b_g1 b_g2"));
  // A byte less each time, down to where not even the least fits.
  Residency last = *all;
  int choices = 1;
  for (std::size_t budget = all->total(); auto next = resident(budget); budget = last.total() - 1) {
    ASSERT_LE(next->total(), budget);
    ++choices;
    last = *next;
  }
  EXPECT_GE(choices, 6);
  EXPECT_EQ(last.lanes, 1u);
  EXPECT_FALSE(last.overlap);
  EXPECT_FALSE(last.tables.l || last.tables.a || last.tables.b_g1 || last.tables.b_g2);
}

TEST_F(ChooseResidency, StreamsAsMuchAsItMust) {
  StreamedResidency last = streamed(kPlenty);
  EXPECT_EQ(last.request.placement.h, Placement::kDevice);
  EXPECT_EQ(last.request.placement.l, Placement::kDevice);
  EXPECT_EQ(last.host_bytes, 0u);
  for (std::size_t budget = last.total();; budget = last.total() - 1) {
    try {
      last = streamed(budget);
    } catch (const base::ResourceExhausted& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("--vram-budget"));
      break;
    }
    ASSERT_LE(last.total(), budget);
  }
  EXPECT_EQ(last.request.placement.h, Placement::kHost);
  EXPECT_EQ(last.request.placement.l, Placement::kHost);
  EXPECT_EQ(last.request.placement.b_g2, Placement::kHost);
  EXPECT_GT(last.host_bytes, 0u);
  // Before it gives up, a pass is shared by fewer.
  EXPECT_EQ(last.request.partitions, 1u);
  EXPECT_THAT(streamed(kPlenty).describe(), ::testing::HasSubstr("3 partitions share a pass"));
}

TEST_F(ChooseResidency, ASecondWitnessTakesWhatIsLeft) {
  const auto with_spare = [&](std::size_t budget) {
    return choose_streaming(layout, request, kCircuitBytes, budget, 3, true);
  };
  const StreamedResidency all = with_spare(kPlenty);
  EXPECT_EQ(all.spare_bytes, request.witness_bytes);
  EXPECT_EQ(all.total(), streamed(kPlenty).total() + request.witness_bytes);
  // Not where it would be too large a share.
  LaneRequest large = request;
  large.witness_bytes = kPlenty / 16 + 1;
  EXPECT_EQ(choose_streaming(layout, large, kCircuitBytes, kPlenty, 3, true).spare_bytes, 0u);
}

TEST_F(ChooseResidency, NeedsALane) {
  EXPECT_THROW(resident(kPlenty, 0), base::InvalidInput);
  EXPECT_THROW(choose_streaming(layout, request, kCircuitBytes, kPlenty, 0), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda
