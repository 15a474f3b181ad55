#pragma once

#include "curve/fr.hpp"
#include "hash/poseidon_constants.hpp"

#include <cstddef>
#include <initializer_list>
#include <span>

namespace cuzk::hash {

/// Poseidon hash of a domain's full number of inputs to one element. Any thread.
/// Throws InvalidInput if there are not `arity` inputs.
curve::Fr poseidon(PoseidonDomain domain, std::span<const curve::Fr> inputs);
inline curve::Fr poseidon(PoseidonDomain domain, std::initializer_list<curve::Fr> inputs) {
  return poseidon(domain, std::span<const curve::Fr>(inputs.begin(), inputs.size()));
}

/// The values that the variables of the hash's circuit have, in the circuit's order
/// (gadgets/poseidon.hpp): of each S-box its input x, unless it is of the first round, x², x⁴ and
/// its output, of the constant first one nothing; last the hash itself. `out` has
/// poseidon_variable_count(domain) elements. Throws InvalidInput if there are not `arity` inputs.
void poseidon_variables(PoseidonDomain domain, std::span<const curve::Fr> inputs,
                        std::span<curve::Fr> out);
std::size_t poseidon_variable_count(PoseidonDomain domain);

}  // namespace cuzk::hash
