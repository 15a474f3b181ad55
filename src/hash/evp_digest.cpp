#include "hash/evp_digest.hpp"

#include "base/error.hpp"

#include <map>
#include <mutex>
#include <string>

namespace cuzk::hash {

namespace {

// A fetch searches the provider's tables, which costs more than hashing a few blocks, so its result
// is kept. It is never freed: OpenSSL's own clean-up at exit may run before our destructors would.
const EVP_MD* fetched(const char* name) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, const EVP_MD*, std::less<>>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  const EVP_MD* digest = EVP_MD_fetch(nullptr, name, nullptr);
  if (digest == nullptr) base::fail<base::ResourceExhausted>("OpenSSL offers no digest '{}'", name);
  return known.emplace(name, digest).first->second;
}

void check(bool ok, const char* what) {
  if (!ok) base::fail<base::ResourceExhausted>("OpenSSL: {} failed (out of memory?)", what);
}

}  // namespace

EvpDigest::EvpDigest(const char* name) : context_(EVP_MD_CTX_new()) {
  check(context_ && EVP_DigestInit_ex2(context_.get(), fetched(name), nullptr) == 1,
        "EVP_DigestInit_ex2");
}

EvpDigest::EvpDigest(const EvpDigest& other) : context_(EVP_MD_CTX_new()) {
  check(context_ && EVP_MD_CTX_copy_ex(context_.get(), other.context_.get()) == 1,
        "EVP_MD_CTX_copy_ex");
}

EvpDigest& EvpDigest::operator=(const EvpDigest& other) {
  if (this != &other) *this = EvpDigest(other);
  return *this;
}

void EvpDigest::update(base::ByteView bytes) {
  check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "EVP_DigestUpdate");
}

void EvpDigest::finish(std::span<std::uint8_t> out) {
  check(EVP_MD_CTX_get_size(context_.get()) == static_cast<int>(out.size()) &&
            EVP_DigestFinal_ex(context_.get(), out.data(), nullptr) == 1,
        "EVP_DigestFinal_ex");
}

void EvpDigest::reset() {
  check(EVP_DigestInit_ex2(context_.get(), nullptr, nullptr) == 1, "EVP_DigestInit_ex2");
}

}  // namespace cuzk::hash
