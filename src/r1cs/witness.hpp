#pragma once

#include "base/large_array.hpp"
#include "curve/fr.hpp"
#include "r1cs/shape.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::r1cs {

/// The assignment of a circuit, compact: almost all variables are bits. Which are is the shape's
/// knowledge (Block::bit_mask).
struct Witness {
  std::vector<curve::Fr> inputs;    ///< public inputs in order, inputs[0] = ONE
  std::vector<std::uint64_t> bits;  ///< bit j: aux variable j; zero where it is a field element
  /// The aux variables that are field elements, in order: all of them or, in a witness that a
  /// prover is to complete (implied_fields.hpp), the given ones. Threads fill it.
  std::vector<curve::Fr, base::LargeAllocator<curve::Fr>> fields;

  bool bit(std::uint32_t aux) const { return (bits[aux / 64] >> aux % 64 & 1) != 0; }
  std::uint64_t bytes() const { return 32 * (inputs.size() + fields.size()) + 8 * bits.size(); }
};

/// Calls visit(aux index, value) for every aux variable in order. The witness must be whole, here
/// and below.
template <class Visit>
void for_each_aux(const Shape& shape, const Witness& witness, Visit&& visit) {
  const curve::Fr constants[2] = {curve::Fr::zero(), curve::Fr::one()};
  std::uint32_t index = 0;
  std::size_t field = 0;
  for (const Block& block : shape.blocks()) {
    for (std::uint32_t copy = 0; copy < block.copies; ++copy) {
      for (std::uint32_t i = 0; i < block.aux; ++i, ++index) {
        const bool is_bit = (block.bit_mask[i / 64] >> i % 64 & 1) != 0;
        visit(index, is_bit ? constants[witness.bit(index)] : witness.fields[field++]);
      }
    }
  }
}

/// All aux variables as field elements: 32 bytes each, so for small circuits.
std::vector<curve::Fr> expand_aux(const Shape& shape, const Witness& witness);

}  // namespace cuzk::r1cs
