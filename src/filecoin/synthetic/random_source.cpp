#include "filecoin/synthetic/random_source.hpp"

#include "hash/sha256.hpp"

#include <algorithm>
#include <array>

namespace cuzk::filecoin::synthetic {

namespace {

constexpr std::string_view kRootName = "cuzk synthetic vanilla proof";

}  // namespace

RandomSource::RandomSource(std::uint64_t seed) : key_{} {
  base::ByteWriter message;
  message.bytes(base::as_bytes(kRootName));
  message.u64_le(seed);
  key_ = hash::sha256(message.view());
}

RandomSource RandomSource::child(std::string_view name, std::uint64_t index) const {
  base::ByteWriter message;
  message.bytes(key_);
  message.u64_le(index);
  message.bytes(base::as_bytes(name));
  return RandomSource(hash::sha256(message.view()));
}

base::Bytes32 RandomSource::bytes32(std::uint64_t a, std::uint64_t b) const {
  std::array<std::uint8_t, 48> message;
  std::copy(key_.begin(), key_.end(), message.begin());
  base::store_u64_le(a, message.data() + 32);
  base::store_u64_le(b, message.data() + 40);
  return hash::sha256(message);
}

curve::Fr RandomSource::field(std::uint64_t a, std::uint64_t b) const {
  return curve::Fr::from_bytes_le_reduced(bytes32(a, b));
}

curve::Fr RandomSource::truncated(std::uint64_t a, std::uint64_t b) const {
  base::Bytes32 bytes = bytes32(a, b);
  hash::truncate_to_fr(bytes);
  return curve::Fr::from_bytes_le_reduced(bytes);
}

}  // namespace cuzk::filecoin::synthetic
