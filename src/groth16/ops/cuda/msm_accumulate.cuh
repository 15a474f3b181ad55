#pragma once

#include "groth16/ops/cuda/batch_affine.cuh"
#include "groth16/ops/cuda/msm_digits.cuh"
#include "groth16/ops/cuda/xyzz_sum.cuh"

/// Second part of a dense MSM: the sum of each bucket's points. Buckets come by rank, largest first, so that neighbouring
/// threads have lists of nearly the same length.
namespace cuzk::groth16::cuda {

/// Threads a block and blocks an SM, found by timing on H200 (gpu_check msm). Where lanes end at different list lengths,
/// free-running small blocks beat a barrier an addition.
template <class G>
struct MsmShape;
template <>
struct MsmShape<curve::device::G1> {
  static constexpr unsigned kXyzzThreads = 128, kXyzzBlocks = 3;
  static constexpr unsigned kAffineThreads = 128, kAffineBlocks = 4, kShare = 4;
};
template <>
struct MsmShape<curve::device::G2> {
  static constexpr unsigned kXyzzThreads = 384, kXyzzBlocks = 1;
  static constexpr unsigned kAffineThreads = 384, kAffineBlocks = 1, kShare = 1;
};

namespace msm_detail {

template <class G>
inline constexpr std::size_t kXyzzSharedBytes = 2 * kPointWords * MsmShape<G>::kXyzzThreads * sizeof(uint4);

template <class G>
CUZK_DEVICE PointAffine<G> load_signed(const StoredAffine<G>* bases, std::uint32_t entry) {
  return negate_if(curve::device::load_point_readonly<G>(bases + (entry & ~kNegative)), (entry & kNegative) != 0);
}

/// A thread (a pair of lanes in G2) a bucket. The next point comes by asynchronous copy, the index after it by an early
/// load. Grid: buckets / (points a block). 100 bytes gathered an addition.
template <class G>
static __global__ void __launch_bounds__(MsmShape<G>::kXyzzThreads, MsmShape<G>::kXyzzBlocks)
    accumulate_xyzz(const StoredAffine<G>* bases, const std::uint32_t* points, const std::uint32_t* rank_start,
                    const std::uint32_t* rank_size, const std::uint32_t* order, std::uint32_t buckets,
                    StoredXyzz<G>* sums) {
  using Field = typename G::Field;
  constexpr unsigned kThreads = MsmShape<G>::kXyzzThreads;
  uint4* staged = base::cuda::dynamic_shared_words() + threadIdx.x;  // [2][kPointWords][kThreads]
  const std::uint32_t rank = base::cuda::grid_thread() / G::kLanes;
  const bool mine = rank < buckets;
  const std::uint32_t size = mine ? rank_size[rank] : 0, start = mine ? rank_start[rank] : 0;
  const auto fetch = [&](std::uint32_t round, std::uint32_t entry) {
    const StoredAffine<G>* p = bases + (entry & ~kNegative);
    const uint4* x = reinterpret_cast<const uint4*>(G::part(&p->x));
    const uint4* y = reinterpret_cast<const uint4*>(G::part(&p->y));
    uint4* to = staged + (round & 1u) * kPointWords * kThreads;
    CUZK_UNROLL
    for (unsigned i = 0; i < kFieldWords; ++i) {
      base::cuda::copy_to_shared_16(to + i * kThreads, x + i);
      base::cuda::copy_to_shared_16(to + (kFieldWords + i) * kThreads, y + i);
    }
  };
  const auto take = [&](std::uint32_t round, std::uint32_t entry) {
    const uint4* from = staged + (round & 1u) * kPointWords * kThreads;
    const PointAffine<G> p{get_field<G>(from, kThreads), get_field<G>(from + kFieldWords * kThreads, kThreads)};
    return negate_if(p, (entry & kNegative) != 0);
  };
  const auto entry_at = [&](std::uint32_t round) { return round < size ? points[start + round] : 0; };
  std::uint32_t entry = entry_at(0), next = entry_at(1);
  if (size > 0) fetch(0, entry);
  base::cuda::commit_copies();
  PointXyzz<G> sum = PointXyzz<G>::identity();
  CUZK_NO_UNROLL
  for (std::uint32_t round = 0; Field::any(round < size); ++round) {
    if (round + 1 < size) fetch(round + 1, next);
    base::cuda::commit_copies();
    const std::uint32_t after = entry_at(round + 2);
    base::cuda::wait_copies<1>();
    PointXyzz<G> longer = sum;
    add_assign(longer, take(round, entry));
    if (round < size) sum = longer;
    entry = next;
    next = after;
  }
  if (mine) curve::device::store_point<G>(sums + order[rank], sum);
}

/// Memory of the affine accumulation, a block's part of each in planes of its threads.
struct AffineScratch {
  base::cuda::DeviceSpan<uint4> prefixes, sums;
  base::cuda::DeviceSpan<std::uint32_t> entries;

