#pragma once

#include "filecoin/update/vanilla.hpp"
#include "r1cs/checked_system.hpp"
#include "r1cs/symbolic_system.hpp"
#include "r1cs/witness_builder.hpp"

namespace cuzk::filecoin::update {

/// The one bit that selects h among UpdateShape::h_choices (the first, where several are equal).
/// Throws InvalidInput for any other h.
std::uint64_t h_select(const UpdateShape& shape, std::uint64_t h);

/// The assignment of one partition of a sector update.
struct PartitionInputs {
  std::uint64_t partition_index;  ///< below UpdateShape::partitions
  std::uint64_t h;  ///< number of high bits that select rho: one of UpdateShape::h_choices
  curve::Fr comm_r_old;
  curve::Fr comm_d_new;
  curve::Fr comm_r_new;
  const VanillaProof* proof;
};

/// The circuit of one partition of an empty-sector update (SnapDeals): that the apex leaves hash up
/// to comm_d_new; that the challenges follow from comm_r_new and the partition; and for each of
/// them that r_new = r_old + d_new·rho, with r_old and r_new in the replica trees and d_new below
/// its apex leaf. Public inputs: k | h_select << log2(partitions), comm_r_old, comm_d_new,
/// comm_r_new. [rust-fil-proofs storage-proofs-update/src/{circuit,gadgets}.rs]
void synthesize(r1cs::SymbolicSystem& cs, SectorSize size);
/// Throws InvalidInput unless all lengths, the partition and h are the sector size's.
void synthesize(r1cs::WitnessBuilder& cs, SectorSize size, const PartitionInputs& partition);
/// May have fewer challenges than the circuit, at least one; those there are checked.
void synthesize(r1cs::CheckedSystem& cs, SectorSize size, const PartitionInputs& partition);

/// The variant of the update whose data tree is a Poseidon tree of the replica trees' shape; one
/// partition has the challenges of all. Public inputs: h_select, comm_r_old, comm_d_new,
/// comm_r_new. No network uses it; only its shape is made. [rust-fil-proofs
/// storage-proofs-update/src/poseidon/circuit.rs]
void synthesize_poseidon(r1cs::SymbolicSystem& cs, SectorSize size);

}  // namespace cuzk::filecoin::update
