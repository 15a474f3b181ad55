#include "cli/load/metrics_text.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace cuzk::cli::load {
namespace {

TEST(MetricsText, SamplesAreFoundByNameAndLabels) {
  const MetricsText metrics(
      "# HELP jobs Jobs\n# TYPE jobs counter\n"
      "jobs{kind=\"porep_c2\",code=\"BAD-INPUT\"} 3\n"
      "jobs{kind=\"porep_c2\",code=\"STALL\"} 2\n"
      "jobs{kind=\"window_post\",code=\"STALL\"} 0.5\n"
      "jobs_seconds_bucket{le=\"+Inf\"} +Inf\n\n"
      "up 1e-3\n");
  EXPECT_EQ(metrics.sum("jobs"), 5.5);
  EXPECT_EQ(metrics.sum("jobs", {{"kind", "porep_c2"}}), 5);
  EXPECT_EQ(metrics.sum("jobs", {{"kind", "porep_c2"}, {"code", "STALL"}}), 2);
  EXPECT_EQ(metrics.sum("jobs", {{"device", "cpu"}}), 0);
  EXPECT_EQ(metrics.sum("job"), 0);
  EXPECT_EQ(metrics.sum("up"), 1e-3);
  EXPECT_TRUE(metrics.has("jobs_seconds_bucket"));
  EXPECT_FALSE(metrics.has("jobs_seconds"));
  const std::map<std::string, double> by_code{{"BAD-INPUT", 3}, {"STALL", 2.5}};
  EXPECT_EQ(metrics.sum_by("jobs", "code"), by_code);
  EXPECT_EQ(metrics.sum_by("jobs", "kind", {{"code", "BAD-INPUT"}}).size(), 1u);
}

TEST(MetricsText, EscapedLabels) {
  const MetricsText metrics("a{b=\"x\\\"y\\\\z\\n, }\"} 7");
  EXPECT_EQ(metrics.sum("a", {{"b", "x\"y\\z\n, }"}}), 7);
}

TEST(MetricsText, AnythingElseIsRefused) {
  for (const char* text :
       {"a", "a{", "a{b} 1", "a{b=\"c} 1", "a{b=c} 1", "a x1", "a 1x", "{a=\"b\"} 1"})
    EXPECT_THROW(MetricsText{text}, base::InvalidInput) << text;
}

}  // namespace
}  // namespace cuzk::cli::load
