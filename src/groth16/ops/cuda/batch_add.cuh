#pragma once

#include "base/error.hpp"
#include "groth16/ops/cuda/batch_add_plan.hpp"
#include "groth16/ops/cuda/batch_affine.cuh"
#include "groth16/ops/cuda/index_list.cuh"
#include "groth16/ops/cuda/xyzz_sum.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// The 0/1 part of a multi-scalar multiplication: the sum of the bases whose bit is one.
///
/// The ones are listed, then added pairwise in affine form, level by level (any pairing will do, as
/// all go into one sum), and below plan.tree_threshold in XYZZ form. How many ones there are stays
/// on the device: every level is enqueued for the worst case and ends at once where there is
/// nothing left to do.
///
/// Measured on H200, half of 2^27 bases: 18.5 ms in G1; of 2^24 bases: 7.7 ms in G2.
namespace cuzk::groth16::cuda {

/// What level 0 adds: the listed points.
template <class G>
struct ListedPoints {
  const StoredAffine<G>* points;
  const std::uint32_t* indices;

  CUZK_DEVICE const StoredAffine<G>* at(std::uint32_t i) const {
    return points + __ldg(indices + i);
  }
  CUZK_DEVICE bool negative(std::uint32_t) const { return false; }
};
/// What the later levels add.
template <class G>
struct PointArray {
  const StoredAffine<G>* points;

