#pragma once

#include "curve/fr.hpp"
#include "hash/poseidon_constants.hpp"

#include <initializer_list>
#include <span>

namespace cuzk::hash {

/// Poseidon hash of a domain's full number of inputs to one element. Any thread.
/// Throws InvalidInput if there are not `arity` inputs.
curve::Fr poseidon(PoseidonDomain domain, std::span<const curve::Fr> inputs);
inline curve::Fr poseidon(PoseidonDomain domain, std::initializer_list<curve::Fr> inputs) {
  return poseidon(domain, std::span<const curve::Fr>(inputs.begin(), inputs.size()));
}

}  // namespace cuzk::hash
