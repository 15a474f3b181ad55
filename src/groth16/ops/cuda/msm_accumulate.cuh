#pragma once

#include "groth16/ops/cuda/batch_affine.cuh"
#include "groth16/ops/cuda/msm_digits.cuh"
#include "groth16/ops/cuda/xyzz_sum.cuh"

/// Second part of a dense MSM: the sum of each bucket's points. Buckets come by rank, largest
/// first, so that neighbouring threads have lists of nearly the same length.
namespace cuzk::groth16::cuda {

/// Threads a block and blocks an SM, found by timing on H200 (gpu_check msm). Where lanes end at
/// different list lengths, free-running small blocks beat a barrier an addition. In the affine form
/// they end together, and a large block inverts less often.
template <class G>
struct MsmShape;
template <>
struct MsmShape<curve::device::G1> {
  static constexpr unsigned kXyzzThreads = 128, kXyzzBlocks = 3;
  static constexpr unsigned kAffineThreads = 384, kAffineBlocks = 1, kShare = 12;
};
template <>
struct MsmShape<curve::device::G2> {
  static constexpr unsigned kXyzzThreads = 384, kXyzzBlocks = 1;
  static constexpr unsigned kAffineThreads = 384, kAffineBlocks = 1, kShare = 1;
};

namespace msm_detail {

template <class G>
inline constexpr std::size_t kXyzzSharedBytes = 2 * kPointWords* MsmShape<G>::kXyzzThreads *
                                                sizeof(uint4);

template <class G>
CUZK_DEVICE PointAffine<G> load_signed(const StoredAffine<G>* bases, std::uint32_t entry) {
  return negate_if(curve::device::load_point_readonly<G>(bases + (entry & ~kNegative)),
                   (entry & kNegative) != 0);
}

/// The buckets by rank: the points of rank i are points[rank_start[i]] and the rank_size[i] - 1
/// after it, and its bucket is order[i].
template <class G>
struct BucketView {
  const StoredAffine<G>* bases;
  const std::uint32_t* points;
  const std::uint32_t* rank_start;
  const std::uint32_t* rank_size;
  const std::uint32_t* order;
  std::uint32_t count;
};

/// A thread (a pair of lanes in G2) a bucket. The next point comes by asynchronous copy, the index
/// after it by an early load. Grid: buckets / (points a block). 100 bytes gathered an addition.
template <class G>
static __global__ void __launch_bounds__(MsmShape<G>::kXyzzThreads, MsmShape<G>::kXyzzBlocks)
    accumulate_xyzz(BucketView<G> buckets, StoredXyzz<G>* sums) {
  using Field = typename G::Field;
  constexpr unsigned kThreads = MsmShape<G>::kXyzzThreads;
  uint4* staged = base::cuda::dynamic_shared_words() + threadIdx.x;  // [2][kPointWords][kThreads]
  const std::uint32_t rank = base::cuda::grid_thread() / G::kLanes;
  const bool mine = rank < buckets.count;
  const std::uint32_t size = mine ? buckets.rank_size[rank] : 0,
                      start = mine ? buckets.rank_start[rank] : 0;
  const auto fetch = [&](std::uint32_t round, std::uint32_t entry) {
    const StoredAffine<G>* p = buckets.bases + (entry & ~kNegative);
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
    const PointAffine<G> p{get_field<G>(from, kThreads),
                           get_field<G>(from + kFieldWords * kThreads, kThreads)};
    return negate_if(p, (entry & kNegative) != 0);
  };
  const auto entry_at = [&](std::uint32_t round) {
    return round < size ? buckets.points[start + round] : 0;
  };
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
  if (mine) curve::device::store_point<G>(sums + buckets.order[rank], sum);
}

/// Memory of the affine accumulation, a block's part of each in planes of its threads.
struct AffineScratch {
  base::cuda::DeviceSpan<uint4> prefixes, sums;
  base::cuda::DeviceSpan<std::uint32_t> entries;

