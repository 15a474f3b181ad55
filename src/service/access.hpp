#pragma once

#include "base/bytes.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::service {

/// Who may call: anybody, or whoever shows one of the bearer tokens. Tokens are kept and compared
/// as SHA-256 digests, in time that does not depend on how much of one is right.
class Access {
 public:
  /// Anybody.
  Access() = default;
  /// One token a line; blanks around it, empty lines and lines that begin with '#' do not count.
  /// Throws base::InvalidInput if the file cannot be read, holds no token, or one shorter than 16
  /// characters; its text names no token.
  static Access from_token_file(const std::string& path);

  bool open() const { return digests_.empty(); }
  /// `authorization`: the header of that name, "Bearer <token>"; the scheme in any case.
  bool allows(std::optional<std::string_view> authorization) const;

 private:
  std::vector<base::Bytes32> digests_;
};

}  // namespace cuzk::service
