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
    const std::size_t half = slice_points<Point>(buffers.size) * sizeof(Point);
    run(points, Buffers{buffers.first(half), buffers.subspan(half, half)}, stream, use);
  }

  /// The buffers apart: the first may be given to the pass before the second, see prefetch().
  struct Buffers {
    base::cuda::DeviceSpan<std::byte> first, second;
  };
  template <class Point, class Use>
  void run(std::span<const Point> points, const Buffers& buffers, base::cuda::StreamRef stream,
           Use&& use) {
    const std::size_t slice = buffer_points<Point>(buffers.first);
    base::require(buffer_points<Point>(buffers.second) == slice,
                  "a pass over a key in host memory: buffers of {} and {} bytes",
                  buffers.first.size, buffers.second.size);
    started_.record(stream);
    started_.block(copies_.ref());
    for (std::size_t first = 0, k = 0; first < points.size(); first += slice, ++k) {
      const std::span<const Point> part =
          points.subspan(first, std::min(slice, points.size() - first));
      Slot& slot = slots_[k % 2];
      const base::cuda::DeviceSpan<Point> on_device(
          reinterpret_cast<Point*>((k % 2 == 0 ? buffers.first : buffers.second).data),
          part.size());
      if (k >= 2) slot.used.block(copies_.ref());
      if (k > 0 || prefetched_ != Prefetched{points.data(), on_device.data})
        copy(on_device, part, slot);
      slot.copied.block(stream);
      use(base::cuda::DeviceSpan<const Point>(on_device), first);
      slot.used.record(stream);
    }
    prefetched_ = {};
  }
  /// Enqueues the copy of the first slice of the next run(), which gets the same points and
  /// buffers, beside what is enqueued on `stream` from here on. The first buffer belongs to the
  /// pass from here; what was enqueued on `stream` before may still use it.
  template <class Point>
  void prefetch(std::span<const Point> points, base::cuda::DeviceSpan<std::byte> first_buffer,
                base::cuda::StreamRef stream) {
    if (points.empty()) return;
    const std::size_t slice = std::min(buffer_points<Point>(first_buffer), points.size());
    started_.record(stream);
    started_.block(copies_.ref());
    copy({reinterpret_cast<Point*>(first_buffer.data), slice}, points.first(slice), slots_[0]);
    prefetched_ = {points.data(), first_buffer.data};
  }

 private:
  struct Slot {
    base::cuda::Event copied, used;
  };

  struct Prefetched {
    const void* from = nullptr;
    const void* to = nullptr;
    friend bool operator==(const Prefetched&, const Prefetched&) = default;
  };

  template <class Point>
  static std::size_t buffer_points(base::cuda::DeviceSpan<std::byte> buffer) {
    return slice_points<Point>(2 * buffer.size);
  }
  template <class Point>
  void copy(base::cuda::DeviceSpan<Point> to, std::span<const Point> from, Slot& slot) {
    base::cuda::copy_bytes(to.data, from.data(), from.size_bytes(), copies_.ref());
    slot.copied.record(copies_.ref());
  }

  base::cuda::Stream copies_;
  base::cuda::Event started_;
  std::array<Slot, 2> slots_;
  Prefetched prefetched_;  ///< what prefetch() has enqueued since the last run()
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
