#pragma once

#include "base/bytes.hpp"

#include <array>
#include <cstdint>

namespace cuzk::hash {

/// One 64-byte block of the ChaCha key stream.
/// [RFC 8439 section 2.3, D. J. Bernstein 2008]
/// The state's words 12 to 15 are `counter_and_nonce`: for RFC 8439 a 32-bit counter and a 96-bit
/// nonce, for the original (and rand_chacha) a 64-bit counter and a 64-bit nonce, low word first.
/// `rounds` is 8 or 20.
std::array<std::uint8_t, 64> chacha_block(unsigned rounds, const base::Bytes32& key,
                                          const std::array<std::uint32_t, 4>& counter_and_nonce);

}  // namespace cuzk::hash
