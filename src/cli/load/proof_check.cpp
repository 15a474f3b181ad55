#include "cli/load/proof_check.hpp"

#include "base/error.hpp"
#include "cli/key_store.hpp"
#include "groth16/proof.hpp"
#include "groth16/verifier.hpp"

#include <map>
#include <mutex>

namespace cuzk::cli::load {

namespace {

class Verifiers {
 public:
  explicit Verifiers(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const groth16::Verifier& of(const engine::CircuitId& circuit) {
    const std::lock_guard lock(mutex_);
    const auto found = verifiers_.find(circuit);
    if (found != verifiers_.end()) return found->second;
    const KeyPaths paths(folder_, circuit.kind, circuit.size);
    return verifiers_
        .emplace(circuit, groth16::Verifier(load_verifying_key(paths, circuit.kind, circuit.size)))
        .first->second;
  }

 private:
  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<engine::CircuitId, groth16::Verifier> verifiers_;  // guarded by mutex_; never removed
};

}  // namespace

ProofCheck make_proof_check(std::filesystem::path params_dir) {
  const auto verifiers = std::make_shared<Verifiers>(std::move(params_dir));
  return [verifiers](const Payload& payload, base::ByteView proof) {
    const groth16::Verifier& verifier = verifiers->of(payload.circuit);
    std::vector<groth16::Proof> proofs;
    try {
      proofs = groth16::decode_proofs(proof, payload.public_inputs.size(), "answer");
    } catch (const base::InvalidInput&) {
      return false;
    }
    return verifier.verify_batch(proofs, payload.public_inputs);
  };
}

}  // namespace cuzk::cli::load
