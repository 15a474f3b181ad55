#pragma once

#include "groth16/ops/cuda/msm_accumulate.cuh"

/// Dense multi-scalar multiplication on the device: sum of k_i·P_i, full-width scalars, Pippenger's
/// method with signed digits. Everything stays on the stream; what is left for the host
/// (msm_finish.hpp) is a few hundred points.
///
/// - digits, sort (msm_digits.cuh): every window's digits, sorted into buckets; buckets ordered by
///   size
/// - accumulate (msm_accumulate.cuh): the sum of each bucket
/// - reduce (here): sum of d·B_d over the buckets of each window
///
/// Measured on H200 in G1: 2^27 products 516 ms, 89.6 M 349 ms, 2^20 9.1 ms.
namespace cuzk::groth16::cuda {

namespace msm_detail {

// A level takes points S_i (and W_i) and stands for sum of W_i + 2^e·sum of i·S_i. Cutting i =
// 2^bits·c + j:
//   S'_c = sum over j of S_j,   W'_c = sum over j of W_j + 2^e·sum over j of j·S_j,   e' = e +
//   bits.

template <class G>
CUZK_DEVICE void add_stored(PointXyzz<G>& sum, const StoredXyzz<G>* p) {
  add_assign(sum, curve::device::load_point<G>(p));
}
template <class G>
CUZK_DEVICE void add_stored(PointXyzz<G>& sum, const StoredAffine<G>* p) {
  add_assign(sum, curve::device::load_point<G>(p));
}

/// One level: `count` outputs, 2^bits inputs each. `weighted` is null on the first level, where e =
/// 0. 2·2^bits to 3·2^bits additions and e doublings a thread.
template <class G, class Bucket>
static __global__ void __launch_bounds__(128)
    reduce_level(const Bucket* plain, const StoredXyzz<G>* weighted, int bits, int e,
                 std::uint32_t count, StoredXyzz<G>* plain_out, StoredXyzz<G>* weighted_out) {
  const std::uint32_t c = base::cuda::grid_thread() / G::kLanes;
  const std::size_t first = static_cast<std::size_t>(c < count ? c : count - 1) << bits;
  PointXyzz<G> sum = PointXyzz<G>::identity(), total = PointXyzz<G>::identity();
  CUZK_NO_UNROLL
  for (int j = (1 << bits) - 1; j >= 0; --j) {
    add_stored<G>(sum, plain + first + j);
    if (j > 0) add_assign(total, sum);
  }
  CUZK_NO_UNROLL
  for (int k = 0; k < e; ++k) total = doubled(total);
  if (weighted != nullptr) {
    CUZK_NO_UNROLL
    for (int j = 0; j < 1 << bits; ++j)
      add_assign(total, curve::device::load_point<G>(weighted + first + j));
  }
  if (c >= count) return;
  curve::device::store_point<G>(plain_out + c, sum);
  curve::device::store_point<G>(weighted_out + c, total);
}

template <class G>
struct SumBuffers {
  base::cuda::DeviceSpan<StoredXyzz<G>> xyzz;  // buckets, one of the two
  base::cuda::DeviceSpan<StoredAffine<G>> affine;
  base::cuda::DeviceSpan<StoredXyzz<G>> partials;  // pieces of heavy buckets
  AffineScratch scratch;
  // Outputs of even and odd levels, plain then weighted.
  base::cuda::DeviceSpan<StoredXyzz<G>> even, odd;