  template <class G>
  static AffineScratch carve(const MsmPlan& plan, base::cuda::Carver& carver) {
    const std::size_t slots = std::size_t{plan.sm_count} * MsmShape<G>::kAffineBlocks *
                              MsmShape<G>::kAffineThreads * plan.batch;
    AffineScratch scratch;
    scratch.prefixes = carver.take<uint4>(slots * kFieldWords);
    scratch.sums = carver.take<uint4>(slots * kPointWords);
    scratch.entries = carver.take<std::uint32_t>(slots);
    return scratch;
  }
};

/// Words (16 bytes) a thread of the affine accumulation's copies ahead: two stages of a prefix and
/// two x-coordinates, then two y-coordinates.
inline constexpr unsigned kAheadX = 3 * kFieldWords, kAheadWords = 2 * kAheadX + 2 * kFieldWords;
template <class G>
inline constexpr std::size_t kAffineSharedBytes = std::size_t{kAheadWords} *
                                                  MsmShape<G>::kAffineThreads * sizeof(uint4);

/// The slots of one thread (of a pair in G2) in a tile of the affine accumulation: slot k is the
/// bucket of rank first + k·(points a block) + its own number in the block. As ranks go by size,
/// the slots that still have points are always the first ones. All functions are for whole blocks.
///
/// What the next slot needs is on its way to shared memory while a slot's products are made, and
/// the y-coordinates come while the first two of them are: memory is waited for elsewhere, and no
/// register holds it.
template <class G>
struct AffineTile {
  using Field = typename G::Field;
  using Shape = MsmShape<G>;
  static constexpr unsigned kThreads = Shape::kAffineThreads, kPoints = kThreads / G::kLanes;

  BucketView<G> buckets;
  std::uint32_t batch;
  uint4* prefixes;  // this thread's word of the first plane
  uint4* sums;
  std::uint32_t* entries;
  uint4* shared;  // the block's
  std::uint32_t first = 0;

  struct Slot {
    std::uint32_t size = 0, start = 0;
  };

  CUZK_DEVICE std::uint32_t rank(std::uint32_t k) const {
    return first + k * kPoints + threadIdx.x / G::kLanes;
  }
  CUZK_DEVICE std::uint32_t size(std::uint32_t k) const {
    return rank(k) < buckets.count ? buckets.rank_size[rank(k)] : 0;
  }
  CUZK_DEVICE Slot slot(std::uint32_t k, std::uint32_t slots) const {
    if (k >= slots || rank(k) >= buckets.count) return {};
    return {buckets.rank_size[rank(k)], buckets.rank_start[rank(k)]};
  }
  CUZK_DEVICE uint4* prefix(std::uint32_t k) const {
    return prefixes + std::size_t{k} * kFieldWords * kThreads;
  }
  CUZK_DEVICE uint4* sum_x(std::uint32_t k) const {
    return sums + std::size_t{k} * kPointWords * kThreads;
  }
  CUZK_DEVICE uint4* sum_y(std::uint32_t k) const { return sum_x(k) + kFieldWords * kThreads; }
  CUZK_DEVICE PointAffine<G> get_sum(std::uint32_t k) const {
    return {get_field<G>(sum_x(k), kThreads), get_field<G>(sum_y(k), kThreads)};
  }
  CUZK_DEVICE void put_sum(std::uint32_t k, const PointAffine<G>& p) const {
    put_field<G>(sum_x(k), kThreads, p.x);
    put_field<G>(sum_y(k), kThreads, p.y);
  }

  // Places in shared memory of a slot's prefix and x-coordinates, and of the y-coordinates.
  CUZK_DEVICE uint4* ahead_x(std::uint32_t k, unsigned field) const {
    return shared + ((k & 1u) * kAheadX + field * kFieldWords) * kThreads + threadIdx.x;
  }
  CUZK_DEVICE uint4* ahead_y(unsigned field) const {
    return shared + (2 * kAheadX + field * kFieldWords) * kThreads + threadIdx.x;
  }
  CUZK_DEVICE void copy_planes(uint4* to, const uint4* from) const {
    CUZK_UNROLL
    for (unsigned i = 0; i < kFieldWords; ++i)
      base::cuda::copy_to_shared_16(to + i * kThreads, from + i * kThreads);
  }
  CUZK_DEVICE void copy_field(uint4* to, const typename G::StoredField* from) const {
    const uint4* words = reinterpret_cast<const uint4*>(G::part(from));
    CUZK_UNROLL
    for (unsigned i = 0; i < kFieldWords; ++i)
      base::cuda::copy_to_shared_16(to + i * kThreads, words + i);
  }
  CUZK_DEVICE void copy_x(std::uint32_t k, std::uint32_t entry) const {
    copy_planes(ahead_x(k, 1), sum_x(k));
    copy_field(ahead_x(k, 2), &buckets.bases[entry & ~kNegative].x);
  }
  CUZK_DEVICE Field get_ahead(const uint4* from) const { return get_field<G>(from, kThreads); }

