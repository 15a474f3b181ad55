#pragma once

#include "groth16/cuda/plan.hpp"
#include "groth16/ops/cuda/instances/msm.hpp"

#include <algorithm>
#include <cstdint>

namespace cuzk::groth16::cuda {

/// Plan of a dense sum of a lane: windows as wide as `request` asks for, as far as there are
/// windows so wide and no more than 2^32 digits; chosen by `n` if it asks for none.
template <class G>
MsmPlan dense_plan(std::size_t n, const LaneRequest& request) {
  MsmPlan plan = make_msm_plan<G>(n, request.sm_count);
  if (request.window_bits == 0) return plan;
  constexpr std::size_t kMostDigits = (std::size_t{1} << 32) - 1;
  const std::size_t wanted = (256 + request.window_bits - 1) / request.window_bits;
  const std::size_t most =
      std::min<std::size_t>(MsmWindows::kMax, kMostDigits / std::max<std::size_t>(n, 1));
  const std::size_t count = std::max<std::size_t>(std::min(wanted, most), MsmWindows::kMin);
  plan.set_windows(static_cast<int>(count), msm_buckets_at_once<G>(request.sm_count));
  return plan;
}

}  // namespace cuzk::groth16::cuda
