#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "hash/sha256.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// For tests only: values as the golden JSON files spell them. A wrong spelling throws, which fails
/// the test.
namespace cuzk::filecoin::golden {

inline base::Bytes32 bytes32(const nlohmann::json& hex) {
  return base::bytes32_from_hex(hex.get<std::string>()).value();
}

inline curve::Fr fr(const nlohmann::json& hex) {
  return curve::Fr::from_bytes_le(bytes32(hex)).value();
}

inline std::vector<curve::Fr> frs(const nlohmann::json& array) {
  std::vector<curve::Fr> out;
  for (const nlohmann::json& element : array) out.push_back(fr(element));
  return out;
}

/// The files' digest of a list of field elements, as hex.
inline std::string digest(const std::vector<curve::Fr>& elements) {
  hash::Sha256 hasher;
  for (const curve::Fr& element : elements) hasher.update(element.to_bytes_le());
  return base::to_hex(hasher.finish());
}

}  // namespace cuzk::filecoin::golden
