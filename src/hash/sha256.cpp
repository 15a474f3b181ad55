#include "hash/sha256.hpp"

#include <blst_aux.h>

#include <algorithm>

namespace cuzk::hash {

base::Bytes32 sha256(base::ByteView message) {
  base::Bytes32 out;
  blst_sha256(out.data(), message.data(), message.size());
  return out;
}

base::Bytes32 Sha256::finish() {
  base::Bytes32 out;
  digest_.finish(out);
  return out;
}

base::Bytes32 sha256_node(const base::Bytes32& left, const base::Bytes32& right) {
  std::array<std::uint8_t, 64> both;
  std::copy(left.begin(), left.end(), both.begin());
  std::copy(right.begin(), right.end(), both.begin() + 32);
  base::Bytes32 out = sha256(both);
  truncate_to_fr(out);
  return out;
}

curve::Fr sha256_node(const curve::Fr& left, const curve::Fr& right) {
  return *curve::Fr::from_bytes_le(sha256_node(left.to_bytes_le(), right.to_bytes_le()));
}

}  // namespace cuzk::hash
