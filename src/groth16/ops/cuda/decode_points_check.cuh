#pragma once

#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/decode_points.cuh"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace cuzk::groth16::cuda::checks {

inline std::array<std::uint8_t, 96> serialized(const blst_p1_affine& point) {
  std::array<std::uint8_t, 96> out;
  blst_p1_affine_serialize(out.data(), &point);
  return out;
}
inline std::array<std::uint8_t, 192> serialized(const blst_p2_affine& point) {
  std::array<std::uint8_t, 192> out;
  blst_p2_affine_serialize(out.data(), &point);
  return out;
}
inline blst_p1_affine host_affine(const curve::device::G1Affine& a) {
  return {curve::device::to_blst(a.x), curve::device::to_blst(a.y)};
}
inline blst_p2_affine host_affine(const curve::device::G2Affine& a) {
  return {curve::device::to_blst(a.x), curve::device::to_blst(a.y)};
}

/// blst's encoding of points, one after the other.
template <class G>
std::vector<std::byte> encoded(const std::vector<curve::device::StoredAffine<G>>& points) {
  std::vector<std::byte> out;
  for (const auto& point : points) {
    for (const std::uint8_t byte : serialized(host_affine(point)))
      out.push_back(static_cast<std::byte>(byte));
  }
  return out;
}

/// What decode_points() made of some bytes.
template <class G>
struct Decoded {
  std::vector<curve::device::StoredAffine<G>> points;
  FaultWord fault = kNoFault;
  bool broken = false;  // wrote beyond its output

  Decoded(const std::vector<std::byte>& bytes, IdentityRule identity, std::size_t first_index,
          base::cuda::StreamRef stream) {
    const std::size_t count = bytes.size() / kEncodedBytes<G>;
    const auto device_bytes = uploaded(bytes, "encoded points", stream);
    const Guarded<curve::device::StoredAffine<G>> out(count, "points", stream);
    const base::cuda::DeviceBuffer<FaultWord> fault_word(1, "fault");
    base::cuda::fill_bytes(fault_word.data(), 0xff, sizeof(FaultWord), stream);
    decode_points<G>(device_bytes.const_span(), count, identity, first_index, out.span(),
                     fault_word.data(), stream);
    points = out.download();
    fault = fault_word.download(stream)[0];
    broken = out.broken();
  }
};

/// Points of every kind there and back: blst's bytes -> the points' own bytes -> blst's bytes.
template <class G>
std::string check_point_round_trip(Bases kind, std::size_t count, base::cuda::StreamRef stream) {
  const TestBases<G> bases(kind, count, 5);
  const std::vector<std::byte> bytes = encoded<G>(bases.points);
  const std::string what =
      std::to_string(count) + " points of kind " + std::to_string(static_cast<int>(kind));
  const Decoded<G> decoded(bytes, IdentityRule::kAllowed, 0, stream);
  if (decoded.broken) return "decoding " + what + " wrote beyond its output";
  if (decoded.fault != kNoFault)
    return what + ": point " + std::to_string(fault_index(decoded.fault)) + " is called bad";
  if (count != 0 && std::memcmp(decoded.points.data(), bases.points.data(),
                                count * sizeof(bases.points[0])) != 0) {
    return what + " are decoded wrongly";
  }
  // The opposite points with y in [p, 2p]: loose coordinates encode as canonical ones.
  std::vector<curve::device::StoredAffine<G>> loose;
  for (const auto& point : bases.points) loose.push_back(negate_if(point, true));
  const auto device_points = uploaded(loose, "points", stream);
  const Guarded<std::byte> out(bytes.size(), "encoded points", stream);
  encode_points<G>(device_points.const_span(), count, out.span(), stream);
  if (out.download() != encoded<G>(loose)) return what + " are encoded wrongly";
  if (out.broken()) return "encoding " + what + " wrote beyond its output";
  return {};
}

/// A way to spoil an encoded point, and what decoding must then say.
struct PointDamage {
  const char* name;
  curve::PointFault wanted;
  void (*apply)(std::span<std::byte> point);
};

inline std::vector<PointDamage> point_damages() {
  using curve::PointFault;
  return {
      {"compressed flag", PointFault::kEncoding,
       [](std::span<std::byte> p) { p[0] |= std::byte{0x80}; }},
      {"sort flag", PointFault::kEncoding, [](std::span<std::byte> p) { p[0] |= std::byte{0x20}; }},
      {"infinity flag on a point", PointFault::kEncoding,
       [](std::span<std::byte> p) { p[0] |= std::byte{0x40}; }},
      {"flag bits in y", PointFault::kEncoding,
       [](std::span<std::byte> p) { p[p.size() / 2] |= std::byte{0x40}; }},
      {"first part not below p", PointFault::kEncoding,
       [](std::span<std::byte> p) {
         p[0] = std::byte{0x1a};
         std::fill(p.begin() + 1, p.begin() + 48, std::byte{0xff});
       }},
      {"last part not below p", PointFault::kEncoding,
       [](std::span<std::byte> p) { std::fill(p.end() - 48, p.end(), std::byte{0x1f}); }},
      {"another x", PointFault::kNotOnCurve,
       [](std::span<std::byte> p) { p[p.size() / 2 - 1] ^= std::byte{1}; }},
      {"another y", PointFault::kNotOnCurve,
       [](std::span<std::byte> p) { p[p.size() - 1] ^= std::byte{1}; }},
      {"only zeros", PointFault::kNotOnCurve,
       [](std::span<std::byte> p) { std::fill(p.begin(), p.end(), std::byte{0}); }},
      {"infinity", PointFault::kIdentity,
       [](std::span<std::byte> p) {
         std::fill(p.begin(), p.end(), std::byte{0});
         p[0] = std::byte{0x40};
       }},
      {"infinity with a bit at the end", PointFault::kEncoding,
       [](std::span<std::byte> p) {
         std::fill(p.begin(), p.end(), std::byte{0});
         p[0] = std::byte{0x40};
         p[p.size() - 1] = std::byte{1};
       }},
  };
}

/// Two bad points among good ones: the first is named, with its fault; the others are decoded.
template <class G>
std::string check_point_damage(const PointDamage& damage, base::cuda::StreamRef stream) {
  constexpr std::size_t kCount = 70, kBad = 37, kFirstIndex = (std::size_t{1} << 33) + 5;
  const TestBases<G> bases(Bases::kDistinct, kCount, 5);
  std::vector<std::byte> bytes = encoded<G>(bases.points);
  for (const std::size_t bad : {kBad, kBad + 20})
    damage.apply(std::span(bytes).subspan(bad * kEncodedBytes<G>, kEncodedBytes<G>));
  const Decoded<G> decoded(bytes, IdentityRule::kForbidden, kFirstIndex, stream);
  if (fault_kind(decoded.fault) != damage.wanted ||
      fault_index(decoded.fault) != kFirstIndex + kBad) {
    return std::string(damage.name) + ": found fault " +
           std::to_string(static_cast<int>(fault_kind(decoded.fault))) + " at " +
           std::to_string(fault_index(decoded.fault));
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i == kBad || i == kBad + 20) continue;
    if (std::memcmp(&decoded.points[i], &bases.points[i], sizeof(bases.points[i])) != 0)
      return std::string(damage.name) + " spoils point " + std::to_string(i);
  }
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