  template <class G>
  static AffineScratch carve(const MsmPlan& plan, base::cuda::Carver& carver) {
    const std::size_t slots = std::size_t{plan.sm_count} * MsmShape<G>::kAffineBlocks * MsmShape<G>::kAffineThreads * plan.batch;
    AffineScratch scratch;
    scratch.prefixes = carver.take<uint4>(slots * kFieldWords);
    scratch.sums = carver.take<uint4>(slots * kPointWords);
    scratch.entries = carver.take<std::uint32_t>(slots);
    return scratch;
  }
};

/// A thread (a pair) owns `batch` buckets of a tile; round r adds the r-th point of each of them: independent affine
/// additions that share an inversion. Blocks take tiles from a queue. Empty buckets are not written. Grid: as many blocks as
/// are resident. About 560 bytes of traffic, 5 products and 1 square an addition.
template <class G>
static __global__ void __launch_bounds__(MsmShape<G>::kAffineThreads, MsmShape<G>::kAffineBlocks)
    accumulate_affine(const StoredAffine<G>* bases, const std::uint32_t* points, const std::uint32_t* rank_start,
                      const std::uint32_t* rank_size, const std::uint32_t* order, std::uint32_t buckets,
                      StoredAffine<G>* out, std::uint32_t batch, uint4* all_prefixes, uint4* all_sums,
                      std::uint32_t* all_entries, HeavyCounters* counters) {
  using Field = typename G::Field;
  constexpr unsigned kThreads = MsmShape<G>::kAffineThreads, kPoints = kThreads / G::kLanes;
  __shared__ std::uint32_t shared_tile;
  const std::size_t first_slot = static_cast<std::size_t>(blockIdx.x) * batch * kThreads;
  uint4* prefixes = all_prefixes + first_slot * kFieldWords + threadIdx.x;
  uint4* sums = all_sums + first_slot * kPointWords + threadIdx.x;
  std::uint32_t* entries = all_entries + first_slot + threadIdx.x;
  const auto prefix = [&](std::uint32_t k) { return prefixes + static_cast<std::size_t>(k) * kFieldWords * kThreads; };
  const auto sum_x = [&](std::uint32_t k) { return sums + static_cast<std::size_t>(k) * kPointWords * kThreads; };
  const auto sum_y = [&](std::uint32_t k) { return sum_x(k) + kFieldWords * kThreads; };
  const auto put_sum = [&](std::uint32_t k, const PointAffine<G>& p) {
    put_field<G>(sum_x(k), kThreads, p.x);
    put_field<G>(sum_y(k), kThreads, p.y);
  };
  const std::uint32_t point = threadIdx.x / G::kLanes;
  CUZK_NO_UNROLL
  for (;;) {
    if (threadIdx.x == 0) shared_tile = atomicAdd(&counters->next_tile, 1u);
    __syncthreads();
    const std::uint64_t first = static_cast<std::uint64_t>(shared_tile) * kPoints * batch;
    __syncthreads();
    if (first >= buckets) return;
    const auto rank = [&](std::uint32_t k) { return static_cast<std::uint32_t>(first) + k * kPoints + point; };
    const auto size = [&](std::uint32_t k) { return rank(k) < buckets ? rank_size[rank(k)] : 0; };
    const std::uint32_t rounds = rank_size[first];
    std::uint32_t owned = 0;  // slots of the warp (of the thread in G1) that have a point
    CUZK_NO_UNROLL
    for (; owned < batch && Field::any(size(owned) > 0); ++owned) {
      if (size(owned) > 0) put_sum(owned, load_signed<G>(bases, points[rank_start[rank(owned)]]));
    }
    std::uint32_t filled = owned;
    CUZK_NO_UNROLL
    for (std::uint32_t round = 1; round < rounds; ++round) {
      Field running = Field::one();
      std::uint32_t k = 0;
      CUZK_NO_UNROLL
      for (; k < owned; ++k) {
        const bool active = size(k) > round;
        if (!Field::any(active)) break;
        const std::uint32_t entry = active ? points[rank_start[rank(k)] + round] : 0;
        entries[static_cast<std::size_t>(k) * kThreads] = entry;
        const StoredAffine<G>* base = bases + (entry & ~kNegative);
        const Field x1 = get_field<G>(sum_x(k), kThreads), x2 = curve::device::load_field_readonly<G>(&base->x);
        const Field d = pair_denominator<G>(x1, x2, [&] {
          struct Both {
            PointAffine<G> a, b;
          };
          return Both{{x1, get_field<G>(sum_y(k), kThreads)}, load_signed<G>(bases, entry)};
        });
        put_field<G>(prefix(k), kThreads, running);
        const Field longer = mul(running, d);
        if (active) running = longer;
      }
      owned = k;
      Field inverted = block_inverse<G, kThreads, MsmShape<G>::kShare>(running, base::cuda::dynamic_shared_words());
      CUZK_NO_UNROLL
      for (std::uint32_t i = owned; i-- > 0;) {
        const bool active = size(i) > round;
        const std::uint32_t entry = entries[static_cast<std::size_t>(i) * kThreads];
        const PointAffine<G> a{get_field<G>(sum_x(i), kThreads), get_field<G>(sum_y(i), kThreads)};
        Field shorter = inverted;
        const PointAffine<G> sum =
            take_from_batch<G>(a, load_signed<G>(bases, entry), get_field<G>(prefix(i), kThreads), shorter);
        if (active) {
          inverted = shorter;
          put_sum(i, sum);
        }
      }
    }
    CUZK_NO_UNROLL
    for (std::uint32_t k = 0; k < filled; ++k) {
      if (size(k) == 0) continue;
      const PointAffine<G> sum{get_field<G>(sum_x(k), kThreads), get_field<G>(sum_y(k), kThreads)};
      curve::device::store_point<G>(out + order[rank(k)], sum);
    }
  }
}

// ---- Heavy buckets

inline constexpr unsigned kPointsAThread = 32;
/// Points that a block adds up at a time.
template <class G>
inline constexpr std::uint32_t kPiece = kSumPoints<G> * kPointsAThread;

/// For one warp, all of it: the first point's lanes store `sum` in the form of the bucket.
template <class G>
CUZK_DEVICE void store_bucket(StoredXyzz<G>* bucket, const PointXyzz<G>& sum) {
  if (threadIdx.x < G::kLanes) curve::device::store_point<G>(bucket, sum);
}
template <class G>
CUZK_DEVICE void store_bucket(StoredAffine<G>* bucket, const PointXyzz<G>& sum) {
  const PointAffine<G> point = to_affine(sum);
  if (threadIdx.x < G::kLanes) curve::device::store_point<G>(bucket, point);
}

/// The sum of each piece, into the bucket itself where it is the only one. Blocks take pieces in turn.
template <class G, class Bucket>
static __global__ void __launch_bounds__(kSumThreads)
    sum_heavy_pieces(const StoredAffine<G>* bases, const std::uint32_t* points, const HeavyBucket* heavy,
                     const HeavyCounters* counters, StoredXyzz<G>* partials, Bucket* sums) {
  using Field = typename G::Field;
  StoredXyzz<G>* shared = reinterpret_cast<StoredXyzz<G>*>(base::cuda::dynamic_shared_words());
  const std::uint32_t pieces = static_cast<std::uint32_t>(counters->buckets_and_pieces);
  const std::uint32_t count = static_cast<std::uint32_t>(counters->buckets_and_pieces >> 32);
  CUZK_NO_UNROLL
  for (std::uint32_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    std::uint32_t low = 0, high = count;  // the last bucket whose first piece is not after this one
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (heavy[middle].first_piece <= piece) {
        low = middle;
      } else {
        high = middle;
      }
    }
    const HeavyBucket h = heavy[low];
    const std::uint32_t first = (piece - h.first_piece) * kPiece<G>;
    const std::uint32_t last = first + kPiece<G> < h.size ? first + kPiece<G> : h.size;
    PointXyzz<G> sum = PointXyzz<G>::identity();
    CUZK_NO_UNROLL
    for (std::uint32_t i = first + threadIdx.x / G::kLanes; Field::any(i < last); i += kSumPoints<G>) {
      PointAffine<G> p = load_signed<G>(bases, points[h.start + (i < last ? i : last - 1)]);
      if (i >= last) p = PointAffine<G>::identity();
      add_assign(sum, p);
    }
    block_sum<G>(sum, shared);
    if (threadIdx.x >= 32) continue;
    if (h.size > kPiece<G>) {
      store_bucket<G>(partials + h.first_partial + (piece - h.first_piece), sum);
    } else {
      store_bucket<G>(sums + h.bucket, sum);
    }
  }
}

/// The sums of buckets with several pieces. Blocks take buckets in turn.
template <class G, class Bucket>
static __global__ void __launch_bounds__(kSumThreads) merge_heavy_pieces(const HeavyBucket* heavy, const HeavyCounters* counters,
                                                                         const StoredXyzz<G>* partials, Bucket* sums) {
  using Field = typename G::Field;
  StoredXyzz<G>* shared = reinterpret_cast<StoredXyzz<G>*>(base::cuda::dynamic_shared_words());
  const std::uint32_t count = static_cast<std::uint32_t>(counters->buckets_and_pieces >> 32);
  CUZK_NO_UNROLL
  for (std::uint32_t b = blockIdx.x; b < count; b += gridDim.x) {
    const HeavyBucket h = heavy[b];
    if (h.size <= kPiece<G>) continue;
    const std::uint32_t pieces = (h.size + kPiece<G> - 1) / kPiece<G>;
    PointXyzz<G> sum = PointXyzz<G>::identity();
    CUZK_NO_UNROLL
    for (std::uint32_t i = threadIdx.x / G::kLanes; Field::any(i < pieces); i += kSumPoints<G>) {
      PointXyzz<G> p = PointXyzz<G>::identity();
      if (i < pieces) p = curve::device::load_point<G>(partials + h.first_partial + i);
      add_assign(sum, p);
    }
    block_sum<G>(sum, shared);
    if (threadIdx.x < 32) store_bucket<G>(sums + h.bucket, sum);
  }
}

}  // namespace msm_detail
}  // namespace cuzk::groth16::cuda
