#pragma once

#include "base/bytes.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <vector>

namespace cuzk::filecoin::post {

/// The leaf of tree R-last that challenge number `index` asks of a sector: the first 8 bytes,
/// little-endian, of SHA-256(randomness || sector number as u64 LE || index as u64 LE), modulo the
/// number of leaves.
/// [rust-fil-proofs storage-proofs-post/src/fallback/vanilla.rs generate_leaf_challenge]
std::uint64_t leaf_challenge(SectorSize size, const base::Bytes32& randomness,
                             std::uint64_t sector_number, std::uint64_t index);

/// The 66 leaves that WinningPoSt opens of its one sector: challenges 0 to 65.
std::vector<std::uint64_t> winning_challenges(SectorSize size, const base::Bytes32& randomness,
                                              std::uint64_t sector_number);

/// The 10 leaves that WindowPoSt opens of a sector. Up to API 1.1 the n-th has the index 10 ·
/// position + n, where `position` is the sector's place among all sectors of the proof, over all
/// partitions; from 1.2 on just n.
/// [rust-fil-proofs storage-proofs-post/src/fallback/utils.rs]
std::vector<std::uint64_t> window_challenges(SectorSize size, ApiVersion version,
                                             const base::Bytes32& randomness,
                                             std::uint64_t sector_number, std::uint64_t position);

/// Places, among `sector_count` sectors, of the `count` ones that must make a WinningPoSt: place n
/// is the first 8 bytes, little-endian, of SHA-256(prover_id || randomness || n as u64 LE), modulo
/// sector_count. The network uses count 1.
/// Throws InvalidInput if sector_count is 0.
std::vector<std::uint64_t> winning_sectors(const base::Bytes32& prover_id,
                                           const base::Bytes32& randomness,
                                           std::uint64_t sector_count, unsigned count = 1);

}  // namespace cuzk::filecoin::post
