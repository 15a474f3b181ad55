#pragma once

#include "groth16/ops/cuda/batch_add.cuh"

/// The 0/1 sum from a table of signed groups: half the additions for twice the memory.
///
///   sum of b_i·P_i = (sum of P_i + sum of (2·b_i - 1)·P_i) / 2
///
/// For every four neighbouring bases the table holds the eight sums P_0 ± P_1 ± P_2 ± P_3, so that
/// each group costs one addition of a table entry or its negative, whatever its bits. The halving
/// is left to the host, which also adds the constant sum of all bases; both need the bases to be in
/// the subgroup of order r.
///
/// Measured on H200 in G1: 2^27 bases in 10.0 ms (batch_add of half of them: 18.5), the table made
/// once in 1.3 s.
namespace cuzk::groth16::cuda {

/// What level 0 adds: group q's entry for its four bits. Entry c is P_0 + sum of ±P_j, minus where
/// bit j - 1 of c is set.
template <class G>
struct GroupedPoints {
  const StoredAffine<G>* table;
  const std::uint32_t* bits;

  CUZK_DEVICE std::uint32_t code(std::uint32_t q) const {
    return __ldg(bits + q / 8) >> (q % 8 * 4) & 15u;
  }
  CUZK_DEVICE const StoredAffine<G>* at(std::uint32_t q) const {
    const std::uint32_t c = code(q),
                        minus = negative(q) ? c : ~c;  // of the whole sum, if P_0's sign is minus
    return table + std::size_t{q} * kGroupEntries + (minus >> 1 & 7u);
  }
  CUZK_DEVICE bool negative(std::uint32_t q) const { return (code(q) & 1u) == 0; }
};

namespace group_table_detail {

template <class G>
CUZK_DEVICE PointAffine<G> affine_sum(const PointAffine<G>& a, const PointAffine<G>& b) {
  const curve::device::PairKind kind = classify_pair(a, b);
  const auto d = denominator(kind, sub<2>(b.x, a.x), a.y);
  return finish_pair(kind, a, b, inverse(d));
}

/// A thread (a pair) a group: 14 additions with an inversion each.
template <class G>
static __global__ void __launch_bounds__(128)
    fill_group_table(const StoredAffine<G>* bases, std::uint32_t n, StoredAffine<G>* table,
                     std::uint32_t groups) {
  const std::uint32_t thread_group = base::cuda::grid_thread() / G::kLanes;
  const bool mine = thread_group < groups;
  const std::uint32_t q = mine ? thread_group : groups - 1;
  const auto base_at = [&](std::uint32_t j) {
    const std::uint32_t i = q * static_cast<std::uint32_t>(kGroupBases) + j;
    const PointAffine<G> p = curve::device::load_point_readonly<G>(bases + (i < n ? i : 0));
    return select(i < n, p, PointAffine<G>::identity());
  };
  StoredAffine<G>* entries = table + std::size_t{q} * kGroupEntries;
  const auto put = [&](std::uint32_t c, const PointAffine<G>& p) {
    if (mine) curve::device::store_point<G>(entries + c, p);
  };
  PointAffine<G> first = base_at(0);
  CUZK_NO_UNROLL
  for (std::uint32_t c = 0; c < kGroupEntries; ++c) {
    PointAffine<G> sum = first;
    CUZK_NO_UNROLL
    for (std::uint32_t j = 1; j < kGroupBases; ++j) {
      sum = affine_sum<G>(sum, negate_if(base_at(j), (c >> (j - 1) & 1u) != 0));
    }
    put(c, sum);
  }
}

[[maybe_unused]] static __global__ void set_word(std::uint32_t* word, std::uint32_t value) {
  *word = value;
}

template <class G>
struct Buffers {
  base::cuda::DeviceSpan<std::uint32_t> count;
  batch_add_detail::TreeBuffers<G> tree;
  base::cuda::DeviceSpan<StoredXyzz<G>> partial;

  static Buffers carve(const BatchAddPlan& plan, base::cuda::Carver& carver) {
    Buffers buffers;
    buffers.count = carver.take<std::uint32_t>(1);
    buffers.tree = batch_add_detail::TreeBuffers<G>::carve(plan.n, plan, carver);
    buffers.partial = carver.take<StoredXyzz<G>>(batch_add_detail::kRestBlocksAnSm * plan.sm_count);
    return buffers;
  }
};

}  // namespace group_table_detail

/// Enqueues the making of the table of the first n bases: group_table_points(n) points.
template <class G>
void make_group_table(base::cuda::DeviceSpan<const StoredAffine<G>> bases, std::size_t n,
                      base::cuda::DeviceSpan<StoredAffine<G>> table, base::cuda::StreamRef stream) {
  base::require(bases.size >= n && table.size >= group_table_points(n),
                "group table of {} bases: given {} and room for {}", n, bases.size, table.size);
  const std::size_t groups = group_table_points(n) / kGroupEntries;
  base::cuda::launch(group_table_detail::fill_group_table<G>,
                     {base::cuda::blocks_for(groups * G::kLanes, 128), 128, 0}, stream, bases.data,
                     static_cast<std::uint32_t>(n), table.data, static_cast<std::uint32_t>(groups));
}

template <class G>
std::size_t grouped_workspace(const BatchAddPlan& plan) {
  base::cuda::Carver measure;
  group_table_detail::Buffers<G>::carve(plan, measure);
  return measure.bytes_used();
}

/// Enqueues *result = sum of (2·b_i - 1)·P_i over the bases of the table, for finish_grouped_sum().
/// `bits` has a bit a base, and whole words up to the last group.
template <class G>
void batch_add_grouped(const BatchAddPlan& plan,
                       base::cuda::DeviceSpan<const StoredAffine<G>> table,
                       base::cuda::DeviceSpan<const std::uint32_t> bits,
                       base::cuda::DeviceSpan<std::byte> workspace, StoredXyzz<G>* result,
                       base::cuda::StreamRef stream) {
  base::require(table.size >= plan.n * kGroupEntries && bits.size * 8 >= plan.n,
                "grouped sum of {} groups: given a table of {} points and {} words of bits", plan.n,
                table.size, bits.size);
  base::cuda::Carver carver(workspace);
  const auto buffers = group_table_detail::Buffers<G>::carve(plan, carver);
  base::require(carver.fits(), "grouped sum of {} groups needs a workspace of {} bytes, given {}",
                plan.n, carver.bytes_used(), workspace.size);
  base::cuda::launch(group_table_detail::set_word, {1, 1, 0}, stream, buffers.count.data,
                     static_cast<std::uint32_t>(plan.n));
  batch_add_detail::add_source<G>(GroupedPoints<G>{table.data, bits.data}, plan.n,
                                  buffers.count.data, plan, buffers.tree, buffers.partial.data,
                                  stream);
  base::cuda::launch(sum_partials<G>, {1, kSumThreads, kSumSharedBytes<G>}, stream,
                     buffers.partial.data, static_cast<std::uint32_t>(buffers.partial.size),
                     result);
}

}  // namespace cuzk::groth16::cuda
