#pragma once

#include <cstdint>
#include <span>

namespace cuzk::base {

/// Fills the bytes from the operating system's generator. Throws ResourceExhausted if it has none.
void random_bytes(std::span<std::uint8_t> out);

}  // namespace cuzk::base
