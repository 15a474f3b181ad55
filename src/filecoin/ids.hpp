#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "filecoin/registered_proof.hpp"

#include <cstdint>

namespace cuzk::filecoin {

/// Which graph and which challenges a PoRep uses: the proof's number, then the nonce (0 on the
/// network), both u64 LE, then zeros.
/// [rust-fil-proofs filecoin-proofs/src/types/porep_config.rs; filecoin-proofs-api src/registry.rs]
base::Bytes32 porep_id(RegisteredSealProof proof, std::uint64_t nonce = 0);

/// A miner's actor number as unsigned LEB128, left aligned, then zeros: the payload of its ID
/// address.
base::Bytes32 prover_id(std::uint64_t miner_id);

/// Which sector a replica is: SHA-256(prover_id || sector number as u64 BE || ticket || comm_d ||
/// porep_id), truncated to 254 bits.
/// [rust-fil-proofs storage-proofs-porep/src/stacked/vanilla/params.rs generate_replica_id]
curve::Fr replica_id(const base::Bytes32& prover_id, std::uint64_t sector_number,
                     const base::Bytes32& ticket, const curve::Fr& comm_d,
                     const base::Bytes32& porep_id);

/// Commitment to a replica: Poseidon(comm_c, comm_r_last).
curve::Fr comm_r(const curve::Fr& comm_c, const curve::Fr& comm_r_last);

}  // namespace cuzk::filecoin
