#pragma once

#include "groth16/ops/cuda/batch_add.cuh"
#include "groth16/ops/cuda/check.hpp"

#include <string>
#include <vector>

namespace cuzk::groth16::cuda::checks {

struct BatchAddCase {
  std::size_t n;
  Bases bases;
  unsigned ones_in_256;  // share of ones; 256: all
  std::size_t slice = 0;
  // 0: as planned. Small values make small inputs pass through many levels and tiles.
  std::size_t tree_threshold = 0;
  unsigned max_batch = 0;
};

/// Sizes around a warp, a block, a word and several blocks; none, some, all ones; special points.
/// `scale` multiplies the larger sizes.
inline std::vector<BatchAddCase> batch_add_cases(std::size_t scale) {
  std::vector<BatchAddCase> cases;
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 127, 128, 129, 1000})
    cases.push_back({n, Bases::kDistinct, 128});
  for (const Bases bases :
       {Bases::kDistinct, Bases::kFewPoints, Bases::kAllEqual, Bases::kAllIdentity}) {
    for (const unsigned ones : {0u, 128u, 256u})
      cases.push_back({1537 * scale, bases, ones, 0, 5, 2});
    cases.push_back({2048 * scale + 33, bases, 200, 1000, 100, 3});
  }
  cases.push_back({5000 * scale, Bases::kFewPoints, 250});
  return cases;
}

template <class G>
std::string check_batch_add(const BatchAddCase& c, unsigned sm_count,
                            base::cuda::StreamRef stream) {
  const TestBases<G> bases(c.bases, c.n, 11);
  std::vector<std::uint32_t> bits((c.n + 31) / 32, 0);
  __int128 wanted = 0;
  for (std::size_t i = 0; i < c.n; ++i) {
    if (mix(77 * c.n + i) % 256 >= c.ones_in_256) continue;
    bits[i / 32] |= 1u << (i % 32);
    wanted += bases.multiples[i];
  }
  if (c.n % 32 != 0)
    bits.back() |= ~((1u << (c.n % 32)) - 1);  // bits beyond the end must not count
  BatchAddPlan plan = BatchAddPlan::make<G>(c.n, sm_count, c.slice);
  if (c.tree_threshold != 0) plan.tree_threshold = c.tree_threshold;
  if (c.max_batch != 0) plan.max_batch = c.max_batch;
  const auto device_points = uploaded(bases.points, "bases", stream);
  const auto device_bits = uploaded(bits, "bits", stream);
  const Guarded<std::byte> workspace(batch_add_workspace<G>(plan), "workspace", stream);
  const Guarded<StoredXyzz<G>> result(1, "result", stream);
  batch_add<G>(plan, device_points.const_span(), device_bits.const_span(), workspace.span(),
               result.data(), stream);
  const StoredXyzz<G> got = result.download()[0];
  if (workspace.broken() || result.broken()) return "wrote beyond its workspace or result";
  if (!curve::device::testing::same(curve::device::testing::to_blst(got),
                                    small_multiple<G>(wanted))) {
    return "sum of " + std::to_string(c.n) + " points is wrong (bases " +
           std::to_string(static_cast<int>(c.bases)) + ", ones " + std::to_string(c.ones_in_256) +
           "/256, slice " + std::to_string(c.slice) + ")";
  }
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
