#pragma once

#include "filecoin/porep/vanilla.hpp"
#include "r1cs/checked_system.hpp"
#include "r1cs/symbolic_system.hpp"
#include "r1cs/witness_builder.hpp"

#include <span>

namespace cuzk::filecoin::porep {

/// Everything about a sector size that the circuit depends on.
struct Sizes {
  explicit Sizes(SectorSize size)
      : porep(porep_shape(size)), tree_d(tree_d_shape(size)), tree_r(tree_r_shape(size)) {}

  PorepShape porep;
  TreeShape tree_d, tree_r;
};

/// The assignment of one partition.
struct PartitionInputs {
  curve::Fr replica_id;
  curve::Fr comm_d;
  curve::Fr comm_r;
  std::span<const VanillaProof> proofs;  ///< PorepShape::challenges_per_partition of them
};

/// The PoRep circuit of one partition, the same for every version of the protocol: for each
/// challenge, that the data node is in tree D; that the parents' columns are in tree C; that the
/// challenged node's labels follow from them; that data plus last label is in tree R-last, and the
/// labels' hash in tree C; and that comm_r commits to trees C and R-last. Public inputs:
/// replica_id, comm_d, comm_r, then for each challenge the index of every leaf opened.
/// [rust-fil-proofs storage-proofs-porep/src/stacked/circuit/{proof,params}.rs]
void synthesize(r1cs::SymbolicSystem& cs, SectorSize size);
/// Throws InvalidInput unless the proofs have the number and the lengths that the sector size asks
/// for.
void synthesize(r1cs::WitnessBuilder& cs, SectorSize size, const PartitionInputs& partition);
/// May have fewer challenges than the circuit, at least one, to check them alone.
void synthesize(r1cs::CheckedSystem& cs, SectorSize size, const PartitionInputs& partition);

}  // namespace cuzk::filecoin::porep
