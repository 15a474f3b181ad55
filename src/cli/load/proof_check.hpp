#pragma once

#include "cli/load/runner.hpp"

#include <filesystem>

namespace cuzk::cli::load {

/// Checks proofs with the verifying keys of a parameter folder, each read once, at its first use.
/// Says on standard error if one is not the network's. What the check throws: base::InvalidInput if
/// a circuit's file is missing, base::CorruptData if it is damaged; a proof of the wrong length or
/// encoding is merely not valid.
ProofCheck make_proof_check(std::filesystem::path params_dir);

}  // namespace cuzk::cli::load
