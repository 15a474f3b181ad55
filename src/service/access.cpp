#include "service/access.hpp"

#include "base/error.hpp"
#include "hash/sha256.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <cctype>
#include <fstream>

namespace cuzk::service {

namespace {

constexpr std::size_t kMinTokenLength = 16;

base::Bytes32 digest(std::string_view token) {
  hash::Sha256 sha;
  sha.update(base::as_bytes(token));
  return sha.finish();
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

}  // namespace

Access Access::from_token_file(const std::string& path) {
  std::ifstream file(path);
  base::require(file.is_open(), "daemon.token_file: cannot read {}", path);
  Access access;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const std::string_view token = trim(line);
    if (token.empty() || token.starts_with('#')) continue;
    base::require(token.size() >= kMinTokenLength,
                  "daemon.token_file: {}, line {}: a token has at least {} characters; make one "
                  "with 'openssl rand -hex 32'",
                  path, number, kMinTokenLength);
    access.digests_.push_back(digest(token));
  }
  base::require(!file.bad(), "daemon.token_file: cannot read {}", path);
  base::require(!access.open(),
                "daemon.token_file: {} holds no token; make one with 'openssl rand -hex 32'", path);
  return access;
}

bool Access::allows(std::optional<std::string_view> authorization) const {
  if (open()) return true;
  constexpr std::string_view kScheme = "bearer ";
  if (!authorization || authorization->size() < kScheme.size()) return false;
  const bool is_bearer =
      std::equal(kScheme.begin(), kScheme.end(), authorization->begin(), [](char a, char b) {
        return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
      });
  if (!is_bearer) return false;
  const base::Bytes32 shown = digest(trim(authorization->substr(kScheme.size())));
  bool known = false;
  for (const base::Bytes32& token : digests_) {
    known |= CRYPTO_memcmp(token.data(), shown.data(), token.size()) == 0;
  }
  return known;
}

}  // namespace cuzk::service
