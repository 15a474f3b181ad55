#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"

#include <cstdint>
#include <string_view>

namespace cuzk::filecoin::synthetic {

/// Reproducible random values that are addressed, not drawn: a value is a function of the seed, the
/// names on the way from the root and two numbers, so it does not depend on the order of requests
/// or on the number of threads.
///   key(root)  = SHA-256("cuzk synthetic vanilla proof" ‖ seed u64 LE)
///   key(child) = SHA-256(key(parent) ‖ index u64 LE ‖ name)
///   value      = SHA-256(key ‖ a u64 LE ‖ b u64 LE)
/// For test data only: whoever knows the seed knows every value. Threads may share const objects.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed);

  /// An independent source, for example of one tree ("tree C") or of the i-th sector.
  RandomSource child(std::string_view name, std::uint64_t index = 0) const;

  base::Bytes32 bytes32(std::uint64_t a, std::uint64_t b = 0) const;
  /// Any field element, as a Poseidon digest is: bytes32 modulo r.
  curve::Fr field(std::uint64_t a, std::uint64_t b = 0) const;
  /// Below 2^254, as data, labels and the nodes of tree D are: bytes32 with its two top bits
  /// cleared.
  curve::Fr truncated(std::uint64_t a, std::uint64_t b = 0) const;

 private:
  explicit RandomSource(const base::Bytes32& key) : key_(key) {}

  base::Bytes32 key_;
};

}  // namespace cuzk::filecoin::synthetic
