#pragma once

#include "base/cuda/launch.hpp"
#include "base/error.hpp"
#include "curve/device/blst.hpp"
#include "curve/device/fr_mul.hpp"
#include "groth16/ops/cuda/batch_affine.cuh"
#include "groth16/ops/cuda/fr_memory.cuh"
#include "groth16/ops/cuda/instances/key_points.hpp"
#include "groth16/ops/cuda/xyzz_sum.cuh"

/// Multiples of one point: see instances/key_points.hpp and fixed_base_plan.hpp.
///
/// A thread (a pair in G2) a scalar: it adds up one table entry a window in XYZZ form, then the
/// block shares inversions to make the sums affine. With 16-bit windows 15 additions of 10 products
/// or squares a scalar and about 1.7 kB of table, which L2 serves: bound by products.
namespace cuzk::groth16::cuda {

/// Threads and blocks an SM; Share as in block_inverse().
template <class G>
struct FixedBaseShape;
template <>
struct FixedBaseShape<curve::device::G1> {
  static constexpr unsigned kThreads = 128, kBlocks = 3, kShare = 4;
};
template <>
struct FixedBaseShape<curve::device::G2> {
  static constexpr unsigned kThreads = 384, kBlocks = 1, kShare = 1;
};

namespace fixed_base_detail {

using curve::device::Fr;

/// Takes the signed digits of a scalar from the lowest on.
class Digits {
 public:
  struct Digit {
    std::uint32_t magnitude;
    bool negative;
  };

  /// `k` is canonical and plain.
  CUZK_HD Digits(const Fr& k, unsigned bits) : rest_(k), bits_(bits) {}

  CUZK_HD Digit next() {
    const std::uint32_t size = 1u << bits_, half = size / 2;
    const std::uint32_t raw = (rest_.limbs[0] & (size - 1)) + carry_;
    CUZK_UNROLL
    for (int i = 0; i < 7; ++i)
      rest_.limbs[i] = rest_.limbs[i] >> bits_ | rest_.limbs[i + 1] << (32 - bits_);
    rest_.limbs[7] >>= bits_;
    const bool negative = raw > half;
    carry_ = negative ? 1 : 0;
    return {negative ? size - raw : raw, negative};
  }

