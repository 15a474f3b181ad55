#include "hash/blake2b.hpp"

#include "base/error.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <memory>

namespace cuzk::hash {

std::array<std::uint8_t, 64> Blake2b::finish() {
  std::array<std::uint8_t, 64> out;
  digest_.finish(out);
  return out;
}

std::array<std::uint8_t, 64> blake2b(base::ByteView message) {
  Blake2b hasher;
  hasher.update(message);
  return hasher.finish();
}

base::Bytes32 keyed_blake2b_256(std::string_view key, base::ByteView message) {
  base::require(!key.empty() && key.size() <= 64, "BLAKE2b key of {} bytes: must have 1 to 64",
                key.size());
  const std::unique_ptr<EVP_MAC, void (*)(EVP_MAC*)> mac(
      EVP_MAC_fetch(nullptr, "BLAKE2BMAC", nullptr), EVP_MAC_free);
  const std::unique_ptr<EVP_MAC_CTX, void (*)(EVP_MAC_CTX*)> context(
      mac ? EVP_MAC_CTX_new(mac.get()) : nullptr, EVP_MAC_CTX_free);
  base::Bytes32 out;
  std::size_t size = out.size();
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                               OSSL_PARAM_construct_end()};
  const auto* key_bytes = reinterpret_cast<const unsigned char*>(key.data());
  std::size_t written = 0;
  const bool ok = context && EVP_MAC_init(context.get(), key_bytes, key.size(), params) == 1 &&
                  EVP_MAC_update(context.get(), message.data(), message.size()) == 1 &&
                  EVP_MAC_final(context.get(), out.data(), &written, out.size()) == 1 &&
                  written == out.size();
  if (!ok)
    base::fail<base::ResourceExhausted>(
        "OpenSSL: keyed BLAKE2b failed (BLAKE2BMAC missing or no memory)");
  return out;
}

}  // namespace cuzk::hash
