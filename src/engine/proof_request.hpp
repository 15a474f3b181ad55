#pragma once

#include "curve/fr.hpp"
#include "engine/circuit_id.hpp"
#include "filecoin/meta.hpp"
#include "filecoin/porep/vanilla_codec.hpp"
#include "filecoin/post/public_inputs.hpp"
#include "filecoin/post/vanilla.hpp"
#include "filecoin/update/public_inputs.hpp"
#include "filecoin/update/vanilla.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

/// From what Filecoin's proofs are about to what Groth16 proves: public inputs and witnesses. The
/// program's commands and the engine share it.
namespace cuzk::engine {

/// What is to be proved or verified: a circuit, and for each partition its public inputs (without
/// ONE).
struct Statement {
  CircuitId circuit;
  std::vector<std::vector<curve::Fr>> public_inputs;
};

/// Witness of partition k. Copies share the decoded vanilla proof. May be called from several
/// threads. Where the circuit leaves_out_implied(), it has its given fields alone.
using Witnesses = std::function<r1cs::Witness(const r1cs::Shape& shape, std::size_t k)>;

/// A statement with the means to prove it.
struct ProofRequest {
  Statement statement;
  Witnesses witness;
};

/// Statement of a PoRep. `sector_size` may be that of a stand-in for the registered proof's.
Statement porep_statement(filecoin::SectorSize sector_size, filecoin::RegisteredSealProof proof,
                          const curve::Fr& replica_id, const curve::Fr& comm_d,
                          const curve::Fr& comm_r, const base::Bytes32& seed);
Witnesses porep_witnesses(std::shared_ptr<const filecoin::porep::SealCommitPhase1Output> output);
ProofRequest porep_request(filecoin::porep::SealCommitPhase1Output output);

Statement winning_statement(filecoin::SectorSize size, const base::Bytes32& randomness,
                            const filecoin::post::Sector& sector);
Witnesses winning_witnesses(filecoin::SectorSize size, filecoin::post::VanillaProof proof);
ProofRequest winning_request(filecoin::SectorSize size, const base::Bytes32& randomness,
                             filecoin::post::VanillaProof proof);

/// A WindowPoSt's partitions of window_post_sector_count(size) sectors each, of which the first is
/// the one of number `first_partition` (it matters for API 1.0 only, whose challenges depend on a
/// sector's position). Throws InvalidInput if there are no sectors.
Statement window_statement(filecoin::SectorSize size, filecoin::ApiVersion version,
                           const base::Bytes32& randomness,
                           std::span<const filecoin::post::Sector> sectors,
                           std::uint32_t first_partition = 0);
Witnesses window_witnesses(filecoin::SectorSize size,
                           std::vector<filecoin::post::VanillaProof> proofs);
ProofRequest window_request(filecoin::SectorSize size, filecoin::ApiVersion version,
                            const base::Bytes32& randomness,
                            std::vector<filecoin::post::VanillaProof> proofs,
                            std::uint32_t first_partition = 0);

Statement update_statement(const filecoin::update::Statement& update);
/// Throws InvalidInput unless there is a proof for each partition.
Witnesses update_witnesses(const filecoin::update::Statement& update,
                           std::vector<filecoin::update::VanillaProof> proofs);
ProofRequest update_request(const filecoin::update::Statement& update,
                            std::vector<filecoin::update::VanillaProof> proofs);

}  // namespace cuzk::engine
