#pragma once

#include "base/error.hpp"
#include "curve/device/points.hpp"

#include <algorithm>
#include <cstddef>

/// How a 0/1 sum (batch_add.cuh, group_table.cuh) is cut up; plain numbers, known before anything
/// is enqueued.
namespace cuzk::groth16::cuda {

/// Shapes found by timing on H200 (gpu_check batch_add).
template <class G>
struct BatchAddShape;
template <>
struct BatchAddShape<curve::device::G1> {
  static constexpr unsigned kThreads = 128, kBlocks = 4, kShare = 4, kMaxBatch = 128;
};
template <>
struct BatchAddShape<curve::device::G2> {
  static constexpr unsigned kThreads = 384, kBlocks = 1, kShare = 1, kMaxBatch = 64;
};

struct BatchAddPlan {
  std::size_t n = 0;      // bases, below 2^31
  unsigned sm_count = 1;  // multiprocessors of the device
  std::size_t slice =
      0;  // bases worked on at a time; bounds the workspace (about 150 B a base of a slice in G1)
  std::size_t tree_threshold = 0;
  unsigned max_batch = 0;  // additions that share an inversion, a thread

  /// `slice` of 0 takes all bases at once.
  template <class G>
  static BatchAddPlan make(std::size_t n, unsigned sm_count, std::size_t slice) {
    using Shape = BatchAddShape<G>;
    base::require(n < std::size_t{1} << 31, "0/1 sum of {} points: at most 2^31 - 1", n);
    BatchAddPlan plan;
    plan.n = n;
    plan.sm_count = sm_count;
    plan.slice = slice == 0 ? std::max<std::size_t>(n, 1) : (slice + 31) / 32 * 32;
    const std::size_t points_at_once =
        std::size_t{sm_count} * Shape::kBlocks * (Shape::kThreads / G::kLanes);
    // Below about three additions a thread a level costs an inversion's latency and no longer pays.
    plan.tree_threshold = 3 * points_at_once;
    const std::size_t longest = (std::min(n, plan.slice) / 2 + points_at_once - 1) / points_at_once;
    plan.max_batch = static_cast<unsigned>(std::clamp<std::size_t>(longest, 1, Shape::kMaxBatch));
    return plan;
  }
  std::size_t slices() const { return (n + slice - 1) / slice; }
};

/// A group table holds kGroupEntries points for every kGroupBases bases.
inline constexpr std::size_t kGroupBases = 4, kGroupEntries = 8;

/// Points of the table of n bases.
inline std::size_t group_table_points(std::size_t n) {
  return (n + kGroupBases - 1) / kGroupBases * kGroupEntries;
}

/// The plan of a grouped sum over n bases: that of a sum over its groups.
template <class G>
BatchAddPlan make_grouped_plan(std::size_t n, unsigned sm_count) {
  return BatchAddPlan::make<G>(group_table_points(n) / kGroupEntries, sm_count, 0);
}

}  // namespace cuzk::groth16::cuda
