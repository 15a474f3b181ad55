#pragma once

#include "groth16/ops/cuda/batch_add_check.cuh"
#include "groth16/ops/cuda/group_table.cuh"
#include "groth16/ops/cuda/grouped_finish.hpp"

#include <string>
#include <vector>

namespace cuzk::groth16::cuda::checks {

/// The same cases as batch_add, through a table of groups; the sum of all bases by batch_add
/// itself.
template <class G>
std::string check_grouped(const BatchAddCase& c, unsigned sm_count, base::cuda::StreamRef stream) {
  const TestBases<G> bases(c.bases, c.n, 31);
  std::vector<std::uint32_t> bits((c.n + 31) / 32, 0xffffffffu);
  __int128 wanted = 0, all = 0;
  for (std::size_t i = 0; i < c.n; ++i) {
    all += bases.multiples[i];
    if (mix(91 * c.n + i) % 256 < c.ones_in_256) {
      wanted += bases.multiples[i];
    } else {
      bits[i / 32] &= ~(1u << (i % 32));
    }
  }
  BatchAddPlan plan = make_grouped_plan<G>(c.n, sm_count);
  if (c.tree_threshold != 0) plan.tree_threshold = c.tree_threshold;
  if (c.max_batch != 0) plan.max_batch = c.max_batch;
  const auto device_points = uploaded(bases.points, "bases", stream);
  const auto device_bits = uploaded(bits, "bits", stream);
  const Guarded<StoredAffine<G>> table(group_table_points(c.n), "table", stream);
  const Guarded<std::byte> workspace(grouped_workspace<G>(plan), "workspace", stream);
  const Guarded<StoredXyzz<G>> result(1, "result", stream);
  make_group_table<G>(device_points.const_span(), c.n, table.span(), stream);
  batch_add_grouped<G>(plan, table.span(), device_bits.const_span(), workspace.span(),
                       result.data(), stream);
  const HostPoint<G> got =
      finish_grouped_sum(curve::device::to_blst(result.download()[0]), small_multiple<G>(all));
  if (workspace.broken() || result.broken() || table.broken())
    return "wrote beyond its workspace, table or result";
  if (!curve::device::testing::same(got, small_multiple<G>(wanted))) {
    return "grouped sum of " + std::to_string(c.n) + " points is wrong (bases " +
           std::to_string(static_cast<int>(c.bases)) + ", ones " + std::to_string(c.ones_in_256) +
           "/256)";
  }
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
