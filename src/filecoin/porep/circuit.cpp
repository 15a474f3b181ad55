#include "filecoin/porep/circuit.hpp"

#include "base/error.hpp"
#include "filecoin/porep/circuit_impl.hpp"

namespace cuzk::filecoin::porep {

namespace {

void check_inclusion(const InclusionProof& proof, const TreeShape& shape, std::size_t challenge,
                     const char* what) {
  base::require(
      proof.siblings.size() == shape.siblings() && proof.positions.size() == shape.levels(),
      "porep: challenge {}: the path of {} has {} levels and {} siblings, not {} and {}", challenge,
      what, proof.positions.size(), proof.siblings.size(), shape.levels(), shape.siblings());
}

void check_column(const ColumnProof& column, const Sizes& sizes, std::size_t challenge,
                  const char* what) {
  base::require(column.labels.size() == sizes.porep.layers,
                "porep: challenge {}: {} has {} labels, not {}", challenge, what,
                column.labels.size(), sizes.porep.layers);
  check_inclusion(column.inclusion, sizes.tree_r, challenge, what);
}

void check_lengths(const PartitionInputs& partition, const Sizes& sizes) {
  for (std::size_t i = 0; i < partition.proofs.size(); ++i) {
    const VanillaProof& proof = partition.proofs[i];
    check_inclusion(proof.comm_d_inclusion, sizes.tree_d, i, "comm_d");
    check_inclusion(proof.comm_r_last_inclusion, sizes.tree_r, i, "comm_r_last");
    check_column(proof.column, sizes, i, "the challenged column");
    for (const ColumnProof& parent : proof.drg_parents)
      check_column(parent, sizes, i, "a DRG parent");
    for (const ColumnProof& parent : proof.exp_parents)
      check_column(parent, sizes, i, "an expander parent");
  }
}

}  // namespace

void synthesize(r1cs::SymbolicSystem& cs, SectorSize size) {
  const Sizes sizes(size);
  synthesize_partition(cs, sizes, nullptr, sizes.porep.challenges_per_partition);
}

void synthesize(r1cs::WitnessBuilder& cs, SectorSize size, const PartitionInputs& partition) {
  const Sizes sizes(size);
  base::require(partition.proofs.size() == sizes.porep.challenges_per_partition,
                "porep: a partition of {} has {} challenges, not {}", size.to_string(),
                sizes.porep.challenges_per_partition, partition.proofs.size());
  check_lengths(partition, sizes);
  synthesize_partition(cs, sizes, &partition, partition.proofs.size());
}

void synthesize(r1cs::CheckedSystem& cs, SectorSize size, const PartitionInputs& partition) {
  const Sizes sizes(size);
  base::require(
      !partition.proofs.empty() && partition.proofs.size() <= sizes.porep.challenges_per_partition,
      "porep: a partition of {} has 1 to {} challenges, not {}", size.to_string(),
      sizes.porep.challenges_per_partition, partition.proofs.size());
  check_lengths(partition, sizes);
  synthesize_partition(cs, sizes, &partition, partition.proofs.size());
}

}  // namespace cuzk::filecoin::porep
