#include "filecoin/piece.hpp"

#include "base/error.hpp"
#include "filecoin/sector.hpp"
#include "hash/sha256.hpp"

#include <bit>
#include <vector>

namespace cuzk::filecoin {

namespace {

constexpr std::size_t kDataBits = curve::Fr::kCapacity;  // of a node's 256

/// The 8 bits from bit `first` on; bits past the end are 0.
std::uint8_t eight_bits(base::ByteView bytes, std::size_t first) {
  const std::size_t i = first / 8, shift = first % 8;
  unsigned value = i < bytes.size() ? bytes[i] : 0u;
  if (shift > 0 && i + 1 < bytes.size()) value |= unsigned{bytes[i + 1]} << 8;
  return static_cast<std::uint8_t>(value >> shift);
}

}  // namespace

base::Bytes fr32_pad(base::ByteView data) {
  const std::size_t nodes = (8 * data.size() + kDataBits - 1) / kDataBits;
  base::Bytes out(nodes * kNodeBytes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t node = i / kNodeBytes, byte = i % kNodeBytes;
    out[i] = eight_bits(data, node * kDataBits + 8 * byte);
    if (byte == kNodeBytes - 1) out[i] &= 0x3f;
  }
  return out;
}

base::Bytes fr32_unpad(base::ByteView padded, std::size_t size) {
  base::require(padded.size() % kNodeBytes == 0, "fr32 data of {} bytes: must be a multiple of {}",
                padded.size(), kNodeBytes);
  const std::size_t available = padded.size() / kNodeBytes * kDataBits / 8;
  base::require(size <= available, "{} bytes of fr32 data hold {} bytes, not {}", padded.size(),
                available, size);
  base::Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t node = 8 * i / kDataBits, bit = 8 * i % kDataBits;
    unsigned value = eight_bits(padded.subspan(node * kNodeBytes, kNodeBytes), bit);
    if (bit + 8 > kDataBits)
      value |= unsigned{padded[(node + 1) * kNodeBytes]} << (kDataBits - bit);
    out[i] = static_cast<std::uint8_t>(value);
  }
  return out;
}

std::size_t fr32_padded_size(std::size_t size) {
  const std::size_t bits = 8 * size;
  return (bits / kDataBits * 256 + bits % kDataBits + 7) / 8;
}

curve::Fr piece_commitment(base::ByteView data) {
  base::require(
      data.size() % 127 == 0 && std::has_single_bit(data.size() / 127),
      "piece of {} bytes: must be 127 times a power of two, so that its nodes fill a tree",
      data.size());
  const base::Bytes padded = fr32_pad(data);
  std::vector<base::Bytes32> row(padded.size() / kNodeBytes);
  for (std::size_t i = 0; i < padded.size(); ++i) row[i / kNodeBytes][i % kNodeBytes] = padded[i];
  for (; row.size() > 1; row.resize(row.size() / 2)) {
    for (std::size_t i = 0; i < row.size() / 2; ++i)
      row[i] = hash::sha256_node(row[2 * i], row[2 * i + 1]);
  }
  return *curve::Fr::from_bytes_le(row[0]);
}

}  // namespace cuzk::filecoin
