#pragma once

#include "base/bytes.hpp"
#include "hash/evp_digest.hpp"

#include <array>
#include <string_view>

namespace cuzk::hash {

/// BLAKE2b with its full 64 bytes of output, no key, of a stream.
/// [RFC 7693]
/// A copy goes on independently. The published digest of a parameter file is the first 16 bytes.
class Blake2b {
 public:
  Blake2b() : digest_("BLAKE2B-512") {}

  void update(base::ByteView bytes) { digest_.update(bytes); }
  /// Ends the stream. Before any other use comes reset() or an assignment.
  std::array<std::uint8_t, 64> finish();
  void reset() { digest_.reset(); }

 private:
  EvpDigest digest_;
};

std::array<std::uint8_t, 64> blake2b(base::ByteView message);

/// BLAKE2b with 32 bytes of output (not a prefix of the above: the length enters the state) and a
/// key of 1 to 64 bytes.
/// Throws InvalidInput for another key length.
base::Bytes32 keyed_blake2b_256(std::string_view key, base::ByteView message);

}  // namespace cuzk::hash
