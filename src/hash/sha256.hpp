#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "hash/evp_digest.hpp"

namespace cuzk::hash {

/// SHA-256 of a whole message.
/// [FIPS 180-4]
base::Bytes32 sha256(base::ByteView message);

/// SHA-256 of a stream. A copy goes on independently: the digest of a prefix is
/// `Sha256(stream).finish()`.
class Sha256 {
 public:
  Sha256() : digest_("SHA256") {}

  void update(base::ByteView bytes) { digest_.update(bytes); }
  /// Ends the stream. Before any other use comes reset() or an assignment.
  base::Bytes32 finish();
  void reset() { digest_.reset(); }

 private:
  EvpDigest digest_;
};

/// Clears the two top bits of a digest read as a little-endian integer (of its last byte), which
/// makes it less than 2^254 and so a canonical field element.
/// [rust-fil-proofs fr32/src/convert.rs]
inline void truncate_to_fr(base::Bytes32& digest) { digest[31] &= 0x3f; }

/// The parent of two nodes of tree D: their SHA-256, truncated.
base::Bytes32 sha256_node(const base::Bytes32& left, const base::Bytes32& right);
curve::Fr sha256_node(const curve::Fr& left, const curve::Fr& right);

}  // namespace cuzk::hash