  static SumBuffers carve(const MsmPlan& plan, base::cuda::Carver& carver) {
    const std::size_t buckets = plan.windows.buckets(),
                      digits = plan.n * static_cast<std::size_t>(plan.windows.count);
    SumBuffers buffers;
    if (plan.accumulation == Accumulation::kXyzz) {
      buffers.xyzz = carver.take<StoredXyzz<G>>(buckets);
    } else {
      buffers.affine = carver.take<StoredAffine<G>>(buckets);
    }
    // A bucket of several pieces has more than one full one.
    buffers.partials = carver.take<StoredXyzz<G>>(2 * digits / kPiece<G> + 2);
    const std::size_t mark = carver.mark();
    if (plan.accumulation == Accumulation::kAffine)
      buffers.scratch = AffineScratch::carve<G>(plan, carver);
    carver.rewind(mark);  // the accumulation's scratch is free again when the levels run
    const std::size_t first = plan.levels.empty() ? 0 : buckets >> plan.levels[0];
    buffers.even = carver.take<StoredXyzz<G>>(2 * first);
    buffers.odd =
        carver.take<StoredXyzz<G>>(plan.levels.size() < 2 ? 0 : 2 * (first >> plan.levels[1]));
    return buffers;
  }
};

template <class G>
struct Buffers {
  BucketLists lists;
  SortBuffers sort;
  SumBuffers<G> sums;

