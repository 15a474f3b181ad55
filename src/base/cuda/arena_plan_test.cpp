#include "base/cuda/arena_plan.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace cuzk::base::cuda {
namespace {

void expect_disjoint(const ArenaPlan& plan) {
  const auto& blocks = plan.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].offset % ArenaPlan::kAlignment, 0u);
    EXPECT_LE(blocks[i].offset + blocks[i].bytes, plan.bytes());
    for (std::size_t j = 0; j < i; ++j) {
      const auto &a = blocks[i], &b = blocks[j];
      const bool together = a.first_stage <= b.last_stage && b.first_stage <= a.last_stage;
      const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
      EXPECT_TRUE(!together || apart || a.bytes == 0 || b.bytes == 0)
          << a.purpose << " and " << b.purpose;
    }
  }
}

TEST(ArenaPlan, BlocksOfDifferentStagesShareMemory) {
  ArenaPlan plan;
  plan.add("key", 1000, 0, 9);
  plan.add("first", 5000, 0, 1);
  plan.add("second", 5000, 2, 3);
  plan.add("both", 300, 1, 2);
  plan.place();
  expect_disjoint(plan);
  EXPECT_EQ(plan.bytes(), plan.least_bytes());
  EXPECT_EQ(plan.block(1).offset, plan.block(2).offset);
  EXPECT_THAT(plan.describe(), ::testing::HasSubstr("second"));
}

TEST(ArenaPlan, RandomPlansAreDisjointAndTight) {
  std::mt19937_64 random(7);
  double worst = 0;
  for (int round = 0; round < 300; ++round) {
    ArenaPlan plan;
    const std::size_t count = random() % 24;
    for (std::size_t i = 0; i < count; ++i) {
      const int first = static_cast<int>(random() % 10);
      plan.add("block", random() % 100000, first, first + static_cast<int>(random() % 5));
    }
    plan.place();
    expect_disjoint(plan);
    ASSERT_GE(plan.bytes(), plan.least_bytes());
    if (count > 0)
      worst = std::max(worst,
                       static_cast<double>(plan.bytes()) / static_cast<double>(plan.least_bytes()));
  }
  EXPECT_LT(worst, 2.0);
}

TEST(ArenaPlan, EmptyPlansAndBlocks) {
  ArenaPlan none;
  none.place();
  EXPECT_EQ(none.bytes(), 0u);
  ArenaPlan plan;
  plan.add("nothing", 0, 0, 5);
  plan.add("something", 1, 0, 5);
  plan.place();
  EXPECT_EQ(plan.bytes(), ArenaPlan::kAlignment);
}

TEST(ArenaPlan, RejectsImpossibleLivesAndLateBlocks) {
  ArenaPlan plan;
  EXPECT_THROW(plan.add("backwards", 1, 3, 2), InvalidInput);
  plan.place();
  EXPECT_THROW(plan.add("late", 1, 0, 0), InvalidInput);
}

}  // namespace
}  // namespace cuzk::base::cuda
