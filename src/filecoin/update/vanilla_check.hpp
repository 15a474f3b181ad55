#pragma once

#include "base/bytes.hpp"
#include "filecoin/update/public_inputs.hpp"
#include "filecoin/update/vanilla.hpp"
#include "filecoin/vanilla_check.hpp"

#include <span>
#include <vector>

namespace cuzk::filecoin::update {

/// Verifies the vanilla proofs of a sector update natively; the k-th one is that of partition k.
/// For each partition the apex leaves hash to this partition's node of tree D. For each challenge:
///   - the leaf is the one derived from comm_r_new;
///   - the path in tree D reaches comm_d_new and goes through its apex leaf;
///   - the paths in both trees R-last reach roots that hash with comm_c to comm_r_old, comm_r_new;
///   - r_new = r_old + d_new · rho(phi, high bits of the leaf's index).
/// [rust-fil-proofs storage-proofs-update/src/vanilla.rs verify]
///
/// Returns everything that does not hold, ordered by partition and challenge; empty if all is
/// right. In parallel over the challenges. Cost at 32 GiB: 29,000 Poseidon hashes, about 2 s of one
/// core.
///
/// Throws InvalidInput if statement.h is no choice for the sector size.
std::vector<BadEntry> check_vanilla_proofs(const Statement& statement,
                                           std::span<const VanillaProof> proofs);

/// The same for proofs as they came in a request; one that cannot be decoded is a bad entry like
/// any other.
std::vector<BadEntry> check_vanilla_blobs(const Statement& statement,
                                          std::span<const base::Bytes> blobs);

/// The statement that the proofs are consistent with, if with any: commitments from what the first
/// challenge states, the usual h. For a check without public values. Throws InvalidInput if there
/// is no challenge.
Statement implied_statement(SectorSize size, std::span<const VanillaProof> proofs);

}  // namespace cuzk::filecoin::update
