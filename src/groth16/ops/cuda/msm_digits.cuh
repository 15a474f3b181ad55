#pragma once

#include "base/cuda/launch.hpp"
#include "base/cuda/sort.hpp"
#include "base/cuda/span.hpp"
#include "curve/device/fr.hpp"
#include "groth16/ops/cuda/fr_memory.cuh"
#include "groth16/ops/cuda/msm_plan.hpp"

/// First half of a dense MSM: scalars to digits, digits to buckets, buckets by size.
namespace cuzk::groth16::cuda {

namespace msm_detail {

using curve::device::Fr;

inline constexpr std::uint32_t kNegative = 0x80000000u;
inline constexpr int kSizeBits = 12;  // bucket sizes are sorted up to 4,095; larger ones are heavy

/// A bucket with more than heavy_limit points. Pieces of all heavy buckets are numbered together
/// from first_piece on.
struct HeavyBucket {
  std::uint32_t bucket, start, size;
  std::uint32_t first_piece;
  std::uint32_t first_partial;  // place of its pieces' sums, if it has several
};
struct HeavyCounters {
  unsigned long long buckets_and_pieces;  // buckets in the upper, pieces in the lower 32 bits: one
                                          // atomic numbers both
  std::uint32_t partials;
  std::uint32_t next_tile;  // of the affine accumulation
};

/// key[j·n + i] = |digit of scalar i in window first + j|, value[..] = base i (or list[i]) with the
/// digit's sign in bit 31. Scalars are loose. Grid: a thread a scalar. 32 bytes read, 8 written a
/// window.
static __global__ void __launch_bounds__(256)
    extract_digits(const Fr* scalars, const std::uint32_t* list, std::uint32_t n,
                   MsmWindows windows, int first, int count, std::uint32_t* key,
                   std::uint32_t* value) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= n) return;
  const std::uint32_t at = list != nullptr ? list[i] : i;
  const Fr k = curve::device::canonical(load_readonly(scalars + at));
  std::uint32_t shifted[9];
  shifted[0] = curve::device::carry::add_cc(k.limbs[0], windows.shift[0]);
  CUZK_UNROLL
  for (unsigned j = 1; j < 8; ++j)
    shifted[j] = curve::device::carry::addc_cc(k.limbs[j], windows.shift[j]);
  shifted[8] = 0;
  for (int j = 0; j < count; ++j) {
    const auto w = static_cast<unsigned>(first + j);
    const int position = windows.position[w], bits = windows.bits[w];
    std::uint32_t low = 0, high = 0;
    CUZK_UNROLL
    for (int limb = 0; limb < 8; ++limb) {
      if (position / 32 == limb) {
        low = shifted[limb];
        high = shifted[limb + 1];
      }
    }
    const std::uint32_t mask = (1u << bits) - 1;
    int digit = static_cast<int>(
        __funnelshift_r(low, high, static_cast<std::uint32_t>(position % 32)) & mask);
    if (first + j + 1 < windows.count) digit -= 1 << (bits - 1);
    const std::size_t out = static_cast<std::size_t>(j) * n + i;
    key[out] = static_cast<std::uint32_t>(digit < 0 ? -digit : digit);
    value[out] = at | (digit < 0 ? kNegative : 0u);
  }
}

/// From the sorted keys of a window, where each of its buckets starts and ends in the joint list.
/// Empty ones keep 0, 0.
static __global__ void __launch_bounds__(256)
    find_ends(const std::uint32_t* key, std::uint32_t n, std::uint32_t offset, std::uint32_t base,
              std::uint32_t* start, std::uint32_t* end) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= n) return;
  const std::uint32_t k = key[i];
  if (k == 0) return;
  if (i == 0 || key[i - 1] != k) start[base + k - 1] = offset + i;
  if (i + 1 == n || key[i + 1] != k) end[base + k - 1] = offset + i + 1;
}

/// Sizes to sort by; heavy buckets go to their own list and count as empty here.
static __global__ void __launch_bounds__(256)
    measure_buckets(const std::uint32_t* start, const std::uint32_t* end, std::uint32_t buckets,
                    std::uint32_t heavy_limit, std::uint32_t piece, std::uint32_t* size,
                    std::uint32_t* id, HeavyBucket* heavy, HeavyCounters* counters) {
  const std::uint32_t b = base::cuda::grid_thread();
  if (b >= buckets) return;
  const std::uint32_t points = end[b] - start[b];
  id[b] = b;
  size[b] = points > heavy_limit ? 0 : points;
  if (points <= heavy_limit) return;
  const std::uint32_t pieces = (points + piece - 1) / piece;
  const unsigned long long before = atomicAdd(&counters->buckets_and_pieces, (1ull << 32) | pieces);
  HeavyBucket h;
  h.bucket = b;
  h.start = start[b];
  h.size = points;
  h.first_piece = static_cast<std::uint32_t>(before);
  h.first_partial = pieces > 1 ? atomicAdd(&counters->partials, pieces) : 0;
  heavy[before >> 32] = h;
}

/// Start of the bucket of each rank.
static __global__ void __launch_bounds__(256)
    gather_starts(const std::uint32_t* order, const std::uint32_t* start, std::uint32_t buckets,
                  std::uint32_t* rank_start) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i < buckets) rank_start[i] = start[order[i]];
}

