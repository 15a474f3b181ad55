#pragma once

#include "groth16/ops/cuda/gpu_check/inputs.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"
#include "groth16/ops/cuda/msm_check.cuh"

#include <string>

namespace cuzk::groth16::cuda::gpu_check {

template <class G>
void test_msm(const Context& context, const std::string& suite) {
  for (const std::size_t scale : {std::size_t{1}, context.test_scale}) {
    for (const checks::MsmCase& c : checks::msm_cases(scale)) {
      const std::string name = "n=" + std::to_string(c.n) + " scalars=" + checks::name(c.scalars) +
                               " bases=" + std::to_string(static_cast<int>(c.bases)) +
                               (c.affine ? " affine" : " xyzz");
      context.on_test({suite, name, checks::check_msm<G>(c, context.sm_count, context.stream)});
    }
  }
}

/// The whole MSM and its stages, with the planned way and the other one.
template <class G>
void time_msm(const Context& context, const std::string& suite, std::size_t n,
              const StoredAffine<G>* bases, const Fr* scalars, int windows, Accumulation way) {
  const base::cuda::StreamRef stream = context.stream;
  MsmPlan plan = make_msm_plan<G>(n, context.sm_count);
  if (windows != 0) plan.set_windows(windows, msm_buckets_at_once<G>(context.sm_count));
  plan.accumulation = way;
  const base::cuda::DeviceBuffer<std::byte> workspace(msm_workspace<G>(plan), "workspace");
  const base::cuda::DeviceBuffer<StoredXyzz<G>> out(2 * plan.final_sums(), "sums");
  base::cuda::Carver carver(workspace.span());
  const auto buffers = msm_detail::Buffers<G>::carve(plan, carver);
  const auto whole = [&] {
    msm<G>(plan, {bases, n}, {scalars, n}, nullptr, workspace.span(), out.span(), stream);
  };
  whole();
  const bool right = curve::device::testing::same(finish_msm(plan, out.download(stream)),
                                                  wanted_sum<G>(scalars, nullptr, n, stream));
  const double additions = static_cast<double>(n) * plan.windows.count - plan.windows.buckets();
  const auto timing = [&](const std::string& stage) {
    Timing t;
    t.suite = suite;
    t.name = stage + (way == Accumulation::kAffine ? " (affine)" : " (xyzz)");
    t.parameters = {{"n", static_cast<double>(n)}, {"windows", plan.windows.count}};
    t.failure = right ? "" : "the result is wrong";
    return t;
  };
  Timing t = timing("msm");
  t.amount = static_cast<double>(n);
  t.unit = "product";
  measure(context, t, whole);
  t = timing("  digits, sort");
  t.amount = static_cast<double>(n) * plan.windows.count;
  t.unit = "digit";
  measure(context, t, [&] {
    msm_detail::sort_into_buckets(plan, scalars, nullptr, msm_detail::kPiece<G>, buffers.lists,
                                  buffers.sort, stream);
  });
  // The lists survive everything that follows; the queue of tiles must be reset.
  t = timing("  accumulate");
  t.amount = additions;
  t.unit = "addition";
  measure(context, t, [&] {
    base::cuda::fill_bytes(&buffers.lists.counters.data->next_tile, 0, sizeof(std::uint32_t),
                           stream);
    msm_detail::accumulate<G>(plan, bases, buffers, stream);
  });
  t = timing("  reduce");
  t.amount = plan.windows.buckets();
  t.unit = "bucket";
  measure(context, t, [&] {
    if (way == Accumulation::kXyzz) {
      msm_detail::reduce<G>(plan, buffers.sums.xyzz.data, buffers.sums, out.data(), stream);
    } else {
      msm_detail::reduce<G>(plan, buffers.sums.affine.data, buffers.sums, out.data(), stream);
    }
  });
}

}  // namespace cuzk::groth16::cuda::gpu_check
