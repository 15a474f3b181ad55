#include "cli/load/statistics.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cuzk::cli::load {
namespace {

using Verdict = Comparison::Verdict;

TEST(LoadStatistics, PercentilesAreValuesThatWereMeasured) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const Summary summary = summarize(values);
  EXPECT_EQ(summary.count, 100u);
  EXPECT_EQ(summary.least, 1);
  EXPECT_EQ(summary.p50, 50);
  EXPECT_EQ(summary.p90, 90);
  EXPECT_EQ(summary.p99, 99);
  EXPECT_EQ(summary.most, 100);
  EXPECT_DOUBLE_EQ(summary.mean, 50.5);
  EXPECT_EQ(summarize({7}).p99, 7);
  EXPECT_EQ(summarize({}).count, 0u);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({3, 1, 2}), 2);
}

// Table of the sign test, two-sided 95 %: n <= 5 none; 6: 1st value; 9: 2nd; 12: 3rd; 20: 6th; 25:
// 8th. [Conover, Practical Nonparametric Statistics, table A3, from the binomial distribution]
TEST(LoadStatistics, IntervalOfTheMedianIsTheSignTests) {
  const auto rank = [](std::size_t n) {
    std::vector<double> values;
    for (std::size_t i = 1; i <= n; ++i) values.push_back(static_cast<double>(i));
    const auto interval = median_interval(values, 0.95);
    if (!interval) return 0;
    EXPECT_EQ(interval->low + interval->high, static_cast<double>(n + 1));
    return static_cast<int>(interval->low);
  };
  EXPECT_EQ(rank(0), 0);
  EXPECT_EQ(rank(5), 0);
  EXPECT_EQ(rank(6), 1);
  EXPECT_EQ(rank(8), 1);
  EXPECT_EQ(rank(9), 2);
  EXPECT_EQ(rank(12), 3);
  EXPECT_EQ(rank(20), 6);
  EXPECT_EQ(rank(25), 8);
  EXPECT_EQ(values_needed(0.95), 6u);
  EXPECT_EQ(values_needed(0.99), 8u);
}

TEST(LoadStatistics, IntervalHoldsTheMedianAsOftenAsItSays) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> skewed(1);  // median ln 2
  int holds = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(15);
    for (double& value : values) value = skewed(random);
    const auto interval = median_interval(values, 0.95);
    ASSERT_TRUE(interval);
    holds += interval->low <= 0.6931472 && 0.6931472 <= interval->high;
  }
  EXPECT_GE(holds, kTrials * 94 / 100);
}

TEST(LoadStatistics, VerdictOnlyWhereTheSpreadAllowsOne) {
  // A drift that both share, larger than the difference, does not hide it.
  std::vector<double> a, b, same;
  for (int i = 0; i < 12; ++i) {
    a.push_back(10 + i * 5.0);
    b.push_back(9.9 + i * 5.0 + (i % 3) * 0.01);
    same.push_back(10 + i * 5.0 + (i % 2 == 0 ? 0.5 : -0.5));
  }
  const Comparison faster = compare_pairs(a, b, 0.95);
  EXPECT_EQ(faster.verdict, Verdict::kSmaller);
  EXPECT_NEAR(faster.difference, -0.09, 0.011);
  EXPECT_EQ(compare_pairs(b, a, 0.95).verdict, Verdict::kLarger);
  EXPECT_EQ(compare_pairs(a, same, 0.95).verdict, Verdict::kNoDifference);
  EXPECT_EQ(compare_pairs(a, a, 0.95).verdict, Verdict::kNoDifference);
  const Comparison few = compare_pairs(std::span(a).first(5), std::span(b).first(5), 0.95);
  EXPECT_EQ(few.verdict, Verdict::kTooFewRuns);
  EXPECT_FALSE(few.interval);
  EXPECT_THROW(compare_pairs(a, std::span(b).first(3), 0.95), base::InvalidInput);
}

// Two equal settings must hardly ever be told apart.
TEST(LoadStatistics, EqualSettingsAreRarelyToldApart) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> noise(0, 0.3);
  int told_apart = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> a(10), b(10);
    for (double& value : a) value = noise(random);
    for (double& value : b) value = noise(random);
    told_apart += compare_pairs(a, b, 0.95).verdict != Verdict::kNoDifference;
  }
  EXPECT_LE(told_apart, 50);
}

}  // namespace
}  // namespace cuzk::cli::load
