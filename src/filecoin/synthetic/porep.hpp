#pragma once

#include "base/bytes.hpp"
#include "filecoin/porep/vanilla_codec.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>

namespace cuzk::filecoin::synthetic {

struct PorepOptions {
  SectorSize sector_size;
  /// Says porep id, API version and how challenges are derived. A size without a registered proof
  /// takes that of a larger one as its tag: see porep::partition_count.
  RegisteredSealProof registered_proof;
  std::uint64_t miner_id = 1000;
  std::uint64_t sector_number = 1;
  std::uint64_t seed = 0;
};

/// The interactive V1_1 proof of a size, or for a size that has none, that of 32 GiB or 64 GiB,
/// whichever has the same storeys of trees.
RegisteredSealProof default_seal_proof(SectorSize size);

/// A valid C1 output of a sector that does not exist; a function of the options alone.
///
/// Each value is made before what depends on it: tree D -> comm_d -> replica_id -> challenges ->
/// labels -> trees C and R-last -> comm_r. So tree D must allow any leaf to be opened: up to 8 MiB
/// it is a full tree over random data, above a FoldedTree of 16 random data nodes. Interactive
/// challenges do not depend on comm_r: only the opened columns and encoded nodes are made (see
/// Columns), and the trees over them are SparseTrees. Synthetic and non-interactive challenges do
/// depend on comm_r, so on every label: the sector is then really sealed in memory, which is
/// offered up to 16 MiB.
///
/// Cost at 32 GiB, 10 partitions: 30,000 Poseidon hashes.
/// Throws InvalidInput for a registered proof that does not fit the size, or whose challenges need
/// sealing above 16 MiB.
porep::SealCommitPhase1Output make_porep(const PorepOptions& options);

}  // namespace cuzk::filecoin::synthetic
