#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/fr_mul.hpp"
#include "curve/device/multiple.hpp"
#include "groth16/ops/cuda/batch_affine.cuh"
#include "groth16/ops/cuda/fr_memory.cuh"
#include "groth16/ops/cuda/instances/point_transform.hpp"
#include "groth16/ops/cuda/xyzz_sum.cuh"

/// See instances/point_transform.hpp. A thread a butterfly or a point: the 400,000 wide
/// multiply-adds of a multiple hide whatever memory does.
namespace cuzk::groth16::cuda {

namespace point_transform_detail {

using curve::device::Fr;
using curve::device::G1;
using curve::device::G1Affine;
using curve::device::G1Xyzz;

inline constexpr unsigned kThreads = 128, kBlocks = 2;
/// Of settle_points(), as in block_inverse().
inline constexpr unsigned kShare = 4;

CUZK_DEVICE G1Xyzz negated(const G1Xyzz& a) {
  return {a.x, curve::device::neg<3>(a.y), a.zz, a.zzz};
}

static __global__ void __launch_bounds__(kThreads, kBlocks)
    stage(TransformPiece piece, std::size_t half, bool in_time, RootPowers powers,
          std::uint32_t butterflies, G1Xyzz* points) {
  const std::uint32_t t = base::cuda::grid_thread();
  if (t >= butterflies) return;
  // Neighbouring threads take neighbouring columns.
  const std::size_t column = t % piece.columns, pair = t / piece.columns;
  const std::size_t pairs = piece.rows / 2, block = pair / pairs, in_block = pair % pairs;
  const std::size_t j = in_block % half, row = in_block / half * 2 * half + j;
  G1Xyzz* const upper = points + (block * piece.rows + row) * piece.columns + column;
  G1Xyzz* const lower = upper + half * piece.columns;
  const std::size_t exponent = (j * piece.row_stride + piece.first_column + column) *
                               (piece.rows / (2 * half)) * piece.root_step;
  const auto times_root = [&](const G1Xyzz& a) {
    if (exponent == 0) return a;
    const std::size_t mask = (std::size_t{1} << powers.low_log) - 1;
    const Fr root = mul(load_readonly(powers.low.data + (exponent & mask)),
                        load_readonly(powers.high.data + (exponent >> powers.low_log)));
    // A product by the plain one divides by 2^256, which leaves the plain integer.
    return curve::device::multiple(a, canonical(mul(root, Fr::from_u32(1))));
  };
  G1Xyzz sum = curve::device::load_point<G1>(upper);
  G1Xyzz other = curve::device::load_point<G1>(lower);
  if (in_time) other = times_root(other);
  G1Xyzz difference = sum;
  add_assign(sum, other);
  add_assign(difference, negated(other));
  curve::device::store_point<G1>(upper, sum);
  if (!in_time) difference = times_root(difference);
  curve::device::store_point<G1>(lower, difference);
}

static __global__ void __launch_bounds__(kThreads)
    lift(const G1Affine* points, std::uint32_t count, G1Xyzz* sums) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= count) return;
  curve::device::store_point<G1>(sums + i,
                                 to_xyzz(curve::device::load_point_readonly<G1>(points + i)));
}

static __global__ void __launch_bounds__(kThreads)
    add(const G1Affine* points, std::uint32_t count, G1Xyzz* sums) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= count) return;
  G1Xyzz sum = curve::device::load_point<G1>(sums + i);
  add_assign(sum, curve::device::load_point_readonly<G1>(points + i));
  curve::device::store_point<G1>(sums + i, sum);
}

static __global__ void __launch_bounds__(kThreads, kBlocks)
    multiply(const Fr* scalars, std::uint32_t count, G1Xyzz* sums) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= count) return;
  const Fr k = canonical(mul(load_readonly(scalars + i), Fr::from_u32(1)));
  curve::device::store_point<G1>(
      sums + i, curve::device::multiple(curve::device::load_point<G1>(sums + i), k));
}

static __global__ void __launch_bounds__(kThreads)
    settle(const G1Xyzz* sums, std::uint32_t count, G1Affine* points) {
  const std::uint32_t i = base::cuda::grid_thread(), at = i < count ? i : count - 1;
  const G1Xyzz sum = curve::device::load_point<G1>(sums + at);
  const bool identity = is_identity(sum);
  const curve::device::Fp inverted =
      block_inverse<G1, kThreads, kShare>(select(identity, curve::device::Fp::one(), sum.zzz),
                                          base::cuda::dynamic_shared_words(), blockIdx.x);
  // With ZZ = Z² and ZZZ = Z³: 1/Z = ZZ/ZZZ.
  const curve::device::Fp z_inverse = mul(inverted, sum.zz);
  const G1Affine point{canonical(mul(sum.x, square(z_inverse))), canonical(mul(sum.y, inverted))};
  if (i < count)
    curve::device::store_point<G1>(points + i, select(identity, G1Affine::identity(), point));
}

}  // namespace point_transform_detail

}  // namespace cuzk::groth16::cuda