  CUZK_DEVICE const StoredAffine<G>* at(std::uint32_t i) const { return points + i; }
  CUZK_DEVICE bool negative(std::uint32_t) const { return false; }
};

namespace batch_add_detail {

/// ceil(count / 2^level).
CUZK_HD std::uint32_t points_at_level(std::uint32_t count, int level) {
  return static_cast<std::uint32_t>((std::uint64_t{count} + (std::uint64_t{1} << level) - 1) >>
                                    level);
}
/// How many levels run on `count` points: level l does while more than `threshold` points are left.
CUZK_HD int active_levels(std::uint32_t count, std::uint32_t threshold) {
  int level = 0;
  while (points_at_level(count, level) > threshold) ++level;
  return level;
}

template <class G, class Source>
CUZK_DEVICE PointAffine<G> load_source(const Source& source, std::uint32_t i) {
  return negate_if(curve::device::load_point_readonly<G>(source.at(i)), source.negative(i));
}

/// One level: out[p] = point p + point (p + ceil(m/2)) of the m points left, the middle one copied
/// if m is odd. Grid: as many blocks as are resident. About 620 bytes of traffic and 5 products, 1
/// square an addition in G1.
template <class G, class Source>
static __global__ void __launch_bounds__(BatchAddShape<G>::kThreads, BatchAddShape<G>::kBlocks)
    tree_level(Source source, const std::uint32_t* count, int level, std::uint32_t threshold,
               StoredAffine<G>* out, std::uint32_t max_batch, uint4* scratch) {
  using Shape = BatchAddShape<G>;
  using Field = typename G::Field;
  constexpr unsigned kThreads = Shape::kThreads, kPoints = kThreads / G::kLanes;
  const std::uint32_t m = points_at_level(*count, level);
  if (m <= threshold) return;
  const std::uint32_t pairs = m / 2, second = m - pairs;
  const std::uint32_t round = gridDim.x * kPoints;
  const std::uint32_t rounds = (pairs + round - 1) / round,
                      tiles = (rounds + max_batch - 1) / max_batch;
  const std::uint32_t batch = (rounds + tiles - 1) / tiles;
  const std::uint32_t point = threadIdx.x / G::kLanes;
  uint4* prefixes = scratch +
                    static_cast<std::size_t>(blockIdx.x) * max_batch * kFieldWords * kThreads +
                    threadIdx.x;
  const auto prefix = [&](std::uint32_t k) {
    return prefixes + static_cast<std::size_t>(k) * kFieldWords * kThreads;
  };
  CUZK_NO_UNROLL
  for (std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) * batch * kPoints;
       first < pairs; first += static_cast<std::uint64_t>(round) * batch) {
    // A pair beyond the end stands in for by the last one, which is then not stored.
    const auto pair = [&](std::uint32_t k) { return first + std::uint64_t{k} * kPoints + point; };
    Field running = Field::one();
    CUZK_NO_UNROLL
    for (std::uint32_t k = 0; k < batch; ++k) {
      if (!Field::any(pair(k) < pairs)) break;
      const std::uint32_t p = static_cast<std::uint32_t>(pair(k) < pairs ? pair(k) : pairs - 1);
      const Field x1 = curve::device::load_field_readonly<G>(&source.at(p)->x);
      const Field x2 = curve::device::load_field_readonly<G>(&source.at(p + second)->x);
      const Field d = pair_denominator<G>(x1, x2, [&] {
        return PointPair<G>{load_source<G>(source, p), load_source<G>(source, p + second)};
      });
      put_field<G>(prefix(k), kThreads, running);
      running = mul(running, d);
    }
    Field inverted = block_inverse<G, kThreads, Shape::kShare>(
        running, base::cuda::dynamic_shared_words(), inverting_warp<Shape::kBlocks>(0));
    CUZK_NO_UNROLL
    for (std::uint32_t k = batch; k-- > 0;) {
      if (!Field::any(pair(k) < pairs)) continue;
      const std::uint32_t p = static_cast<std::uint32_t>(pair(k) < pairs ? pair(k) : pairs - 1);
      const PointAffine<G> a = load_source<G>(source, p), b = load_source<G>(source, p + second);
      const PointAffine<G> sum =
          take_from_batch<G>(a.x, b.x, get_field<G>(prefix(k), kThreads), inverted, [&] {
            return PointPair<G>{a, b};
          });
      if (pair(k) < pairs) curve::device::store_point<G>(out + p, sum);
    }
  }
  if (m % 2 != 0 && blockIdx.x == 0 && threadIdx.x < 32) {
    const PointAffine<G> middle = load_source<G>(source, pairs);
    if (threadIdx.x < G::kLanes) curve::device::store_point<G>(out + pairs, middle);
  }
}

inline constexpr unsigned kRestBlocksAnSm = 3;

/// partial[block] = the sum of the block's share of the points that the levels left: those of
/// `source` if none ran, else those of the buffer that the last one wrote. 8 products (two sharing
/// a reduction) and 2 squares a point.
template <class G, class Source>
static __global__ void __launch_bounds__(kSumThreads, kRestBlocksAnSm)
    sum_rest(Source source, const std::uint32_t* count, std::uint32_t threshold,
             const StoredAffine<G>* even, const StoredAffine<G>* odd, StoredXyzz<G>* partial) {
  using Field = typename G::Field;
  StoredXyzz<G>* shared = reinterpret_cast<StoredXyzz<G>*>(base::cuda::dynamic_shared_words());
  const int levels = active_levels(*count, threshold);
  const std::uint32_t m = points_at_level(*count, levels),
                      step = base::cuda::grid_threads() / G::kLanes;
  const StoredAffine<G>* array = levels % 2 == 1 ? even : odd;
  PointXyzz<G> sum = PointXyzz<G>::identity();
  CUZK_NO_UNROLL
  for (std::uint32_t i = base::cuda::grid_thread() / G::kLanes; Field::any(i < m); i += step) {
    const bool active = i < m;
    const std::uint32_t at = active ? i : m - 1;
    const StoredAffine<G>* address = levels == 0 ? source.at(at) : array + at;
    PointAffine<G> point = negate_if(curve::device::load_point_readonly<G>(address),
                                     levels == 0 && source.negative(at));
    if (!active) point = PointAffine<G>::identity();
    add_assign(sum, point);
  }
  block_sum<G>(sum, shared);
  if (threadIdx.x < G::kLanes) curve::device::store_point<G>(partial + blockIdx.x, sum);
}

template <class G>
struct TreeBuffers {
  base::cuda::DeviceSpan<StoredAffine<G>> even, odd;
  base::cuda::DeviceSpan<uint4> scratch;

