#pragma once

#include "base/cuda/launch.hpp"
#include "curve/device/points.hpp"

/// Sums of points in XYZZ form within a block, and of a short list by one block.
namespace cuzk::groth16::cuda {

using curve::device::StoredAffine;
using curve::device::StoredXyzz;
template <class G>
using PointXyzz = curve::device::Xyzz<typename G::Field>;
template <class G>
using PointAffine = curve::device::Affine<typename G::Field>;

inline constexpr unsigned kSumThreads = 128;
/// Points (not threads) of a block.
template <class G>
inline constexpr unsigned kSumPoints = kSumThreads / G::kLanes;

/// The sum of the block's points in point 0; the others hold partial sums. `shared` has room for
/// kSumPoints<G>/2 stored points. Contains barriers.
template <class G>
CUZK_DEVICE void block_sum(PointXyzz<G>& sum, StoredXyzz<G>* shared) {
  const unsigned point = threadIdx.x / G::kLanes;
  CUZK_NO_UNROLL
  for (unsigned half = kSumPoints<G> / 2; half > 0; half /= 2) {
    if (point >= half && point < 2 * half)
      curve::device::store_point<G>(shared + (point - half), sum);
    __syncthreads();
    const bool active = point < half;
    if (G::Field::any(active)) {
      PointXyzz<G> other = PointXyzz<G>::identity();
      if (active) other = curve::device::load_point<G>(shared + point);
      add_assign(sum, other);
    }
    __syncthreads();
  }
}

/// out[block] = the sum of in[i], i = block's point number, then steps of the whole grid, i <
/// count. in and out differ.
template <class G>
static __global__ void __launch_bounds__(kSumThreads)
    sum_partials(const StoredXyzz<G>* in, std::uint32_t count, StoredXyzz<G>* out) {
  StoredXyzz<G>* shared = reinterpret_cast<StoredXyzz<G>*>(base::cuda::dynamic_shared_words());
  const std::uint32_t step = base::cuda::grid_threads() / G::kLanes;
  PointXyzz<G> sum = PointXyzz<G>::identity();
  CUZK_NO_UNROLL
  for (std::uint32_t i = base::cuda::grid_thread() / G::kLanes; G::Field::any(i < count);
       i += step) {
    PointXyzz<G> other = PointXyzz<G>::identity();
    if (i < count) other = curve::device::load_point<G>(in + i);
    add_assign(sum, other);
  }
  block_sum<G>(sum, shared);
  if (threadIdx.x < G::kLanes) curve::device::store_point<G>(out + blockIdx.x, sum);
}

template <class G>
inline constexpr std::size_t kSumSharedBytes = kSumPoints<G> / 2 * sizeof(StoredXyzz<G>);

}  // namespace cuzk::groth16::cuda
