#pragma once

#include "base/cuda/stream.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

/// What gpu_check's suites are given and what they hand back.
namespace cuzk::groth16::cuda::gpu_check {

/// One check: `failure` is empty if it held.
struct TestResult {
  std::string suite, name, failure;
};

/// One measurement: milliseconds of `runs` runs after a warm-up, and what they amount to.
struct Timing {
  std::string suite, name;
  std::map<std::string, double> parameters;
  std::vector<double> milliseconds;
  double amount = 0;    // operations or bytes in one run
  std::string unit;     // of `amount`
  std::string failure;  // of the check of one result, outside the timed part

  double median() const {
    std::vector<double> sorted = milliseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
  double least() const {
    return milliseconds.empty() ? 0 : *std::min_element(milliseconds.begin(), milliseconds.end());
  }
  double most() const {
    return milliseconds.empty() ? 0 : *std::max_element(milliseconds.begin(), milliseconds.end());
  }
};

/// What to run, on what, and where results go. One thread.
struct Context {
  unsigned sm_count = 1;
  base::cuda::StreamRef stream;
  int max_log = 27;  // largest size that is timed
  int runs = 5;
  bool test = true, time = true;
  std::size_t test_scale = 1;  // multiplies the larger test sizes
  std::function<void(const TestResult&)> on_test;
  std::function<void(const Timing&)> on_timing;
};

/// Runs `work` once and then `runs` times between events, and reports it.
inline void measure(const Context& context, Timing timing, const std::function<void()>& work) {
  work();
  base::cuda::synchronize(context.stream);
  base::cuda::Event start, end;
  for (int i = 0; i < context.runs; ++i) {
    start.record(context.stream);
    work();
    end.record(context.stream);
    end.synchronize();
    timing.milliseconds.push_back(end.milliseconds_since(start));
  }
  context.on_timing(timing);
}

void run_field_suite(const Context& context);
void run_ntt_suite(const Context& context);
void run_evaluate_suite(const Context& context);
void run_query_inputs_suite(const Context& context);
void run_completion_suite(const Context& context);
void run_msm_g1_suite(const Context& context);
void run_msm_g2_suite(const Context& context);
void run_batch_add_g1_suite(const Context& context);
void run_batch_add_g2_suite(const Context& context);
void run_key_points_g1_suite(const Context& context);
void run_key_points_g2_suite(const Context& context);
void run_key_transfer_suite(const Context& context);
void run_point_transform_suite(const Context& context);

}  // namespace cuzk::groth16::cuda::gpu_check
