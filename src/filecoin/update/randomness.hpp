#pragma once

#include "curve/fr.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>

namespace cuzk::filecoin::update {

/// How an update encodes: r_new = r_old + d_new · rho(phi, high), where high are the h high bits of
/// the node's index.
/// [rust-fil-proofs storage-proofs-update/src/vanilla.rs]

/// Poseidon with the domain of randomness, of (comm_d_new, comm_r_old).
curve::Fr phi(const curve::Fr& comm_d_new, const curve::Fr& comm_r_old);

/// Poseidon with the domain of randomness, of (phi, high).
curve::Fr rho(const curve::Fr& phi, std::uint64_t high);

/// The h high bits of a node's index in a sector of 2^log2_nodes nodes. h <= log2_nodes.
constexpr std::uint64_t high_bits(std::uint64_t node, unsigned log2_nodes, unsigned h) {
  return node >> (log2_nodes - h);
}

/// h as the circuit has it: 2^i for the first i with h_choices[i] = h.
/// Throws InvalidInput if h is no choice.
std::uint64_t h_select(const UpdateShape& shape, unsigned h);

}  // namespace cuzk::filecoin::update
