#pragma once

#include "filecoin/porep/vanilla_codec.hpp"
#include "filecoin/vanilla_check.hpp"

#include <optional>
#include <vector>

namespace cuzk::filecoin::porep {

/// What is known about a sector apart from its C1 output; each is compared with it, where given.
struct PublicValues {
  /// With the sector number: replica_id is derived and compared.
  std::optional<base::Bytes32> prover_id;
  /// Also compared with the envelope's.
  std::optional<std::uint64_t> sector_number;
  std::optional<curve::Fr> comm_r, comm_d, replica_id;
  std::optional<base::Bytes32> seed, ticket;
};

/// Verifies a C1 output natively. For each challenge:
///   - the node is the one derived from replica_id, seed and comm_r by the proof's rules;
///   - the parents are those of the graph;
///   - the data node is in tree D, whose root is comm_d;
///   - the encoded node is in tree R-last, the hashes of all columns in tree C, whose roots hash to
///     comm_r;
///   - each label of the node is the hash of its parents' labels;
///   - data plus last label is the encoded node.
/// [rust-fil-proofs storage-proofs-porep/src/stacked/vanilla/params.rs Proof::verify]
///
/// Returns everything that does not hold, ordered by partition and challenge; empty if all is
/// right. In parallel over the challenges. Cost at 32 GiB: 31,500 Poseidon hashes, about 2 s of one
/// core.
///
/// Throws InvalidInput for counts that do not fit the sector size (decoding has checked them).
std::vector<BadEntry> check_vanilla_proofs(const SealCommitPhase1Output& output,
                                           const PublicValues& known = {});

}  // namespace cuzk::filecoin::porep
