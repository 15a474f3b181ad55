#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "filecoin/porep/vanilla.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::filecoin::porep {

/// The result of a seal's commit phase 1 ("C1 output"): what a PoRep prover is given.
struct SealCommitPhase1Output {
  RegisteredSealProof registered_proof;
  /// The registered proof's size; or that of a small stand-in, which has no registered proof and
  /// carries the tag of a larger one with the same kind of tree.
  SectorSize sector_size;
  curve::Fr comm_r;
  curve::Fr comm_d;
  curve::Fr replica_id;
  base::Bytes32 seed;    ///< randomness of interactive and synthetic challenges
  base::Bytes32 ticket;  ///< part of the replica id
  std::vector<std::vector<VanillaProof>> partitions;
  /// From the envelope; the C1 output itself does not say it.
  std::optional<std::uint64_t> sector_number;

  friend bool operator==(const SealCommitPhase1Output&, const SealCommitPhase1Output&) = default;
};

/// The partitions that a C1 output of that proof and size must have. A stand-in has those of a 2
/// KiB sector with the same feature. Throws InvalidInput if the size neither is the proof's nor can
/// stand in for it: it must have no registered proof of its own, and sub-trees and a top tree where
/// the proof's size has them.
unsigned partition_count(RegisteredSealProof proof, SectorSize size);

/// The JSON of a C1 output as the reference library writes it, bare or in Curio's envelope
/// {"SectorNum": n, "Phase1Out": "<base64 of the bare form>", "SectorSize": bytes}.
/// [rust-fil-proofs storage-proofs-porep/src/stacked/vanilla/params.rs Proof; curio lib/ffi]
///
///   bare       {"registered_proof": "StackedDrg32GiBV1_1", "vanilla_proofs": V, "comm_r": B,
///               "comm_d": B, "replica_id": B, "seed": B, "ticket": B}
///   V          {"StackedDrg32GiBV1": [partitions of [challenges]]}
///   challenge  {"comm_d_proofs": M, "comm_r_last_proof": M, "replica_column_proofs": R,
///               "labeling_proofs": [L a layer], "encoding_proof": L}
///   R          {"c_x": C, "drg_parents": [6 C], "exp_parents": [8 C]}
///   C          {"column": {"index": n, "rows": [B a layer], "_h": null}, "inclusion_proof": M}
///   L          {"parents": [37 B], "layer_index": n, "node": n}
///   B, M       array of 32 numbers; Merkle proof, see inclusion_proof_codec.hpp
///
/// Read in one pass, keys in any order at every level, other keys ignored; SectorSize 0 means "not
/// given". Of labels and encoding, which follow from the rest, only the challenge is read:
/// labeling_proofs[0].node.
///
/// The sector size is `size` if given, else the envelope's, else that of the registered proof; the
/// latter two must agree with what is given (a stand-in may carry a larger proof's tag). It fixes
/// every count and length.
///
/// Throws InvalidInput that names the place in the JSON: wrong form, counts, lengths, tree
/// variants, numbers out of range, elements not below r, commitments or seed of zeros. Whether the
/// proof holds is not checked: vanilla_check.hpp.
///
/// Memory: what it returns, about a quarter of the text, and for an envelope the decoded base64.
SealCommitPhase1Output decode_commit_phase1(std::string_view json,
                                            std::optional<SectorSize> size = std::nullopt);

/// The bare form, keys and nesting exactly as the reference library's, labels and encoding filled
/// in from the columns; for a C1 output of that library the same bytes. Throws InvalidInput for a
/// proof whose counts do not fit the size.
std::string encode_commit_phase1(const SealCommitPhase1Output& output);

/// The same in the envelope. Throws InvalidInput if `output` has no sector number.
std::string encode_commit_phase1_envelope(const SealCommitPhase1Output& output);

}  // namespace cuzk::filecoin::porep
