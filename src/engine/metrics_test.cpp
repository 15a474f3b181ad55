#include "engine/metrics.hpp"

#include "engine/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;

TEST(HistogramTest, CountsUpToEachBound) {
  Histogram histogram;
  for (const double seconds : {0.0005, 0.001, 0.3, 7.0, 5000.0}) histogram.add(seconds);
  EXPECT_EQ(histogram.count, 5U);
  EXPECT_DOUBLE_EQ(histogram.sum_seconds, 5007.3015);
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    const double bound = Histogram::kBounds[i];
    const std::uint64_t expected = 2U + (bound >= 0.3 ? 1 : 0) + (bound >= 7.0 ? 1 : 0);
    EXPECT_EQ(histogram.counts[i], expected) << bound;
  }
  EXPECT_EQ(histogram.counts.back(), 5U);
}

TEST(MetricsTest, AllFourKindsAreAlwaysThere) {
  Metrics metrics;
  EXPECT_EQ(metrics.counters().kinds.size(), 4U);
  metrics.refused(static_cast<ProofKind>(9), ErrorCode::kBadInput);
  EXPECT_EQ(metrics.counters().kinds.size(), 4U);
}

TEST(MetricsTest, EndsAreCountedByStateAndCode) {
  Metrics metrics;
  JobResult result;
  result.timings.total = 1500ms;
  for (const auto& [state, code] : {std::pair(JobState::kCompleted, ErrorCode::kNone),
                                    std::pair(JobState::kFailed, ErrorCode::kGpuFault),
                                    std::pair(JobState::kFailed, ErrorCode::kGpuFault),
                                    std::pair(JobState::kCancelled, ErrorCode::kSuperseded)}) {
    result.state = state;
    result.code = code;
    metrics.ended(ProofKind::kSnap, result);
  }
  const Counters::ByKind counts = metrics.counters().kinds.at(ProofKind::kSnap);
  EXPECT_EQ(counts.completed, 1U);
  EXPECT_EQ(counts.failed, 2U);
  EXPECT_EQ(counts.cancelled, 1U);
  EXPECT_EQ(counts.failed_with, (std::map<std::string, std::uint64_t>{{"GPU-FAULT", 2}}));
  EXPECT_EQ(counts.stages.at("total").count, 1U) << "of completed jobs";
  EXPECT_DOUBLE_EQ(counts.stages.at("total").sum_seconds, 1.5);
  EXPECT_EQ(counts.stages.at("queue_wait").count, 4U) << "all jobs wait";
}

TEST(TraceTest, StagesLieWithinTheirSpanAndOldOnesGo) {
  Trace trace(3);
  base::StageTimer timer;
  timer.add("msm_h", 2ms);
  timer.add("assemble", 1ms);
  const auto begin = Trace::Clock::now();
  trace.add({"row", "old", "a", std::nullopt, "", begin, 1ms});
  trace.add({"row", "device", "b", 4, "cuda:0", begin, 4ms}, timer);
  const nlohmann::json events = nlohmann::json::parse(trace.json()).at("traceEvents");
  std::vector<std::string> names;
  for (const auto& event : events) {
    if (event.at("ph") == "X") names.push_back(event.at("name"));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"device", "msm_h", "assemble"}));
  EXPECT_DOUBLE_EQ(events[1].at("ts"), events[0].at("ts"));
  EXPECT_NEAR(events[2].at("ts").get<double>() - events[1].at("ts").get<double>(), 2000, 1e-3);
  EXPECT_DOUBLE_EQ(events[2].at("dur"), 1000);
  EXPECT_EQ(events[2].at("args").at("partition"), 4);
  EXPECT_EQ(events[3].at("name"), "thread_name");
  EXPECT_EQ(events[3].at("args").at("name"), "row");
}

}  // namespace
}  // namespace cuzk::engine
