#include "hash/chacha.hpp"

#include <bit>

namespace cuzk::hash {

namespace {

using State = std::array<std::uint32_t, 16>;

void quarter_round(State& x, unsigned a, unsigned b, unsigned c, unsigned d) {
  x[a] += x[b];
  x[d] = std::rotl(x[d] ^ x[a], 16);
  x[c] += x[d];
  x[b] = std::rotl(x[b] ^ x[c], 12);
  x[a] += x[b];
  x[d] = std::rotl(x[d] ^ x[a], 8);
  x[c] += x[d];
  x[b] = std::rotl(x[b] ^ x[c], 7);
}

}  // namespace

std::array<std::uint8_t, 64> chacha_block(unsigned rounds, const base::Bytes32& key,
                                          const std::array<std::uint32_t, 4>& counter_and_nonce) {
  State start;
  const base::ByteView constant = base::as_bytes("expand 32-byte k");
  for (unsigned i = 0; i < 4; ++i) {
    start[i] = base::load_u32_le(constant.data() + 4 * i);
    start[12 + i] = counter_and_nonce[i];
  }
  for (unsigned i = 0; i < 8; ++i) start[4 + i] = base::load_u32_le(key.data() + 4 * i);

  State x = start;
  for (unsigned round = 0; round < rounds; round += 2) {  // a column round and a diagonal round
    for (unsigned i = 0; i < 4; ++i) quarter_round(x, i, 4 + i, 8 + i, 12 + i);
    for (unsigned i = 0; i < 4; ++i)
      quarter_round(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
  std::array<std::uint8_t, 64> out;
  for (unsigned i = 0; i < 16; ++i) base::store_u32_le(x[i] + start[i], out.data() + 4 * i);
  return out;
}

}  // namespace cuzk::hash