  static Buffers carve(const MsmPlan& plan, base::cuda::Carver& carver) {
    Buffers buffers;
    buffers.lists = BucketLists::carve(plan, carver);
    const std::size_t mark = carver.mark();
    buffers.sort = SortBuffers::carve(plan, carver);
    carver.rewind(mark);
    buffers.sums = SumBuffers<G>::carve(plan, carver);
    return buffers;
  }
};

template <class G, class Bucket>
void add_heavy(const MsmPlan& plan, const StoredAffine<G>* bases, const Buffers<G>& b, Bucket* sums,
               base::cuda::StreamRef stream) {
  const base::cuda::LaunchShape shape{plan.sm_count * 3, kSumThreads, kSumSharedBytes<G>};
  base::cuda::launch(sum_heavy_pieces<G, Bucket>, shape, stream, bases, b.lists.points.data,
                     b.lists.heavy.data, b.lists.counters.data, b.sums.partials.data, sums);
  base::cuda::launch(merge_heavy_pieces<G, Bucket>, shape, stream, b.lists.heavy.data,
                     b.lists.counters.data, b.sums.partials.data, sums);
}

template <class G>
void accumulate(const MsmPlan& plan, const StoredAffine<G>* bases, const Buffers<G>& b,
                base::cuda::StreamRef stream) {
  using Shape = MsmShape<G>;
  const std::uint32_t count = plan.windows.buckets();
  const BucketLists& lists = b.lists;
  const BucketView<G> view{
      bases, lists.points.data, lists.rank_start.data, lists.rank_size.data, lists.order.data,
      count};
  if (plan.accumulation == Accumulation::kXyzz) {
    const unsigned grid =
        base::cuda::blocks_for(std::size_t{count} * G::kLanes, Shape::kXyzzThreads);
    base::cuda::launch(accumulate_xyzz<G>, {grid, Shape::kXyzzThreads, kXyzzSharedBytes<G>}, stream,
                       view, b.sums.xyzz.data);
    return add_heavy<G>(plan, bases, b, b.sums.xyzz.data, stream);
  }
  base::cuda::fill_bytes(b.sums.affine.data, 0, b.sums.affine.size_bytes(), stream);
  const AffineScratch& scratch = b.sums.scratch;
  base::cuda::launch(
      accumulate_affine<G>,
      {plan.sm_count * Shape::kAffineBlocks, Shape::kAffineThreads, kAffineSharedBytes<G>}, stream,
      view, b.sums.affine.data, plan.batch, scratch.prefixes.data, scratch.sums.data,
      scratch.entries.data, lists.counters.data);
  add_heavy<G>(plan, bases, b, b.sums.affine.data, stream);
}

/// Levels from the buckets to `out`: final_sums() plain sums, then as many weighted ones.
template <class G, class Bucket>
void reduce(const MsmPlan& plan, const Bucket* buckets, const SumBuffers<G>& b, StoredXyzz<G>* out,
            base::cuda::StreamRef stream) {
  const StoredXyzz<G>* plain = nullptr;
  const StoredXyzz<G>* weighted = nullptr;
  std::size_t count = plan.windows.buckets();
  int e = 0;
  for (std::size_t level = 0; level < plan.levels.size(); ++level) {
    const int bits = plan.levels[level];
    count >>= bits;
    StoredXyzz<G>* to = level + 1 == plan.levels.size() ? out
                        : level % 2 == 0                ? b.even.data
                                                        : b.odd.data;
    const base::cuda::LaunchShape shape{base::cuda::blocks_for(count * G::kLanes, 128), 128, 0};
    const auto outputs = static_cast<std::uint32_t>(count);
    if (level == 0) {
      base::cuda::launch(reduce_level<G, Bucket>, shape, stream, buckets, nullptr, bits, e, outputs,
                         to, to + count);
    } else {
      base::cuda::launch(reduce_level<G, StoredXyzz<G>>, shape, stream, plain, weighted, bits, e,
                         outputs, to, to + count);
    }
    plain = to;
    weighted = to + count;
    e += bits;
  }
}

}  // namespace msm_detail

/// The plan of n products in G on a device of `sm_count` multiprocessors.
template <class G>
std::size_t msm_buckets_at_once(unsigned sm_count) {
  return std::size_t{sm_count} * MsmShape<G>::kAffineBlocks * MsmShape<G>::kAffineThreads /
         G::kLanes;
}
template <class G>
MsmPlan make_msm_plan(std::size_t n, unsigned sm_count) {
  return MsmPlan::make(n, sm_count, msm_buckets_at_once<G>(sm_count));
}

/// Bytes of workspace that msm() of this plan needs.
template <class G>
std::size_t msm_workspace(const MsmPlan& plan) {
  base::cuda::Carver measure;
  msm_detail::Buffers<G>::carve(plan, measure);
  return measure.bytes_used();
}

/// Enqueues the sum over i < plan.n of scalars[j]·bases[j], j = list[i], or i where `list` is null.
/// Scalars are loose plain integers (not Montgomery form); zeros are allowed but cost as much as
/// others in the sort. Bases may be the identity, equal or opposite.
///
/// `out` receives 2·plan.final_sums() points, for finish_msm(). Every list entry is below
/// bases_size, which is below 2^31.
template <class G>
void msm(const MsmPlan& plan, base::cuda::DeviceSpan<const StoredAffine<G>> bases,
         base::cuda::DeviceSpan<const curve::device::Fr> scalars, const std::uint32_t* list,
         base::cuda::DeviceSpan<std::byte> workspace, base::cuda::DeviceSpan<StoredXyzz<G>> out,
         base::cuda::StreamRef stream) {
  base::require(list != nullptr || (bases.size >= plan.n && scalars.size >= plan.n),
                "sum of {} products: given {} bases and {} scalars", plan.n, bases.size,
                scalars.size);
  base::require(out.size >= 2 * plan.final_sums(),
                "sum of {} products leaves {} points, given room for {}", plan.n,
                2 * plan.final_sums(), out.size);
  base::cuda::Carver carver(workspace);
  const auto buffers = msm_detail::Buffers<G>::carve(plan, carver);
  base::require(carver.fits(), "sum of {} products needs a workspace of {} bytes, given {}", plan.n,
                carver.bytes_used(), workspace.size);
  if (plan.n == 0) return base::cuda::fill_bytes(out.data, 0, out.size_bytes(), stream);
  msm_detail::sort_into_buckets(plan, scalars.data, list, msm_detail::kPiece<G>, buffers.lists,
                                buffers.sort, stream);
  msm_detail::accumulate<G>(plan, bases.data, buffers, stream);
  if (plan.accumulation == Accumulation::kXyzz) {
    msm_detail::reduce<G>(plan, buffers.sums.xyzz.data, buffers.sums, out.data, stream);
  } else {
    msm_detail::reduce<G>(plan, buffers.sums.affine.data, buffers.sums, out.data, stream);
  }
}

}  // namespace cuzk::groth16::cuda
