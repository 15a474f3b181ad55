#include "service/metrics.hpp"

#include "service/testing/fake_engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace cuzk::service {

namespace {

using ::testing::HasSubstr;

/// The text as a scraper reads it; every deviation from the exposition format fails the test.
struct Scrape {
  std::map<std::string, std::string> types;
  std::map<std::string, double> samples;  // by name with labels

  explicit Scrape(const std::string& text) {
    static const std::regex kMeta(R"(# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+))");
    static const std::regex kSample(
        R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\["\\n])*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\["\\n])*")*\})? (\S+))re");
    EXPECT_TRUE(text.ends_with('\n'));
    std::istringstream lines(text);
    std::string line, current;
    std::set<std::string> helped;
    while (std::getline(lines, line)) {
      std::smatch match;
      if (std::regex_match(line, match, kMeta)) {
        current = match[2];
        const bool is_help = match[1] == "HELP";
        EXPECT_TRUE(is_help ? helped.insert(current).second
                            : types.emplace(current, match[3]).second)
            << "twice: " << line;
        continue;
      }
      if (!std::regex_match(line, match, kSample)) {
        ADD_FAILURE() << "no sample: " << line;
        continue;
      }
      const std::string name = match[1];
      const bool belongs =
          name == current ||
          (types[current] == "histogram" &&
           (name == current + "_bucket" || name == current + "_sum" || name == current + "_count"));
      EXPECT_TRUE(belongs) << line << " stands under " << current;
      EXPECT_TRUE(samples.emplace(name + match[2].str(), std::stod(match[3])).second)
          << "twice: " << line;
    }
    for (const auto& [name, type] : types) {
      EXPECT_TRUE(helped.contains(name)) << name;
      EXPECT_TRUE(type == "counter" || type == "gauge" || type == "histogram") << name;
      EXPECT_FALSE(name.ends_with("_total") && type != "counter") << name;
    }
  }
};

TEST(Metrics, AreValidAndCarryTheValues) {
  const Scrape scrape(prometheus_text(testing::sample_status()));
  const std::map<std::string, double> wanted = {
      // The Rust daemon's names.
      {"cuzk_proofs_completed_total", 20},
      {"cuzk_proofs_failed_total", 4},
      {"cuzk_uptime_seconds", 61.5},
      {"cuzk_queue_depth", 7},
      {"cuzk_proofs_completed{proof_kind=\"porep_c2\"}", 5},
      {"cuzk_proofs_failed{proof_kind=\"snap_update\"}", 1},
      {"cuzk_proof_duration_seconds_count{proof_kind=\"porep_c2\"}", 5},
      {"cuzk_proof_duration_seconds_sum{proof_kind=\"porep_c2\"}", 1900.5},
      {"cuzk_proof_duration_seconds_count{proof_kind=\"winning_post\"}", 0},
      {"cuzk_running_jobs", 4},
      {"cuzk_gpu_workers", 4},
      // Ours.
      {"cuzk_build_info{version=\"0.1.0\"}", 1},
      {"cuzk_ready", 1},
      {"cuzk_requests_refused_total{proof_kind=\"porep_c2\",code=\"BAD-INPUT\"}", 3},
      {"cuzk_jobs_failed_by_code_total{proof_kind=\"porep_c2\",code=\"GPU-FAULT\"}", 1},
      {"cuzk_partition_retries_total", 4},
      {"cuzk_self_check_failures_total", 1},
      {"cuzk_stage_seconds_count{proof_kind=\"porep_c2\",stage=\"msm_h\"}", 5},
      {"cuzk_stage_seconds_bucket{proof_kind=\"porep_c2\",stage=\"msm_h\",le=\"0.1\"}", 1},
      {"cuzk_stage_seconds_bucket{proof_kind=\"porep_c2\",stage=\"msm_h\",le=\"1800\"}", 4},
      {"cuzk_stage_seconds_bucket{proof_kind=\"porep_c2\",stage=\"msm_h\",le=\"+Inf\"}", 5},
      {"cuzk_host_memory_used_bytes", 400},
      {"cuzk_pinned_memory_limit_bytes", 500},
      {"cuzk_srs_bytes{circuit=\"porep-32g\"}", 777},
      {"cuzk_circuit_ready{circuit=\"snap-32g\",readiness=\"missing\"}", 0},
      {"cuzk_device_busy_workers{device=\"cuda:0\",uuid=\"GPU-5f2e\"}", 1},
      {"cuzk_device_quarantined{device=\"cuda:1\",uuid=\"GPU-5f2e\"}", 1},
      {"cuzk_prestage_total{outcome=\"hit\"}", 9},
  };
  for (const auto& [name, value] : wanted) {
    ASSERT_TRUE(scrape.samples.contains(name)) << name;
    EXPECT_EQ(scrape.samples.at(name), value) << name;
  }
  EXPECT_EQ(scrape.types.at("cuzk_proofs_completed"), "counter");
}

// A counter that begins with its first event has no increase.
TEST(Metrics, CountersByErrorCodeAreThereBeforeTheFirstError) {
  engine::Status status = testing::sample_status();
  for (auto& [kind, counters] : status.counters.kinds) counters.refused = counters.failed_with = {};
  const Scrape scrape(prometheus_text(status));
  for (const std::string name : {"cuzk_jobs_failed_by_code_total", "cuzk_requests_refused_total"}) {
    const auto count = std::ranges::count_if(
        scrape.samples, [&](const auto& sample) { return sample.first.starts_with(name); });
    EXPECT_EQ(count, 4 * 18) << name;
    for (const char* code : {"BAD-INPUT", "SELF-CHECK-FAILED", "INTERNAL"}) {
      const std::string sample = name + "{proof_kind=\"winning_post\",code=\"" + code + "\"}";
      ASSERT_TRUE(scrape.samples.contains(sample)) << sample;
      EXPECT_EQ(scrape.samples.at(sample), 0) << sample;
    }
  }
}

TEST(Metrics, LabelsAreEscaped) {
  engine::Status status = testing::sample_status();
  status.devices[0].uuid = "a\"b\\c\nd";
  const std::string text = prometheus_text(status);
  EXPECT_THAT(text, HasSubstr(R"(uuid="a\"b\\c\nd"})"));
  const Scrape scrape(text);
}

// What the engine counts is what a scraper sees: buckets are cumulative.
TEST(Metrics, BucketsFollowTheEnginesHistogram) {
  engine::Status status = testing::sample_status();
  engine::Histogram& histogram = status.counters.kinds[engine::ProofKind::kSnap].stages["total"];
  for (const double seconds : {0.002, 0.3, 0.3, 5000.0}) histogram.add(seconds);
  const Scrape scrape(prometheus_text(status));
  const auto bucket = [&](const std::string& le) {
    return scrape.samples.at("cuzk_proof_duration_seconds_bucket{proof_kind=\"snap_update\",le=\"" +
                             le + "\"}");
  };
  EXPECT_EQ(bucket("0.001"), 0);
  EXPECT_EQ(bucket("0.005"), 1);
  EXPECT_EQ(bucket("0.25"), 1);
  EXPECT_EQ(bucket("0.5"), 3);
  EXPECT_EQ(bucket("1800"), 3);
  EXPECT_EQ(bucket("+Inf"), 4);
}

}  // namespace

}  // namespace cuzk::service
