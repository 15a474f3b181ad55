#include "hash/grain.hpp"

#include <bitset>
#include <optional>

namespace cuzk::hash {

using curve::Fr;

namespace {

constexpr unsigned kPrimeField = 1;
constexpr unsigned kQuinticSbox = 1;

class Grain {
 public:
  Grain(unsigned width, unsigned full_rounds, unsigned partial_rounds) {
    append(2, kPrimeField);
    append(4, kQuinticSbox);
    append(12, Fr::kNumBits);
    append(12, width);
    append(10, full_rounds);
    append(10, partial_rounds);
    append(30, (1u << 30) - 1);
    for (unsigned i = 0; i < 160; ++i) step();
  }

  bool next() {
    while (!step()) step();
    return step();
  }

 private:
  void append(unsigned count, unsigned value) {
    for (unsigned i = count; i-- > 0;) state_[length_++] = (value >> i & 1) != 0;
  }

  bool step() {
    const bool bit = state_[62] ^ state_[51] ^ state_[38] ^ state_[23] ^ state_[13] ^ state_[0];
    state_ >>= 1;
    state_[79] = bit;
    return bit;
  }

  std::bitset<80> state_;  // b_i is bit i
  std::size_t length_ = 0;
};

std::optional<Fr> next_element(Grain& grain) {
  base::Bytes32 bytes{};
  for (unsigned i = Fr::kNumBits; i-- > 0;) {
    if (grain.next()) bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | 1u << (i % 8));
  }
  return Fr::from_bytes_le(bytes);
}

}  // namespace

std::vector<Fr> grain_constants(unsigned width, unsigned full_rounds, unsigned partial_rounds,
                                std::size_t count) {
  Grain grain(width, full_rounds, partial_rounds);
  std::vector<Fr> out;
  out.reserve(count);
  while (out.size() < count) {
    if (const std::optional<Fr> element = next_element(grain)) out.push_back(*element);
  }
  return out;
}

}  // namespace cuzk::hash
