#pragma once

#include "base/stage_timer.hpp"
#include "cli/backend.hpp"
#include "cli/proof_request.hpp"
#include "groth16/proof.hpp"
#include "groth16/prover.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace cuzk::cli {

struct ProvedPartition {
  groth16::Proof proof;
  base::StageTimer timer;  ///< "witness", the prover's stages, "verify"
  std::chrono::steady_clock::time_point finished;
};

/// Proves partitions 0 .. count - 1 of a request and verifies each; beyond the request's it starts
/// again at its first. One thread makes witnesses, one starts proofs, one finishes and verifies
/// them, so that the prover always has the next one at hand. `make_blinding` is called once a
/// partition, in order. Throws the first failure; InvalidInput if a proof does not verify.
std::vector<ProvedPartition> prove_partitions(
    const r1cs::Shape& shape, LoadedProver& prover, const ProofRequest& request, std::size_t count,
    const std::function<groth16::Blinding()>& make_blinding);

}  // namespace cuzk::cli
