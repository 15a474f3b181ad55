#pragma once

#include "curve/fr.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <vector>

namespace cuzk::filecoin::update {

/// The nodes that partition k of an update must open, update_shape(size).challenges_per_partition
/// (c) of them, all in the k-th of `partitions` equal parts of the sector. Each has b = log2(nodes
/// / partitions) random low bits, taken from the least significant end of Poseidon digests, n =
/// floor(254 / b) a digest; the rest of a digest is dropped. Digest i of partition k is Poseidon,
/// domain of randomness, of (comm_r_new, k · ceil(c / n) + i).
/// [rust-fil-proofs storage-proofs-update/src/challenges.rs]
/// Throws InvalidInput if there is no partition k.
std::vector<std::uint64_t> challenges(SectorSize size, const curve::Fr& comm_r_new, unsigned k);

/// The one partition of the Poseidon variant: as many challenges as all partitions above have
/// together, over all nodes.
std::vector<std::uint64_t> poseidon_challenges(SectorSize size, const curve::Fr& comm_r_new);

/// Both of the above in terms of numbers: `count` challenges of partition k of `partitions` (a
/// power of two), in a sector of 2^log2_nodes nodes.
struct ChallengeShape {
  unsigned log2_nodes;
  unsigned partitions;
  unsigned count;
};
std::vector<std::uint64_t> challenges(const ChallengeShape& shape, const curve::Fr& comm_r_new,
                                      unsigned k);

}  // namespace cuzk::filecoin::update
