#pragma once

#include "base/cuda/buffer.hpp"
#include "base/cuda/registered_array.hpp"
#include "curve/device/blst.hpp"
#include "groth16/cuda/device_key.hpp"
#include "groth16/cuda/key_order.hpp"
#include "groth16/ops/cuda/instances/batch_add.hpp"
#include "groth16/ops/cuda/xyzz_sum.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

/// A query of a key, taken apart into what DeviceQuery is, as its points arrive in the key's order.
namespace cuzk::groth16::cuda {

/// Memory of a query.
template <class G>
struct QueryMemory {
  base::cuda::DeviceBuffer<StoredAffine<G>> fields, bits, table;
  base::cuda::RegisteredArray<StoredAffine<G>> host_bits;
  DeviceQuery<G> query;
};

namespace query_builder_detail {

/// Point i of `points` is point first + i of the query: to `fields`, or to `bits`, which starts at
/// the query's bit first_bit. 16 bytes a thread; reads and writes 96 bytes a point in G1.
template <class Point>
static __global__ void __launch_bounds__(256)
    split_points(const Point* points, std::uint32_t count, std::uint32_t first,
                 const std::uint32_t* kinds, const std::uint32_t* bits_before_word, Point* fields,
                 Point* bits, std::uint32_t first_bit) {
  constexpr std::uint32_t kWords = sizeof(Point) / sizeof(uint4);
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const auto i = static_cast<std::uint32_t>(thread / kWords);
  const auto part = static_cast<std::uint32_t>(thread % kWords);
  if (i >= count) return;
  const std::uint32_t p = first + i, word = __ldg(kinds + p / 32);
  const std::uint32_t before = __ldg(bits_before_word + p / 32) +
                               static_cast<std::uint32_t>(__popc(word & ((1u << (p % 32)) - 1)));
  Point* target =
      (word >> (p % 32) & 1u) != 0 ? bits + (before - first_bit) : fields + (p - before);
  reinterpret_cast<uint4*>(target)[part] = reinterpret_cast<const uint4*>(points + i)[part];
}

/// partial[block] = the sum of the block's share of the groups' entries 0, which are the sums of
/// the groups' bases.
template <class G>
static __global__ void __launch_bounds__(kSumThreads)
    sum_groups(const StoredAffine<G>* table, std::uint32_t groups, StoredXyzz<G>* partial) {
  using Field = typename G::Field;
  StoredXyzz<G>* shared = reinterpret_cast<StoredXyzz<G>*>(base::cuda::dynamic_shared_words());
  const std::uint32_t step = base::cuda::grid_threads() / G::kLanes;
  PointXyzz<G> sum = PointXyzz<G>::identity();
  CUZK_NO_UNROLL
  for (std::uint32_t q = base::cuda::grid_thread() / G::kLanes; Field::any(q < groups); q += step) {
    const std::uint32_t at = q < groups ? q : groups - 1;
    const PointAffine<G> point =
        curve::device::load_point_readonly<G>(table + std::size_t{at} * kGroupEntries);
    add_assign(sum, select(q < groups, point, PointAffine<G>::identity()));
  }
  block_sum<G>(sum, shared);
  if (threadIdx.x < G::kLanes) curve::device::store_point<G>(partial + blockIdx.x, sum);
}

}  // namespace query_builder_detail

/// The sum of all bases of a group table, on the host. Waits for the stream.
template <class G>
typename GroupTypes<G>::Sum sum_of_table(base::cuda::DeviceSpan<const StoredAffine<G>> table,
                                         base::cuda::StreamRef stream) {
  constexpr std::size_t kMostBlocks = 512;
  const std::size_t groups = table.size / kGroupEntries;
  const std::size_t blocks =
      std::clamp<std::size_t>((groups + kSumPoints<G> - 1) / kSumPoints<G>, 1, kMostBlocks);
  const base::cuda::DeviceBuffer<StoredXyzz<G>> partial(blocks + 1, "sums of a group table");
  base::cuda::launch(query_builder_detail::sum_groups<G>,
                     {static_cast<unsigned>(blocks), kSumThreads, kSumSharedBytes<G>}, stream,
                     table.data, static_cast<std::uint32_t>(groups), partial.data());
  base::cuda::launch(sum_partials<G>, {1, kSumThreads, kSumSharedBytes<G>}, stream, partial.data(),
                     static_cast<std::uint32_t>(blocks), partial.data() + blocks);
  return curve::device::to_blst(partial.download(blocks, 1, stream)[0]);
}

/// Takes a query's points in the key's order and splits them. Bits that are not to stay on the
/// device as they are pass through a slice of memory, out of which they go into the table or to the
/// host, so that they never all exist. One thread; all work on one stream.
template <class G>
class QueryBuilder {
 public:
  /// At most `chunk_points` points come at a time. `order` must outlive the builder.
  QueryBuilder(const KeyOrder& order, Placement placement, std::size_t chunk_points,
               base::cuda::StreamRef stream)
      : order_(order),
        placement_(placement),
        chunk_points_(chunk_points),
        stream_(stream),
        kinds_(order.kinds().size(), "kinds of a query's points"),
        bits_before_word_(kinds_.size(), "kinds of a query's points") {
    const std::size_t bits = order.bit_count();
    memory_.fields = {order.field_count(), "a query's fields"};
    if (placement_ == Placement::kDevice) {
      memory_.bits = {bits, "a query's bits"};
    } else {
      slice_ = {chunk_points + kGroupBases - 1, "a slice of a query's bits"};
      if (placement_ == Placement::kTable) {
        memory_.table = {group_table_points(bits), "a query's group table"};
      } else {
        memory_.host_bits = {bits, "a query's bits"};
      }
    }
    kinds_.upload(order.kinds(), stream);
    bits_before_word_.upload(order.bits_before_word(), stream);
  }

