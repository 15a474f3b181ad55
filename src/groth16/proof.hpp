#pragma once

#include "base/bytes.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cuzk::groth16 {

/// A Groth16 proof (A, B, C). On the wire: 192 bytes, A ‖ B ‖ C, each compressed. A proof of
/// several partitions is theirs one after the other, without lengths.
struct Proof {
  static constexpr std::size_t kBytes = 192;

  curve::G1Affine a;
  curve::G2Affine b;
  curve::G1Affine c;

  std::array<std::uint8_t, kBytes> to_bytes() const;

  /// Strict: canonical encodings of points of the groups of order r, none of them infinite.
  /// Throws InvalidInput that names `name`, the element and the fault.
  static Proof from_bytes(base::ByteView bytes, std::string_view name);

  friend bool operator==(const Proof&, const Proof&) = default;
};

base::Bytes encode_proofs(const std::vector<Proof>& proofs);
/// Throws InvalidInput if the length is not that of `count` proofs, or as from_bytes.
std::vector<Proof> decode_proofs(base::ByteView bytes, std::size_t count, std::string_view name);

}  // namespace cuzk::groth16
