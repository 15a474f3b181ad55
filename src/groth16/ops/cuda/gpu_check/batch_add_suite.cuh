#pragma once

#include "groth16/ops/cuda/gpu_check/inputs.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"
#include "groth16/ops/cuda/group_table_check.cuh"

#include <string>

namespace cuzk::groth16::cuda::gpu_check {

static __global__ void __launch_bounds__(256) fill_bits(std::uint32_t* bits, std::uint32_t words) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i < words) bits[i] = static_cast<std::uint32_t>(mix(0x5555000000000000 + i));
}

template <class G>
void test_batch_add(const Context& context, const std::string& suite) {
  for (const std::size_t scale : {std::size_t{1}, context.test_scale}) {
    for (const checks::BatchAddCase& c : checks::batch_add_cases(scale)) {
      const std::string name = "n=" + std::to_string(c.n) +
                               " bases=" + std::to_string(static_cast<int>(c.bases)) +
                               " ones=" + std::to_string(c.ones_in_256) + "/256";
      context.on_test(
          {suite, name, checks::check_batch_add<G>(c, context.sm_count, context.stream)});
      context.on_test({suite, "grouped " + name,
                       checks::check_grouped<G>(c, context.sm_count, context.stream)});
    }
  }
}

/// Half of n bases, whose number is a multiple of 32.
template <class G>
void time_batch_add(const Context& context, const std::string& suite, std::size_t n,
                    std::size_t slice, const StoredAffine<G>* bases, const std::uint32_t* bits) {
  const BatchAddPlan plan = BatchAddPlan::make<G>(n, context.sm_count, slice);
  const base::cuda::DeviceBuffer<std::byte> workspace(batch_add_workspace<G>(plan), "workspace");
  const base::cuda::DeviceBuffer<StoredXyzz<G>> result(1, "result");
  const auto work = [&] {
    batch_add<G>(plan, {bases, n}, {bits, n / 32}, workspace.span(), result.data(), context.stream);
  };
  work();
  const HostPoint<G> got = curve::device::to_blst(result.download(context.stream)[0]);
  Timing t;
  t.suite = suite;
  t.name = "batch_add";
  t.parameters = {{"n", static_cast<double>(n)}, {"slice", static_cast<double>(slice)}};
  t.amount = static_cast<double>(n);
  t.unit = "base";
  if (!curve::device::testing::same(got, wanted_sum<G>(nullptr, bits, n, context.stream)))
    t.failure = "the result is wrong";
  measure(context, t, work);
}

/// The same sum through a table of groups, and the making of the table.
template <class G>
void time_grouped(const Context& context, const std::string& suite, std::size_t n,
                  const StoredAffine<G>* bases, const std::uint32_t* bits) {
  const base::cuda::StreamRef stream = context.stream;
  const BatchAddPlan plan = make_grouped_plan<G>(n, context.sm_count),
                     all_plan = BatchAddPlan::make<G>(n, context.sm_count, 0);
  const base::cuda::DeviceBuffer<StoredAffine<G>> table(group_table_points(n), "group table");
  const base::cuda::DeviceBuffer<std::byte> workspace(
      std::max(grouped_workspace<G>(plan), batch_add_workspace<G>(all_plan)), "workspace");
  const base::cuda::DeviceBuffer<StoredXyzz<G>> result(1, "result");
  const base::cuda::DeviceBuffer<std::uint32_t> ones(n / 32, "ones");
  base::cuda::fill_bytes(ones.data(), 0xff, n / 8, stream);
  base::cuda::Event start, end;
  start.record(stream);
  make_group_table<G>({bases, n}, n, table.span(), stream);
  end.record(stream);
  end.synchronize();
  Timing t;
  t.suite = suite;
  t.name = "making of a group table";
  t.parameters = {{"n", static_cast<double>(n)}};
  t.amount = static_cast<double>(table.size()) * sizeof(StoredAffine<G>);
  t.unit = "byte";
  t.milliseconds = {end.milliseconds_since(start)};
  context.on_timing(t);
  batch_add<G>(all_plan, {bases, n}, ones.const_span(), workspace.span(), result.data(), stream);
  const HostPoint<G> all = curve::device::to_blst(result.download(stream)[0]);
  const auto work = [&] {
    batch_add_grouped<G>(plan, table.const_span(), {bits, n / 32}, workspace.span(), result.data(),
                         stream);
  };
  work();
  const HostPoint<G> got =
      finish_grouped_sum(curve::device::to_blst(result.download(stream)[0]), all);
  t.name = "batch_add_grouped";
  t.amount = static_cast<double>(n);
  t.unit = "base";
  t.milliseconds.clear();
  if (!curve::device::testing::same(got, wanted_sum<G>(nullptr, bits, n, stream)))
    t.failure = "the result is wrong";
  measure(context, t, work);
}

template <class G>
void run_batch_add_suite(const Context& context, const std::string& suite, int largest_log) {
  if (context.test) test_batch_add<G>(context, suite);
  if (!context.time) return;
  const std::size_t most = std::size_t{1} << std::min(context.max_log, largest_log);
  const auto bases = large_bases<G>(most, context.stream);
  const base::cuda::DeviceBuffer<std::uint32_t> bits(most / 32, "bits");
  base::cuda::launch(fill_bits, {base::cuda::blocks_for(most / 32, 256), 256, 0}, context.stream,
                     bits.data(), static_cast<std::uint32_t>(most / 32));
  for (const int log : {16, 20, 24, 25, 27}) {
    const std::size_t n = std::size_t{1} << log;
    if (n <= most) time_batch_add<G>(context, suite, n, 0, bases.data(), bits.data());
  }
  time_grouped<G>(context, suite, most, bases.data(), bits.data());
  if (most == std::size_t{1} << 27)
    time_batch_add<G>(context, suite, most, std::size_t{1} << 25, bases.data(), bits.data());
}

}  // namespace cuzk::groth16::cuda::gpu_check
