// cuzk_gpu_check: runs the tests and timings of all device code on this machine's GPU and writes
// them as JSON. Exit status 0 only if every check held.

#include "base/cuda/device.hpp"
#include "groth16/ops/cuda/gpu_check/ceilings.hpp"
#include "groth16/ops/cuda/gpu_check/report.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cuzk::groth16::cuda::gpu_check {
namespace {

const std::map<std::string, void (*)(const Context&)> kSuites = {
    {"field", run_field_suite},
    {"ntt", run_ntt_suite},
    {"evaluate", run_evaluate_suite},
    {"query_inputs", run_query_inputs_suite},
    {"completion", run_completion_suite},
    {"msm_g1", run_msm_g1_suite},
    {"msm_g2", run_msm_g2_suite},
    {"batch_add_g1", run_batch_add_g1_suite},
    {"batch_add_g2", run_batch_add_g2_suite},
    {"key_points_g1", run_key_points_g1_suite},
    {"key_points_g2", run_key_points_g2_suite},
    {"key_transfer", run_key_transfer_suite},
    {"point_transform", run_point_transform_suite},
};

struct Options {
  std::vector<std::string> suites;
  std::string mode = "all";
  std::string json;
  int device = 0, max_log = 27, runs = 5;
  std::size_t test_scale = 20;
};

nlohmann::json describe(const base::cuda::DeviceInfo& info) {
  return {{"name", info.name},
          {"capability", fmt::format("{}.{}", info.capability_major, info.capability_minor)},
          {"sm_count", info.sm_count},
          {"memory_bytes", info.total_bytes},
          {"driver", info.driver_version},
          {"runtime", info.runtime_version}};
}

class Results {
 public:
  void add(const TestResult& test) {
    tests_.push_back({{"suite", test.suite},
                      {"name", test.name},
                      {"ok", test.failure.empty()},
                      {"failure", test.failure}});
    ++test_count_;
    if (test.failure.empty()) return;
    ++failures_;
    fmt::print("FAIL {} {}: {}\n", test.suite, test.name, test.failure);
    std::fflush(stdout);
  }
  void add(const Timing& timing) {
    const double median = timing.median(), rate = median > 0 ? timing.amount / median * 1e-6 : 0;
    timings_.push_back(timing);
    std::string parameters;
    for (const auto& [key, value] : timing.parameters)
      parameters += fmt::format(" {}={:g}", key, value);
    fmt::print("{:<12} {:<34}{:<28} {:>10.3f} ms [{:.3f} {:.3f}] {:>9.3f} G {}/s {}\n",
               timing.suite, timing.name, parameters, median, timing.least(), timing.most(), rate,
               timing.unit, timing.failure.empty() ? "OK" : "FAIL: " + timing.failure);
    std::fflush(stdout);
    if (!timing.failure.empty()) ++failures_;
  }
  void add_error(const std::string& suite, const std::string& text) {
    add(TestResult{suite, "run", text});
  }
  bool ok() const { return failures_ == 0 && (test_count_ > 0 || !timings_.empty()); }
  void print_summary(const std::string& suite, double seconds) {
    fmt::print("-- {}: {} checks so far, {} failures, {:.1f} s\n", suite, test_count_, failures_,
               seconds);
    std::fflush(stdout);
  }
  nlohmann::json json() const {
    nlohmann::json timings = nlohmann::json::array();
    for (const Timing& timing : timings_) timings.push_back(describe(timing));
    return {{"tests", tests_}, {"timings", timings}, {"failures", failures_}};
  }
  /// The largest of each kind, against what the device's arithmetic would allow.
  void print_ceilings() const {
    for (const Timing& timing : timings_) {
      const std::optional<Ceiling> ceiling = ceiling_of(timing, timings_);
      if (ceiling)
        fmt::print("{:<14} {:<26} {:>10.3f} ms, at best {:>10.3f} ms ({}): {:.0f} %\n",
                   timing.suite, timing.name, timing.median(), ceiling->milliseconds, ceiling->what,
                   100 * ceiling->milliseconds / timing.median());
    }
  }

 private:
  nlohmann::json describe(const Timing& timing) const {
    const double median = timing.median();
    nlohmann::json out = {{"suite", timing.suite},
                          {"name", timing.name},
                          {"parameters", timing.parameters},
                          {"median_ms", median},
                          {"min_ms", timing.least()},
                          {"max_ms", timing.most()},
                          {"amount", timing.amount},
                          {"unit", timing.unit},
                          {"giga_per_s", median > 0 ? timing.amount / median * 1e-6 : 0},
                          {"ok", timing.failure.empty()},
                          {"failure", timing.failure}};
    if (const std::optional<Ceiling> ceiling = ceiling_of(timing, timings_)) {
      out["ceiling"] = {{"ms", ceiling->milliseconds},
                        {"what", ceiling->what},
                        {"share", median > 0 ? ceiling->milliseconds / median : 0}};
    }
    return out;
  }

  nlohmann::json tests_ = nlohmann::json::array();
  std::vector<Timing> timings_;
  int test_count_ = 0, failures_ = 0;
};

int run(const Options& options) {
  const base::cuda::Device device(options.device);
  device.make_current();
  fmt::print("{} (capability {}.{}, {} SMs, {:.1f} GiB, driver {}, runtime {})\n",
             device.info().name, device.info().capability_major, device.info().capability_minor,
             device.info().sm_count, static_cast<double>(device.info().total_bytes) / (1 << 30),
             device.info().driver_version, device.info().runtime_version);
  Results results;
  const base::cuda::Stream stream;
  Context context;
  context.sm_count = device.info().sm_count;
  context.stream = stream.ref();
  context.max_log = options.max_log;
  context.runs = options.runs;
  context.test = options.mode != "time";
  context.time = options.mode != "test";
  context.test_scale = options.test_scale;
  context.on_test = [&](const TestResult& test) { results.add(test); };
  context.on_timing = [&](const Timing& timing) { results.add(timing); };
  for (const std::string& suite : options.suites) {
    const auto start = std::chrono::steady_clock::now();
    try {
      kSuites.at(suite)(context);
    } catch (const std::exception& error) {
      results.add_error(suite, error.what());
    }
    results.print_summary(
        suite, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  results.print_ceilings();
  if (!options.json.empty()) {
    nlohmann::json json = results.json();
    json["device"] = describe(device.info());
    std::ofstream(options.json) << json.dump(1) << '\n';
  }
  fmt::print("{}\n", results.ok() ? "ALL OK" : "FAILED");
  return results.ok() ? 0 : 1;
}

}  // namespace
}  // namespace cuzk::groth16::cuda::gpu_check

int main(int argc, char** argv) {
  using namespace cuzk::groth16::cuda::gpu_check;
  CLI::App app{"Tests and times cuzk's device code on this machine's GPU"};
  Options options;
  std::vector<std::string> names;
  for (const auto& [name, suite] : kSuites) names.push_back(name);
  options.suites = names;
  app.add_option("--suite", options.suites, "suites to run, separated by commas (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--mode", options.mode, "test, time or all")
      ->check(CLI::IsMember({"test", "time", "all"}));
  app.add_option("--device", options.device, "CUDA device");
  app.add_option("--max-log", options.max_log, "largest log2 of a size that is timed")
      ->check(CLI::Range(10, 27));
  app.add_option("--runs", options.runs, "timed runs a measurement")->check(CLI::Range(1, 100));
  app.add_option("--test-scale", options.test_scale, "multiplies the larger test sizes")
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", options.json, "file to write results to");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "cuzk_gpu_check: {}\n", error.what());
    return 2;
  }
}