 private:
  Fr rest_;
  unsigned bits_;
  std::uint32_t carry_ = 0;
};

/// Entry w·half + known + i = entry w·half + i plus entry w·half + known - 1, for i < known: the
/// multiples 1 ... known of each window's base become 1 ... 2·known. A thread (a pair) an entry.
template <class G>
static __global__ void __launch_bounds__(128)
    double_known(StoredAffine<G>* table, std::uint32_t half, std::uint32_t known,
                 std::uint32_t entries) {
  const std::uint32_t entry = base::cuda::grid_thread() / G::kLanes;
  const std::uint32_t at = entry < entries ? entry : entries - 1;
  StoredAffine<G>* window = table + std::size_t{at / known} * half;
  PointXyzz<G> sum = to_xyzz(curve::device::load_point<G>(window + at % known));
  add_assign(sum, curve::device::load_point<G>(window + known - 1));
  const PointAffine<G> point = to_affine(sum);
  if (entry < entries) curve::device::store_point<G>(window + known + at % known, point);
}

template <class G>
static __global__ void __launch_bounds__(128)
    place_bases(const StoredAffine<G>* bases, std::uint32_t windows, std::uint32_t half,
                StoredAffine<G>* table) {
  const std::uint32_t w = base::cuda::grid_thread() / G::kLanes;
  if (w >= windows) return;
  curve::device::store_point<G>(table + std::size_t{w} * half,
                                curve::device::load_point<G>(bases + w));
}

template <class G>
static __global__ void __launch_bounds__(FixedBaseShape<G>::kThreads, FixedBaseShape<G>::kBlocks)
    multiply(const Fr* scalars, std::uint32_t count, const StoredAffine<G>* table,
             unsigned window_bits, unsigned windows, StoredAffine<G>* out) {
  using Shape = FixedBaseShape<G>;
  using Field = typename G::Field;
  const std::uint32_t i = base::cuda::grid_thread() / G::kLanes;
  const std::uint32_t at = i < count ? i : count - 1;
  // A product by the plain one divides by 2^256, which leaves the plain integer.
  Digits digits(canonical(mul(load_readonly(scalars + at), Fr::from_u32(1))), window_bits);
  const std::size_t half = std::size_t{1} << (window_bits - 1);
  const auto next_point = [&](unsigned w) {
    const Digits::Digit digit = digits.next();
    const bool zero = digit.magnitude == 0;
    const StoredAffine<G>* entry = table + w * half + (zero ? 0 : digit.magnitude - 1);
    const PointAffine<G> point =
        negate_if(curve::device::load_point_readonly<G>(entry), digit.negative);
    return select(zero, PointAffine<G>::identity(), point);
  };
  PointXyzz<G> sum = to_xyzz(next_point(0));
  CUZK_NO_UNROLL
  for (unsigned w = 1; w < windows; ++w) add_assign(sum, next_point(w));

  const bool identity = is_identity(sum);
  const Field inverted = block_inverse<G, Shape::kThreads, Shape::kShare>(
      select(identity, Field::one(), sum.zzz), base::cuda::dynamic_shared_words(), blockIdx.x);
  // With ZZ = Z² and ZZZ = Z³: 1/Z = ZZ/ZZZ.
  const Field z_inverse = mul(inverted, sum.zz);
  const Field x = canonical(mul(sum.x, square(z_inverse))), y = canonical(mul(sum.y, inverted));
  const PointAffine<G> point = select(identity, PointAffine<G>::identity(), PointAffine<G>{x, y});
  if (i < count) curve::device::store_point<G>(out + i, point);
}

inline blst_p1 doubled(const blst_p1& point) {
  blst_p1 out;
  blst_p1_double(&out, &point);
  return out;
}
inline blst_p2 doubled(const blst_p2& point) {
  blst_p2 out;
  blst_p2_double(&out, &point);
  return out;
}
inline curve::device::G1Affine stored(const blst_p1& point) {
  blst_p1_affine out;
  blst_p1_to_affine(&out, &point);
  return curve::device::from_blst(out);
}
inline curve::device::G2Affine stored(const blst_p2& point) {
  blst_p2_affine out;
  blst_p2_to_affine(&out, &point);
  return curve::device::from_blst(out);
}

}  // namespace fixed_base_detail

template <class G>
std::vector<StoredAffine<G>> window_bases(const FixedBasePlan& plan, const StoredAffine<G>& base) {
  std::vector<StoredAffine<G>> out;
  auto point = curve::device::to_blst(base);
  while (out.size() < plan.windows) {
    out.push_back(fixed_base_detail::stored(point));
    for (unsigned i = 0; i < plan.window_bits; ++i) point = fixed_base_detail::doubled(point);
  }
  return out;
}

template <class G>
void make_fixed_base_table(const FixedBasePlan& plan,
                           base::cuda::DeviceSpan<const StoredAffine<G>> bases,
                           base::cuda::DeviceSpan<StoredAffine<G>> table,
                           base::cuda::StreamRef stream) {
  base::require(bases.size >= plan.windows && table.size >= plan.table_points(),
                "fixed base of {} windows: given {} bases and room for {} points", plan.windows,
                bases.size, table.size);
  const auto half = static_cast<std::uint32_t>(plan.window_entries());
  base::cuda::launch(fixed_base_detail::place_bases<G>,
                     {base::cuda::blocks_for(plan.windows * G::kLanes, 128), 128, 0}, stream,
                     bases.data, plan.windows, half, table.data);
  for (std::uint32_t known = 1; known < half; known *= 2) {
    const std::size_t entries = std::size_t{plan.windows} * known;
    base::cuda::launch(fixed_base_detail::double_known<G>,
                       {base::cuda::blocks_for(entries * G::kLanes, 128), 128, 0}, stream,
                       table.data, half, known, static_cast<std::uint32_t>(entries));
  }
}

template <class G>
void multiply_fixed_base(const FixedBasePlan& plan,
                         base::cuda::DeviceSpan<const StoredAffine<G>> table,
                         base::cuda::DeviceSpan<const curve::device::Fr> scalars, std::size_t count,
                         base::cuda::DeviceSpan<StoredAffine<G>> out,
                         base::cuda::StreamRef stream) {
  using Shape = FixedBaseShape<G>;
  base::require(count < std::size_t{1} << 30 && scalars.size >= count && out.size >= count &&
                    table.size >= plan.table_points(),
                "fixed base: {} multiples: given {} scalars, room for {} points and a table of {}; "
                "at most 2^30 at a time",
                count, scalars.size, out.size, table.size);
  const std::size_t shared_bytes = kInverseWords<Shape::kThreads, Shape::kShare> * sizeof(uint4);
  base::cuda::launch(
      fixed_base_detail::multiply<G>,
      {base::cuda::blocks_for(count * G::kLanes, Shape::kThreads), Shape::kThreads, shared_bytes},
      stream, scalars.data, static_cast<std::uint32_t>(count), table.data, plan.window_bits,
      plan.windows, out.data);
}

}  // namespace cuzk::groth16::cuda