  /// Enqueues the taking of the next points. Throws InvalidInput if there are too many.
  void put(base::cuda::DeviceSpan<const StoredAffine<G>> points) {
    base::require(points.size <= chunk_points_ && points.size <= order_.size() - next_point_,
                  "a query of {} points: {} more after {}", order_.size(), points.size,
                  next_point_);
    constexpr std::size_t kWords = sizeof(StoredAffine<G>) / sizeof(uint4);
    const bool direct = placement_ == Placement::kDevice;
    base::cuda::launch(
        query_builder_detail::split_points<StoredAffine<G>>,
        {base::cuda::blocks_for(points.size * kWords, 256), 256, 0}, stream_, points.data,
        static_cast<std::uint32_t>(points.size), static_cast<std::uint32_t>(next_point_),
        kinds_.data(), bits_before_word_.data(), memory_.fields.data(),
        direct ? memory_.bits.data() : slice_.data(), static_cast<std::uint32_t>(slice_first_bit_));
    next_point_ += points.size;
    if (!direct) empty_slice();
  }

  /// The query, when all points have been put. Waits for the stream. Once.
  QueryMemory<G> finish() {
    base::require(next_point_ == order_.size(), "a query of {} points ends after {}", order_.size(),
                  next_point_);
    DeviceQuery<G>& query = memory_.query;
    query.fields = memory_.fields.const_span();
    query.bits = memory_.bits.const_span();
    query.table = memory_.table.const_span();
    query.host_bits = memory_.host_bits.span();
    query.bit_count = order_.bit_count();
    if (query.tabled()) query.all_bits = sum_of_table<G>(query.table, stream_);
    base::cuda::synchronize(stream_);
    return std::move(memory_);
  }

 private:
  // A table takes whole groups, and the last one as it is; what is left over, less than a group,
  // moves to the slice's front.
  void empty_slice() {
    const std::size_t count = order_.bits_before(next_point_) - slice_first_bit_;
    std::size_t taken = count;
    if (placement_ == Placement::kHost) {
      base::cuda::copy_bytes(memory_.host_bits.data() + slice_first_bit_, slice_.data(),
                             count * sizeof(StoredAffine<G>), stream_);
    } else {
      if (next_point_ != order_.size()) taken = count / kGroupBases * kGroupBases;
      if (taken == 0) return;
      make_group_table<G>(slice_.const_span(), taken,
                          memory_.table.span().subspan(group_table_points(slice_first_bit_),
                                                       group_table_points(taken)),
                          stream_);
      base::cuda::copy_bytes(slice_.data(), slice_.data() + taken,
                             (count - taken) * sizeof(StoredAffine<G>), stream_);
    }
    slice_first_bit_ += taken;
  }

  const KeyOrder& order_;
  Placement placement_;
  std::size_t chunk_points_;
  base::cuda::StreamRef stream_;
  base::cuda::DeviceBuffer<std::uint32_t> kinds_, bits_before_word_;
  base::cuda::DeviceBuffer<StoredAffine<G>> slice_;
  QueryMemory<G> memory_;
  std::size_t next_point_ = 0;
  std::size_t slice_first_bit_ = 0;  // of the query's bits; 0 without a slice
};

}  // namespace cuzk::groth16::cuda
