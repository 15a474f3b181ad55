#pragma once

#include "base/bytes.hpp"

#include <openssl/evp.h>

#include <memory>
#include <span>

namespace cuzk::hash {

/// One of OpenSSL's message digests over a stream of any length; the common part of Sha256 and
/// Blake2b. Copying copies the state, so the digest of a prefix is finish() on a copy. Not for use
/// by several threads at once.
class EvpDigest {
 public:
  /// `name` as EVP_MD_fetch knows it.
  /// Throws ResourceExhausted if OpenSSL does not offer it or has no memory.
  explicit EvpDigest(const char* name);
  EvpDigest(const EvpDigest& other);
  EvpDigest& operator=(const EvpDigest& other);
  EvpDigest(EvpDigest&&) noexcept = default;
  EvpDigest& operator=(EvpDigest&&) noexcept = default;
  ~EvpDigest() = default;

  void update(base::ByteView bytes);
  /// Writes the digest, whose size `out` must have. Before any other use comes reset() or an
  /// assignment.
  void finish(std::span<std::uint8_t> out);
  /// Starts over with an empty stream; cheaper than a new object.
  void reset();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace cuzk::hash
