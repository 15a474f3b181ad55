#pragma once

#include "base/cuda/launch.hpp"
#include "base/cuda/span.hpp"
#include "base/error.hpp"
#include "curve/device/points.hpp"
#include "curve/point.hpp"
#include "groth16/ops/cuda/instances/key_points.hpp"

/// Points between key files and device memory, in both directions: see instances/key_points.hpp.
/// A thread a coordinate component: one thread a point in G1, a pair in G2, where a pair's odd lane
/// has c1 and with it the flags, as c1 comes first.
namespace cuzk::groth16::cuda {

namespace decode_detail {

using curve::device::Fp;

/// The integer 2^768 mod p: mul() by it turns a plain integer into its Montgomery form.
CUZK_HD Fp montgomery_two() {
  return Fp{{0x1c341746, 0xf4df1f34, 0x09d104f1, 0x0a76e6a6, 0x4c95b6d5, 0x8de5476c, 0x939d83c0,
             0x67eb88a9, 0xb519952d, 0x9a793e85, 0x92cae3aa, 0x11988fe5}};
}
/// The integer one: mul() by it turns a Montgomery form into the plain integer.
CUZK_HD Fp plain_one() { return Fp{{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}; }

/// Whether the limbs are below p.
CUZK_HD bool is_canonical(const Fp& a) {
  using curve::device::fp_constants::multiple_limb;
  curve::device::carry::sub_cc(a.limbs[0], multiple_limb<1>(0));
  CUZK_UNROLL
  for (int i = 1; i < 12; ++i) curve::device::carry::subc_cc(a.limbs[i], multiple_limb<1>(i));
  return curve::device::carry::subc(0, 0) != 0;
}

CUZK_HD std::uint32_t reverse_bytes(std::uint32_t x) {
  return x << 24 | (x << 8 & 0x00ff0000u) | (x >> 8 & 0x0000ff00u) | x >> 24;
}
/// 48 bytes, most significant first, as limbs; and back.
CUZK_DEVICE Fp load_big_endian(const uint4* words) {
  Fp out;
  CUZK_UNROLL
  for (int i = 0; i < 3; ++i) {
    const uint4 word = __ldcs(words + i);
    out.limbs[11 - 4 * i] = reverse_bytes(word.x);
    out.limbs[10 - 4 * i] = reverse_bytes(word.y);
    out.limbs[9 - 4 * i] = reverse_bytes(word.z);
    out.limbs[8 - 4 * i] = reverse_bytes(word.w);
  }
  return out;
}
CUZK_DEVICE void store_big_endian(uint4* words, const Fp& a) {
  CUZK_UNROLL
  for (int i = 0; i < 3; ++i) {
    __stcs(words + i,
           make_uint4(reverse_bytes(a.limbs[11 - 4 * i]), reverse_bytes(a.limbs[10 - 4 * i]),
                      reverse_bytes(a.limbs[9 - 4 * i]), reverse_bytes(a.limbs[8 - 4 * i])));
  }
}

/// Whether it holds in all lanes of the point.
template <class G>
CUZK_DEVICE bool in_all_lanes(bool mine) {
  if constexpr (G::kLanes == 1) {
    return mine;
  } else {
    return curve::device::lane_detail::both(mine);
  }
}
/// Which 48-byte word of a coordinate is this lane's, and whether it starts with the flags.
template <class G>
CUZK_DEVICE unsigned my_component() {
  if constexpr (G::kLanes == 1) {
    return 0;
  } else {
    return curve::device::Fp2Lane::is_odd() ? 0 : 1;
  }
}

inline constexpr unsigned kCompressedFlag = 4, kIdentityFlag = 2, kSortFlag = 1;
inline constexpr unsigned kFlagShift = 29;
inline constexpr unsigned kComponentWords = 3;

/// y² = x³ + 4 in G1, y² = x³ + 4 + 4u in G2: one text, as every component of b is 4. For
/// components below 1.2p: x³ + b < 1.2p + 2p.
template <class G>
CUZK_DEVICE bool is_on_curve(const typename G::Field& x, const typename G::Field& y) {
  using Field = typename G::Field;
  const Fp two = curve::device::add(Fp::one(), Fp::one());
  const Field b{curve::device::reduce_to_2p(curve::device::add(two, two))};
  const Field right = add(mul(square(x), x), b);
  return is_zero(sub<4>(square(y), right));
}

/// About 10 products a component and 96 bytes in and out.
template <class G>
static __global__ void __launch_bounds__(128)
    decode(const uint4* encoded, std::uint32_t count, bool allow_identity,
           std::uint64_t first_index, curve::device::StoredAffine<G>* out,
           unsigned long long* first_fault) {
  using curve::PointFault;
  using Field = typename G::Field;
  const std::uint32_t i = base::cuda::grid_thread() / G::kLanes;
  const std::uint32_t at = i < count ? i : count - 1;
  const uint4* words = encoded + std::size_t{at} * 2 * G::kLanes * kComponentWords;
  const unsigned component = my_component<G>();
  Fp x = load_big_endian(words + component * kComponentWords);
  Fp y = load_big_endian(words + (G::kLanes + component) * kComponentWords);
  const unsigned flags = component == 0 ? x.limbs[11] >> kFlagShift : 0;
  if (component == 0) x.limbs[11] &= (1u << kFlagShift) - 1;
  const bool identity = !in_all_lanes<G>((flags & kIdentityFlag) == 0);
  const bool zeros = in_all_lanes<G>(is_zero_limbs(x) && is_zero_limbs(y));
  const bool canonical_parts =
      in_all_lanes<G>((flags & ~kIdentityFlag) == 0 && is_canonical(x) && is_canonical(y));
  x = mul(x, montgomery_two());
  y = mul(y, montgomery_two());
  const bool on_curve = is_on_curve<G>(Field{x}, Field{y});
  PointFault fault = PointFault::kNone;
  if (!canonical_parts || (identity && !zeros)) {
    fault = PointFault::kEncoding;
  } else if (identity) {
    fault = allow_identity ? PointFault::kNone : PointFault::kIdentity;
  } else if (!on_curve) {
    fault = PointFault::kNotOnCurve;
  }
  if (i >= count) return;
  // The identity's coordinates are zero already.
  curve::device::store_point<G>(out + i, {Field{canonical(x)}, Field{canonical(y)}});
  if (fault != PointFault::kNone && component == 0) {
    atomicMin(first_fault, static_cast<unsigned long long>((first_index + i) << kFaultBits |
                                                           static_cast<unsigned>(fault)));
  }
}

/// Coordinates in [0, 2p]. Two products a component.
template <class G>
static __global__ void __launch_bounds__(128)
    encode(const curve::device::StoredAffine<G>* points, std::uint32_t count, uint4* encoded) {
  const std::uint32_t i = base::cuda::grid_thread() / G::kLanes;
  const std::uint32_t at = i < count ? i : count - 1;
  const curve::device::Affine<typename G::Field> point =
      curve::device::load_point_readonly<G>(points + at);
  const bool identity = is_identity(point);
  Fp x = canonical(mul(G::raw(point.x), plain_one()));
  const Fp y = canonical(mul(G::raw(point.y), plain_one()));
  const unsigned component = my_component<G>();
  if (identity && component == 0) x.limbs[11] = kIdentityFlag << kFlagShift;
  if (i >= count) return;
  uint4* words = encoded + std::size_t{i} * 2 * G::kLanes * kComponentWords;
  store_big_endian(words + component * kComponentWords, x);
  store_big_endian(words + (G::kLanes + component) * kComponentWords, y);
}

inline void require_count(std::size_t count, std::size_t bytes, std::size_t bytes_needed,
                          std::size_t points) {
  base::require(count < std::size_t{1} << 30 && bytes >= bytes_needed && points >= count,
                "coding {} points: given {} bytes and {} points; at most 2^30 at a time", count,
                bytes, points);
}

}  // namespace decode_detail

template <class G>
void decode_points(base::cuda::DeviceSpan<const std::byte> encoded, std::size_t count,
                   IdentityRule identity, std::size_t first_index,
                   base::cuda::DeviceSpan<curve::device::StoredAffine<G>> out, FaultWord* fault,
                   base::cuda::StreamRef stream) {
  decode_detail::require_count(count, encoded.size, count * kEncodedBytes<G>, out.size);
  base::cuda::launch(
      decode_detail::decode<G>, {base::cuda::blocks_for(count * G::kLanes, 128), 128, 0}, stream,
      reinterpret_cast<const uint4*>(encoded.data), static_cast<std::uint32_t>(count),
      identity == IdentityRule::kAllowed, std::uint64_t{first_index}, out.data, fault);
}

template <class G>
void encode_points(base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> points,
                   std::size_t count, base::cuda::DeviceSpan<std::byte> encoded,
                   base::cuda::StreamRef stream) {
  decode_detail::require_count(count, encoded.size, count * kEncodedBytes<G>, points.size);
  base::cuda::launch(decode_detail::encode<G>,
                     {base::cuda::blocks_for(count * G::kLanes, 128), 128, 0}, stream, points.data,
                     static_cast<std::uint32_t>(count), reinterpret_cast<uint4*>(encoded.data));
}

}  // namespace cuzk::groth16::cuda
