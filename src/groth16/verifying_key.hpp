#pragma once

#include "base/bytes.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

namespace cuzk::groth16 {

/// The verifying key of a circuit; no element is infinite.
/// As a file (.vk, and the head of .params): alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1,
/// delta_g2 uncompressed, then a u32 big-endian count and that many points ic, one for each input
/// with ONE.
struct VerifyingKey {
  curve::G1Affine alpha_g1, beta_g1;
  curve::G2Affine beta_g2, gamma_g2;
  curve::G1Affine delta_g1;
  curve::G2Affine delta_g2;
  std::vector<curve::G1Affine> ic;

  base::Bytes to_bytes() const;
  /// Decodes the key at the start of `bytes` and sets `size` to its length. Everything is checked,
  /// subgroups included. Throws CorruptData that names the file and the element.
  static VerifyingKey from_bytes(base::ByteView bytes, std::string_view name, std::size_t& size);

  friend bool operator==(const VerifyingKey&, const VerifyingKey&) = default;
};

/// Reads a .vk file, which must hold nothing else. Throws CorruptData.
VerifyingKey read_verifying_key(const std::filesystem::path& path);
/// Throws ResourceExhausted if the file cannot be written.
void write_verifying_key(const VerifyingKey& key, const std::filesystem::path& path);

}  // namespace cuzk::groth16
