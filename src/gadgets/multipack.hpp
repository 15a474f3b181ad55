#pragma once

#include "gadgets/num.hpp"

#include <algorithm>
#include <span>
#include <vector>

/// Bits packed into field elements, lowest first. [bellman src/gadgets/multipack.rs]
namespace cuzk::gadgets {

/// Σ 2^i·bits[i] as a value.
template <class CS>
Fr packed_value(std::span<const Boolean<CS>> bits) {
  std::array<std::uint64_t, 4> limbs{};
  for (std::size_t i = 0; i < bits.size(); ++i)
    limbs[i / 64] |= std::uint64_t{bits[i].value()} << i % 64;
  return Fr::from_canonical(limbs);
}

template <class CS, class Packed>
void enforce_packed(CS& cs, const char* name, std::span<const Boolean<CS>> bits,
                    const Packed& packed) {
  cs.enforce(
      name,
      [&](auto& lc) {
        for (std::size_t i = 0; i < bits.size(); ++i) bits[i].add_to(lc, powers_of_two()[i]);
      },
      [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(packed); });
}

/// One public input for every 254 bits: (Σ 2^i·bit_i)·1 = input.
template <class CS>
void pack_into_inputs(CS& cs, std::span<const Boolean<CS>> bits) {
  while (!bits.empty()) {
    const auto part = bits.first(std::min<std::size_t>(bits.size(), Fr::kCapacity));
    const auto input = cs.alloc_input(known<CS>([&] { return packed_value(part); }));
    enforce_packed(cs, "packing constraint", part, input);
    bits = bits.subspan(part.size());
  }
}

/// One number from at most 254 bits; any more are ignored.
template <class CS>
AllocatedNum<CS> pack_bits(CS& cs, std::span<const Boolean<CS>> bits) {
  bits = bits.first(std::min<std::size_t>(bits.size(), Fr::kCapacity));
  const auto num = alloc_num(cs, [&] { return packed_value(bits); });
  enforce_packed(cs, "packing constraint", bits, num.variable);
  return num;
}

/// Turns bits that are lowest first in each byte into highest first, byte by byte, after padding to
/// whole bytes with constant zeros: the order in which SHA-256 reads a little-endian number. It is
/// its own inverse on whole bytes.
template <class CS>
std::vector<Boolean<CS>> reverse_bit_numbering(std::vector<Boolean<CS>> bits) {
  while (bits.size() % 8 != 0) bits.push_back(Boolean<CS>::constant(false));
  for (auto byte = bits.begin(); byte != bits.end(); byte += 8) std::reverse(byte, byte + 8);
  return bits;
}

}  // namespace cuzk::gadgets
