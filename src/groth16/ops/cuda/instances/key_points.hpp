#pragma once

#include "base/cuda/span.hpp"
#include "base/cuda/stream_ref.hpp"
#include "curve/device/fr.hpp"
#include "curve/device/points.hpp"
#include "curve/point.hpp"
#include "groth16/ops/cuda/fixed_base_plan.hpp"

#include <cstddef>
#include <vector>

/// Making the points of a key on the device: out of a file's bytes (decode_points.cuh) or out of
/// their logarithms (fixed_base.cuh). For whoever only calls them: decode_points.cu,
/// fixed_base_g1.cu and fixed_base_g2.cu compile them, once for the whole program.
namespace cuzk::groth16::cuda {

// ---- Encodings

/// Bytes of an uncompressed point, zcash's encoding (curve/point.hpp).
template <class G>
inline constexpr std::size_t kEncodedBytes = 96 * G::kLanes;

enum class IdentityRule { kAllowed, kForbidden };

/// Where decode_points() leaves the first point that is bad: its index and why, the fault in the
/// low bits; kNoFault (all bits set, as fill_bytes(…, 0xff, …) writes) if there is none.
using FaultWord = unsigned long long;
inline constexpr unsigned kFaultBits = 3;
inline constexpr FaultWord kNoFault = ~0ULL;
constexpr std::size_t fault_index(FaultWord word) {
  return static_cast<std::size_t>(word >> kFaultBits);
}
constexpr curve::PointFault fault_kind(FaultWord word) {
  return word == kNoFault
             ? curve::PointFault::kNone
             : static_cast<curve::PointFault>(word & ((FaultWord{1} << kFaultBits) - 1));
}

/// Enqueues the decoding of `count` points, at most 2^30; `encoded` is aligned to 16 bytes, `out`
/// canonical Montgomery form. Every point is checked to be canonically encoded and on its curve,
/// not to be in the subgroup. *fault, in device memory, becomes the least of what it was and the
/// bad points' words, where point i has index first_index + i; a bad point's place in `out` holds
/// something. Throws InvalidInput if the spans are too short.
template <class G>
void decode_points(base::cuda::DeviceSpan<const std::byte> encoded, std::size_t count,
                   IdentityRule identity, std::size_t first_index,
                   base::cuda::DeviceSpan<curve::device::StoredAffine<G>> out, FaultWord* fault,
                   base::cuda::StreamRef stream);

/// Enqueues the encoding of `count` points, at most 2^30, coordinates in [0, 2p]; `encoded` is
/// aligned to 16 bytes.
template <class G>
void encode_points(base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> points,
                   std::size_t count, base::cuda::DeviceSpan<std::byte> encoded,
                   base::cuda::StreamRef stream);

// ---- Multiples of one point

/// 2^(window_bits·w)·base for every window w, what make_fixed_base_table() starts from. On the
/// host.
template <class G>
std::vector<curve::device::StoredAffine<G>> window_bases(
    const FixedBasePlan& plan, const curve::device::StoredAffine<G>& base);

/// Enqueues the making of the table, plan.table_points() points, from the plan.windows points of
/// window_bases(), which are in device memory.
template <class G>
void make_fixed_base_table(const FixedBasePlan& plan,
                           base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> bases,
                           base::cuda::DeviceSpan<curve::device::StoredAffine<G>> table,
                           base::cuda::StreamRef stream);

/// Enqueues out[i] = scalars[i]·base for i < count < 2^30. Scalars are loose Montgomery forms
/// (curve::Fr's bytes will do), points canonical Montgomery forms; the multiple by zero is the
/// identity. Throws InvalidInput if the spans are too short.
template <class G>
void multiply_fixed_base(const FixedBasePlan& plan,
                         base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> table,
                         base::cuda::DeviceSpan<const curve::device::Fr> scalars, std::size_t count,
                         base::cuda::DeviceSpan<curve::device::StoredAffine<G>> out,
                         base::cuda::StreamRef stream);

}  // namespace cuzk::groth16::cuda
