#pragma once

#include "filecoin/post/vanilla.hpp"
#include "r1cs/checked_system.hpp"
#include "r1cs/symbolic_system.hpp"
#include "r1cs/witness_builder.hpp"

#include <functional>
#include <span>

namespace cuzk::filecoin::post {

/// One place of a PoSt circuit: a sector's commitments and the challenges opened of it.
struct Place {
  curve::Fr comm_r;
  curve::Fr comm_c;
  curve::Fr comm_r_last;
  std::span<const InclusionProof> inclusions;
};

/// A PoSt circuit of `places` places with `challenges` challenges each.
struct CircuitSize {
  TreeShape tree_r;
  std::size_t places;
  std::size_t challenges;
};
CircuitSize window_circuit_size(SectorSize size);
/// 66 places of one challenge each.
CircuitSize winning_circuit_size(SectorSize size);

/// The places of a WindowPoSt partition: the sectors in order, the last one repeated up to the
/// circuit's number. Throws InvalidInput if there are no sectors or too many, or a proof has not
/// the size's numbers of challenges, levels or siblings. The proofs must outlive the result.
std::vector<Place> window_places(SectorSize size, std::span<const VanillaProof> sectors);
/// The places of a WinningPoSt: its one sector's 66 challenges.
std::vector<Place> winning_places(SectorSize size, const VanillaProof& sector);

/// The circuit of both kinds of PoSt: for each place, that comm_r commits to comm_c and
/// comm_r_last, and that each challenged leaf is in tree R-last. Public inputs: for each place
/// comm_r and then the index of every leaf. [rust-fil-proofs
/// storage-proofs-post/src/fallback/circuit.rs]
void synthesize(r1cs::SymbolicSystem& cs, const CircuitSize& size);
/// There must be as many places as `size` says.
void synthesize(r1cs::WitnessBuilder& cs, const CircuitSize& size, std::span<const Place> places);
/// May have fewer places than the circuit.
void synthesize(r1cs::CheckedSystem& cs, const CircuitSize& size, std::span<const Place> places);

}  // namespace cuzk::filecoin::post
