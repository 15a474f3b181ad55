#pragma once

#include "base/cuda/launch.hpp"
#include "base/cuda/span.hpp"
#include "base/cuda/stream.hpp"
#include "base/error.hpp"
#include "curve/device/points.hpp"
#include "groth16/ops/cuda/instances/batch_add.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

/// Sums over points that stay in host memory, for a device that is too small for the whole key.
///
/// Every point travels once a pass and the journey is what a pass costs (34.6 GB of bits in a 32
/// GiB PoRep key: 0.7 s at 50 GB/s), so several partitions share one: each slice is used for all of
/// them while it is on the device.
namespace cuzk::groth16::cuda {

/// Brings an array from pinned host memory to the device in slices, through two buffers: while the
/// work on one slice runs, the next one is on its way. Owns a copy stream. One thread.
class SlicePass {
 public:
  /// Points of a slice for buffers of this size: half of it, a multiple of 32 points, so that a
  /// slice starts at a whole word of bits. Throws InvalidInput if that is none.
  template <class Point>
  static std::size_t slice_points(std::size_t buffer_bytes) {
    const std::size_t points = buffer_bytes / 2 / sizeof(Point) / 32 * 32;
    base::require(points != 0, "a pass over a key in host memory: {} bytes hold no slice",
                  buffer_bytes);
    return points;
  }
  /// Slices of a pass over `count` points.
  static constexpr std::size_t slice_count(std::size_t count, std::size_t slice) {
    return (count + slice - 1) / slice;
  }

  /// Enqueues a pass over `points`, in pinned memory: for each slice, in order, its copy, and then
  /// whatever use(slice, first) enqueues on `stream`, where `slice` is points[first], .... Returns
  /// before anything has run. `buffers` belong to the pass until what is enqueued on `stream` has
  /// run; what was enqueued there before may still use them.
  template <class Point, class Use>
  void run(std::span<const Point> points, base::cuda::DeviceSpan<std::byte> buffers,
           base::cuda::StreamRef stream, Use&& use) {
    const std::size_t slice = slice_points<Point>(buffers.size);
    started_.record(stream);
    started_.block(copies_.ref());
    for (std::size_t first = 0, k = 0; first < points.size(); first += slice, ++k) {
      const std::span<const Point> part =
          points.subspan(first, std::min(slice, points.size() - first));
      Slot& slot = slots_[k % 2];
      const base::cuda::DeviceSpan<Point> on_device(
          reinterpret_cast<Point*>(buffers.data) + k % 2 * slice, part.size());
      if (k >= 2) slot.used.block(copies_.ref());
      base::cuda::copy_bytes(on_device.data, part.data(), part.size_bytes(), copies_.ref());
      slot.copied.record(copies_.ref());
      slot.copied.block(stream);
      use(base::cuda::DeviceSpan<const Point>(on_device), first);
      slot.used.record(stream);
    }
  }

 private:
  struct Slot {
    base::cuda::Event copied, used;
  };

  base::cuda::Stream copies_;
  base::cuda::Event started_;
  std::array<Slot, 2> slots_;
};

/// 0/1 sums of several partitions over one array of bits' points in host memory, in one pass.
template <class G>
struct StreamedSums {
  std::size_t points;      ///< of the array
  std::size_t partitions;  ///< that share the pass
  std::size_t slice;       ///< SlicePass::slice_points() of the buffers
  BatchAddPlan plan;       ///< of a whole slice

  /// `buffer_bytes`: of the buffers that the pass will be given.
  static StreamedSums make(std::size_t points, std::size_t partitions, std::size_t buffer_bytes,
                           unsigned sm_count) {
    StreamedSums out{points,
                     partitions,
                     SlicePass::slice_points<curve::device::StoredAffine<G>>(buffer_bytes),
                     {}};
    out.plan = BatchAddPlan::make<G>(std::min(out.slice, points), sm_count, 0);
    return out;
  }

  std::size_t slices() const { return SlicePass::slice_count(points, slice); }
  std::size_t workspace_bytes() const { return batch_add_workspace<G>(plan); }
  /// Results: partition p's sum is that of results[p·slices()], ..., results[(p + 1)·slices() - 1].
  std::size_t results() const { return partitions * slices(); }

  /// Enqueues the pass; see SlicePass::run() for `buffers`. bits[p]: partition p's bits, bit i % 32
  /// of word i / 32 for point i. Throws InvalidInput if something is too short.
  void enqueue(SlicePass& pass, std::span<const curve::device::StoredAffine<G>> host_points,
               std::span<const base::cuda::DeviceSpan<const std::uint32_t>> bits,
               base::cuda::DeviceSpan<std::byte> buffers,
               base::cuda::DeviceSpan<std::byte> workspace,
               base::cuda::DeviceSpan<curve::device::StoredXyzz<G>> out,
               base::cuda::StreamRef stream) const {
    base::require(
        host_points.size() == points && bits.size() == partitions && out.size >= results() &&
            SlicePass::slice_points<curve::device::StoredAffine<G>>(buffers.size) == slice,
        "streamed sums of {} points and {} partitions: given {} points, {} partitions, "
        "room for {} sums, buffers of {} bytes",
        points, partitions, host_points.size(), bits.size(), out.size, buffers.size);
    const std::size_t words = (points + 31) / 32;
    for (const auto& partition : bits) {
      base::require(partition.size >= words, "streamed sums of {} points: given {} words of bits",
                    points, partition.size);
    }
    pass.run(
        host_points, buffers, stream,
        [&](base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> part, std::size_t first) {
          BatchAddPlan part_plan = plan;
          part_plan.n = part.size;
          for (std::size_t p = 0; p < partitions; ++p) {
            batch_add<G>(part_plan, part, bits[p].subspan(first / 32, (part.size + 31) / 32),
                         workspace, out.data + p * slices() + first / slice, stream);
          }
        });
  }
};

}  // namespace cuzk::groth16::cuda