  /// Every slot's sum is its first point. Returns how many slots of the warp (of the thread in G1)
  /// have one.
  CUZK_DEVICE std::uint32_t start() const {
    std::uint32_t k = 0;
    CUZK_NO_UNROLL
    for (; k < batch && Field::any(size(k) > 0); ++k) {
      if (size(k) > 0)
        put_sum(k, load_signed<G>(buckets.bases, buckets.points[buckets.rank_start[rank(k)]]));
    }
    return k;
  }
  /// The product of the denominators of point `round` of each of the first `slots` slots that has
  /// one; prefixes and entries are stored. `slots` becomes their number.
  CUZK_DEVICE Field multiply_denominators(std::uint32_t round, std::uint32_t& slots) const {
    const auto entry_of = [&](const Slot& s) {
      return round < s.size ? buckets.points[s.start + round] : 0;
    };
    base::cuda::wait_copies<0>();  // none; what was stored is not to be moved beyond copies of it
    Slot now = slot(0, slots), next = slot(1, slots), later = slot(2, slots);
    std::uint32_t entry = entry_of(now), next_entry = entry_of(next);
    copy_x(0, entry);
    base::cuda::commit_copies();
    Field running = Field::one();
    std::uint32_t k = 0;
    CUZK_NO_UNROLL
    for (; k < slots; ++k) {
      const bool active = now.size > round;
      if (!Field::any(active)) break;
      if (k + 1 < slots) copy_x(k + 1, next_entry);
      base::cuda::commit_copies();
      const std::uint32_t later_entry = entry_of(later);
      const Slot last = slot(k + 3, slots);
      entries[std::size_t{k} * kThreads] = entry;
      put_field<G>(prefix(k), kThreads, running);
      base::cuda::wait_copies<1>();
      const Field d = pair_denominator<G>(get_ahead(ahead_x(k, 1)), get_ahead(ahead_x(k, 2)), [&] {
        return PointPair<G>{get_sum(k), load_signed<G>(buckets.bases, entry)};
      });
      const Field longer = mul(running, d);
      if (active) running = longer;
      now = next;
      next = later;
      later = last;
      entry = next_entry;
      next_entry = later_entry;
    }
    base::cuda::wait_copies<0>();
    slots = k;
    return running;
  }
  /// Adds point `round` of each of the first `slots` slots that has one. Returns how many do.
  CUZK_DEVICE std::uint32_t add_round(std::uint32_t round, std::uint32_t slots) const {
    const Field product = multiply_denominators(round, slots);
    Field inverted = block_inverse<G, kThreads, Shape::kShare>(
        product, shared, inverting_warp<Shape::kAffineBlocks>(round));
    if (slots == 0) return 0;
    const auto copy = [&](std::uint32_t k, std::uint32_t entry) {
      copy_planes(ahead_x(k, 0), prefix(k));
      copy_x(k, entry);
    };
    const auto entry_at = [&](std::uint32_t k) { return entries[std::size_t{k} * kThreads]; };
    std::uint32_t k = slots - 1, entry = entry_at(k), next_entry = k > 0 ? entry_at(k - 1) : 0;
    copy(k, entry);
    base::cuda::commit_copies();
    CUZK_NO_UNROLL
    for (;; --k) {
      const bool active = G::kLanes == 1 || size(k) > round;  // a thread of its own stopped in time
      base::cuda::wait_copies<0>();
      const Field before = get_ahead(ahead_x(k, 0)), x1 = get_ahead(ahead_x(k, 1)),
                  x2 = get_ahead(ahead_x(k, 2));
      copy_planes(ahead_y(0), sum_y(k));
      copy_field(ahead_y(1), &buckets.bases[entry & ~kNegative].y);
      base::cuda::commit_copies();
      if (k > 0) copy(k - 1, next_entry);
      base::cuda::commit_copies();
      const std::uint32_t later_entry = k > 1 ? entry_at(k - 2) : 0;
      Field shorter = inverted;
      const PointAffine<G> sum = take_from_batch<G>(x1, x2, before, shorter, [&] {
        base::cuda::wait_copies<1>();
        const PointAffine<G> point{get_ahead(ahead_x(k, 2)), get_ahead(ahead_y(1))};
        return PointPair<G>{{get_ahead(ahead_x(k, 1)), get_ahead(ahead_y(0))},
                            negate_if(point, (entry & kNegative) != 0)};
      });
      if (active) {
        inverted = shorter;
        put_sum(k, sum);
      }
      if (k == 0) break;
      entry = next_entry;
      next_entry = later_entry;
    }
    return slots;
  }
  CUZK_DEVICE void finish(std::uint32_t slots, StoredAffine<G>* out) const {
    CUZK_NO_UNROLL
    for (std::uint32_t k = 0; k < slots; ++k) {
      if (size(k) > 0) curve::device::store_point<G>(out + buckets.order[rank(k)], get_sum(k));
    }
  }
};

/// A thread (a pair) owns `batch` buckets of a tile; round r adds the r-th point of each of them:
/// independent affine additions that share an inversion. Blocks take tiles from a queue. Empty
/// buckets are not written. Grid: as many blocks as are resident. About 560 bytes of traffic, 5
/// products and 1 square an addition.
template <class G>
static __global__ void __launch_bounds__(MsmShape<G>::kAffineThreads, MsmShape<G>::kAffineBlocks)
    accumulate_affine(BucketView<G> buckets, StoredAffine<G>* out, std::uint32_t batch,
                      uint4* prefixes, uint4* sums, std::uint32_t* entries,
                      HeavyCounters* counters) {
  using Tile = AffineTile<G>;
  __shared__ std::uint32_t shared_tile;
  const std::size_t slot = std::size_t{blockIdx.x} * batch * Tile::kThreads;
  Tile tile{buckets,
            batch,
            prefixes + slot * kFieldWords + threadIdx.x,
            sums + slot * kPointWords + threadIdx.x,
            entries + slot + threadIdx.x,
            base::cuda::dynamic_shared_words()};
  CUZK_NO_UNROLL
  for (;;) {
    if (threadIdx.x == 0) shared_tile = atomicAdd(&counters->next_tile, 1u);
    __syncthreads();
    const std::uint64_t first = std::uint64_t{shared_tile} * Tile::kPoints * batch;
    __syncthreads();
    if (first >= buckets.count) return;
    tile.first = static_cast<std::uint32_t>(first);
    const std::uint32_t rounds = buckets.rank_size[first], filled = tile.start();
    std::uint32_t slots = filled;
    CUZK_NO_UNROLL
    for (std::uint32_t round = 1; round < rounds; ++round) slots = tile.add_round(round, slots);
    tile.finish(filled, out);
  }
}

// ---- Heavy buckets

inline constexpr unsigned kPointsAThread = 32;
/// Points that a block adds up at a time.
template <class G>
inline constexpr std::uint32_t kPiece = kSumPoints<G>* kPointsAThread;

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

/// The sum of each piece, into the bucket itself where it is the only one. Blocks take pieces in
/// turn.
template <class G, class Bucket>
static __global__ void __launch_bounds__(kSumThreads)
    sum_heavy_pieces(const StoredAffine<G>* bases, const std::uint32_t* points,
                     const HeavyBucket* heavy, const HeavyCounters* counters,
                     StoredXyzz<G>* partials, Bucket* sums) {
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
    for (std::uint32_t i = first + threadIdx.x / G::kLanes; Field::any(i < last);
         i += kSumPoints<G>) {
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
static __global__ void __launch_bounds__(kSumThreads)
    merge_heavy_pieces(const HeavyBucket* heavy, const HeavyCounters* counters,
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