/// What the second half works on.
struct BucketLists {
  base::cuda::DeviceSpan<std::uint32_t> points;  // windows·n: base and sign, by window and bucket
  base::cuda::DeviceSpan<std::uint32_t>
      order;  // bucket of each rank, largest first; heavy ones count as empty
  base::cuda::DeviceSpan<std::uint32_t> rank_start;  // start of that bucket in `points`
  base::cuda::DeviceSpan<std::uint32_t> rank_size;
  base::cuda::DeviceSpan<HeavyBucket> heavy;
  base::cuda::DeviceSpan<HeavyCounters> counters;  // one

  static BucketLists carve(const MsmPlan& plan, base::cuda::Carver& carver) {
    const std::size_t digits = plan.n * static_cast<std::size_t>(plan.windows.count),
                      buckets = plan.windows.buckets();
    BucketLists lists;
    lists.points = carver.take<std::uint32_t>(digits);
    lists.order = carver.take<std::uint32_t>(buckets);
    lists.rank_start = carver.take<std::uint32_t>(buckets);
    lists.rank_size = carver.take<std::uint32_t>(buckets);
    lists.heavy =
        carver.take<HeavyBucket>(std::min<std::size_t>(buckets, digits / plan.heavy_limit) + 1);
    lists.counters = carver.take<HeavyCounters>(1);
    return lists;
  }
};

/// What only the first half needs.
struct SortBuffers {
  base::cuda::DeviceSpan<std::uint32_t> key, value, sorted_key;
  base::cuda::DeviceSpan<std::uint32_t> start, end, size;
  base::cuda::DeviceSpan<std::byte> scratch;

  static SortBuffers carve(const MsmPlan& plan, base::cuda::Carver& carver) {
    const std::size_t buckets = plan.windows.buckets(),
                      at_once = static_cast<std::size_t>(plan.windows_at_once);
    SortBuffers buffers;
    buffers.key = carver.take<std::uint32_t>(plan.n * at_once);
    buffers.value = carver.take<std::uint32_t>(plan.n * at_once);
    buffers.sorted_key = carver.take<std::uint32_t>(plan.n);
    buffers.start = carver.take<std::uint32_t>(buckets);
    buffers.end = carver.take<std::uint32_t>(buckets);
    buffers.size = carver.take<std::uint32_t>(buckets);
    buffers.scratch =
        carver.take<std::byte>(base::cuda::sort_pairs_scratch(std::max(plan.n, buckets)));
    return buffers;
  }
};

/// Enqueues scalars -> lists. `piece`: points of a heavy bucket that a block adds up.
inline void sort_into_buckets(const MsmPlan& plan, const Fr* scalars, const std::uint32_t* list,
                              std::uint32_t piece, const BucketLists& lists,
                              const SortBuffers& buffers, base::cuda::StreamRef stream) {
  using base::cuda::blocks_for;
  using base::cuda::launch;
  const auto n = static_cast<std::uint32_t>(plan.n);
  const std::uint32_t buckets = plan.windows.buckets();
  base::cuda::fill_bytes(buffers.start.data, 0, buffers.start.size_bytes(), stream);
  base::cuda::fill_bytes(buffers.end.data, 0, buffers.end.size_bytes(), stream);
  base::cuda::fill_bytes(lists.counters.data, 0, lists.counters.size_bytes(), stream);
  for (int first = 0; first < plan.windows.count; first += plan.windows_at_once) {
    const int count = std::min(plan.windows_at_once, plan.windows.count - first);
    launch(extract_digits, {blocks_for(n, 256), 256, 0}, stream, scalars, list, n, plan.windows,
           first, count, buffers.key.data, buffers.value.data);
    for (int j = 0; j < count; ++j) {
      const auto w = static_cast<std::size_t>(first + j);
      const std::size_t from = static_cast<std::size_t>(j) * n, to = w * n;
      base::cuda::sort_pairs(buffers.scratch.data, buffers.scratch.size, buffers.key.data + from,
                             buffers.sorted_key.data, buffers.value.data + from,
                             lists.points.data + to, n, plan.windows.bits[w],
                             base::cuda::SortOrder::kAscending, stream);
      launch(find_ends, {blocks_for(n, 256), 256, 0}, stream, buffers.sorted_key.data, n,
             static_cast<std::uint32_t>(to), plan.windows.base[w], buffers.start.data,
             buffers.end.data);
    }
  }
  // rank_start holds the buckets' numbers until they are sorted.
  launch(measure_buckets, {blocks_for(buckets, 256), 256, 0}, stream, buffers.start.data,
         buffers.end.data, buckets, plan.heavy_limit, piece, buffers.size.data,
         lists.rank_start.data, lists.heavy.data, lists.counters.data);
  base::cuda::sort_pairs(buffers.scratch.data, buffers.scratch.size, buffers.size.data,
                         lists.rank_size.data, lists.rank_start.data, lists.order.data, buckets,
                         kSizeBits, base::cuda::SortOrder::kDescending, stream);
  launch(gather_starts, {blocks_for(buckets, 256), 256, 0}, stream, lists.order.data,
         buffers.start.data, buckets, lists.rank_start.data);
}

}  // namespace msm_detail
}  // namespace cuzk::groth16::cuda