  static TreeBuffers carve(std::size_t points, const BatchAddPlan& plan,
                           base::cuda::Carver& carver) {
    using Shape = BatchAddShape<G>;
    TreeBuffers buffers;
    if (points <= plan.tree_threshold) return buffers;
    const std::size_t half = (points + 1) / 2;
    buffers.even = carver.take<StoredAffine<G>>(half);
    buffers.odd = carver.take<StoredAffine<G>>((half + 1) / 2);
    buffers.scratch = carver.take<uint4>(std::size_t{plan.sm_count} * Shape::kBlocks *
                                         plan.max_batch * kFieldWords * Shape::kThreads);
    return buffers;
  }
};

/// Enqueues the levels for at most `points` points of `source` (their number at *count) and the sum
/// of the rest into kRestBlocksAnSm·sm_count partial sums.
template <class G, class Source>
void add_source(const Source& source, std::size_t points, const std::uint32_t* count,
                const BatchAddPlan& plan, const TreeBuffers<G>& buffers, StoredXyzz<G>* partial,
                base::cuda::StreamRef stream) {
  using Shape = BatchAddShape<G>;
  const auto threshold = static_cast<std::uint32_t>(plan.tree_threshold);
  const base::cuda::LaunchShape shape{
      plan.sm_count * Shape::kBlocks, Shape::kThreads,
      kInverseWords<Shape::kThreads, Shape::kShare> * sizeof(uint4)};
  const int levels = active_levels(static_cast<std::uint32_t>(points), threshold);
  for (int level = 0; level < levels; ++level) {
    StoredAffine<G>* out = level % 2 == 0 ? buffers.even.data : buffers.odd.data;
    if (level == 0) {
      base::cuda::launch(tree_level<G, Source>, shape, stream, source, count, level, threshold, out,
                         plan.max_batch, buffers.scratch.data);
    } else {
      const PointArray<G> previous{level % 2 == 1 ? buffers.even.data : buffers.odd.data};
      base::cuda::launch(tree_level<G, PointArray<G>>, shape, stream, previous, count, level,
                         threshold, out, plan.max_batch, buffers.scratch.data);
    }
  }
  base::cuda::launch(sum_rest<G, Source>,
                     {plan.sm_count * kRestBlocksAnSm, kSumThreads, kSumSharedBytes<G>}, stream,
                     source, count, threshold, buffers.even.data, buffers.odd.data, partial);
}

template <class G>
struct Buffers {
  IndexList list;
  TreeBuffers<G> tree;
  base::cuda::DeviceSpan<StoredXyzz<G>> partial;

  static Buffers carve(const BatchAddPlan& plan, base::cuda::Carver& carver) {
    const std::size_t points = std::min(plan.n, plan.slice);
    Buffers buffers;
    buffers.list = IndexList::carve(points, carver);
    buffers.tree = TreeBuffers<G>::carve(points, plan, carver);
    buffers.partial = carver.take<StoredXyzz<G>>(plan.slices() * kRestBlocksAnSm * plan.sm_count);
    return buffers;
  }
};

}  // namespace batch_add_detail

/// Bytes of workspace that batch_add() of this plan needs.
template <class G>
std::size_t batch_add_workspace(const BatchAddPlan& plan) {
  base::cuda::Carver measure;
  batch_add_detail::Buffers<G>::carve(plan, measure);
  return measure.bytes_used();
}

/// Enqueues *result = sum of bases[i] over the i < plan.n whose bit is one (bit i % 32 of bits[i /
/// 32]). Any base may be the identity, equal to or the opposite of others. `result` is one point in
/// device memory.
template <class G>
void batch_add(const BatchAddPlan& plan, base::cuda::DeviceSpan<const StoredAffine<G>> bases,
               base::cuda::DeviceSpan<const std::uint32_t> bits,
               base::cuda::DeviceSpan<std::byte> workspace, StoredXyzz<G>* result,
               base::cuda::StreamRef stream) {
  base::require(bases.size >= plan.n && bits.size >= (plan.n + 31) / 32,
                "0/1 sum of {} points: given {} points and {} words of bits", plan.n, bases.size,
                bits.size);
  base::cuda::Carver carver(workspace);
  const auto buffers = batch_add_detail::Buffers<G>::carve(plan, carver);
  base::require(carver.fits(), "0/1 sum of {} points needs a workspace of {} bytes, given {}",
                plan.n, carver.bytes_used(), workspace.size);
  const unsigned blocks = batch_add_detail::kRestBlocksAnSm * plan.sm_count;
  std::size_t slice = 0;
  for (std::size_t first = 0; first < plan.n; first += plan.slice, ++slice) {
    const std::size_t points = std::min(plan.slice, plan.n - first);
    list_ones(bits.data + first / 32, points, buffers.list, stream);
    batch_add_detail::add_source<G>(ListedPoints<G>{bases.data + first, buffers.list.indices.data},
                                    points, buffers.list.count(points), plan, buffers.tree,
                                    buffers.partial.data + slice * blocks, stream);
  }
  base::cuda::launch(sum_partials<G>, {1, kSumThreads, kSumSharedBytes<G>}, stream,
                     buffers.partial.data, static_cast<std::uint32_t>(slice * blocks), result);
}

}  // namespace cuzk::groth16::cuda
