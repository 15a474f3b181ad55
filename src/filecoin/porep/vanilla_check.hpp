#pragma once

#include <optional>
#include <vector>

#include "filecoin/porep/vanilla_codec.hpp"
#include "filecoin/vanilla_check.hpp"

namespace cuzk::filecoin::porep {

/// What is known about a sector apart from its C1 output; each is compared with it, where given.
struct PublicValues {
  std::optional<base::Bytes32> prover_id;      ///< with the sector number: replica_id is derived and compared
  std::optional<std::uint64_t> sector_number;  ///< also compared with the envelope's
  std::optional<curve::Fr> comm_r, comm_d, replica_id;
  std::optional<base::Bytes32> seed, ticket;
};

/// Verifies a C1 output natively. For each challenge:
///   - the node is the one derived from replica_id, seed and comm_r by the proof's rules, its parents those of the graph;
///   - data node, encoded node and the columns of node and parents are in trees D, R-last and C, whose roots are comm_d
///     and the two that hash to comm_r; each column's hash is its leaf;
///   - each label of the node is the hash of its parents' labels; data plus last label is the encoded node.
/// [rust-fil-proofs storage-proofs-porep/src/stacked/vanilla/params.rs Proof::verify]
///
/// Returns everything that does not hold, ordered by partition and challenge; empty if all is right. In parallel over
/// the challenges. Cost at 32 GiB: 31,000 Poseidon hashes.
/// Throws InvalidInput for counts that do not fit the sector size (decoding has checked them).
std::vector<BadEntry> check_vanilla_proofs(const SealCommitPhase1Output& output, const PublicValues& known = {});

}  // namespace cuzk::filecoin::porep
