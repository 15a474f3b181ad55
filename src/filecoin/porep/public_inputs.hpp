#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "filecoin/graph.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace cuzk::filecoin::porep {

/// A challenged node and its parents.
struct ChallengeInputs {
  std::uint64_t challenge;
  std::array<std::uint32_t, kDrgParents> drg_parents;
  std::array<std::uint32_t, kExpParents> exp_parents;

  friend bool operator==(const ChallengeInputs&, const ChallengeInputs&) = default;
};

/// What the verifier of one partition knows.
struct PublicInputs {
  curve::Fr replica_id;
  curve::Fr comm_d;
  curve::Fr comm_r;
  std::vector<ChallengeInputs> challenges;

  /// The circuit's inputs in order, without ONE: replica_id, comm_d, comm_r, then for each
  /// challenge its path in tree D, the paths in tree C of its 6 DRG and 8 expander parents, the
  /// challenge itself, its paths in R-last and in C. A path packs into one element the bits of the
  /// node's index, so it is that index: 3 + 18 · challenges elements.
  /// [rust-fil-proofs storage-proofs-porep/src/stacked/circuit/proof.rs generate_public_inputs]
  std::vector<curve::Fr> to_fields() const;

  friend bool operator==(const PublicInputs&, const PublicInputs&) = default;
};

/// Public values of a PoRep as a whole.
struct Statement {
  SectorSize sector_size;
  base::Bytes32 porep_id;
  ApiVersion api_version;
  PorepFeature feature;
  curve::Fr replica_id;
  curve::Fr comm_d;
  curve::Fr comm_r;
  base::Bytes32 seed;  ///< not used by non-interactive ones
};

/// Derives partition k's challenges and their parents.
PublicInputs public_inputs(const Statement& statement, unsigned k);
/// The same with a graph made before, for several partitions.
PublicInputs public_inputs(const Statement& statement, const StackedGraph& graph, unsigned k);

}  // namespace cuzk::filecoin::porep
