#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::filecoin::post {

/// A sector that a PoSt is about.
struct Sector {
  std::uint64_t number;
  curve::Fr comm_r;
};

/// What one place of the circuit opens: a sector and the leaves challenged.
struct SectorInputs {
  curve::Fr comm_r;
  std::vector<std::uint64_t> challenges;

  friend bool operator==(const SectorInputs&, const SectorInputs&) = default;
};

/// What the verifier of one partition knows: all places of the circuit, padding included.
struct PublicInputs {
  std::vector<SectorInputs> sectors;

  /// The circuit's inputs in order, without ONE: for each place comm_r, then its challenges (each a
  /// path's index bits packed into one element, so the leaf's index).
  /// [rust-fil-proofs storage-proofs-post/src/fallback/compound.rs generate_public_inputs]
  std::vector<curve::Fr> to_fields() const;

  friend bool operator==(const PublicInputs&, const PublicInputs&) = default;
};

/// WinningPoSt of one sector: 66 places of one challenge each, all of that sector.
PublicInputs winning_public_inputs(SectorSize size, const base::Bytes32& randomness,
                                   const Sector& sector);

/// Partition k of a WindowPoSt of all `sectors`, of which it has those from k ·
/// window_post_sector_count(size) on. If they do not fill the circuit, the last one's inputs are
/// repeated, challenges included. Before the first sector come `first_partition` partitions of
/// others (it matters for API 1.0 only, whose challenges depend on a sector's position).
/// Throws InvalidInput if there is no such partition.
PublicInputs window_public_inputs(SectorSize size, ApiVersion version,
                                  const base::Bytes32& randomness, std::span<const Sector> sectors,
                                  unsigned k, std::uint32_t first_partition = 0);

/// Number of partitions that a WindowPoSt of so many sectors has.
unsigned window_partition_count(SectorSize size, std::size_t sector_count);

}  // namespace cuzk::filecoin::post
