#pragma once

#include "curve/fr.hpp"
#include "groth16/proof.hpp"
#include "groth16/verifying_key.hpp"

#include <span>
#include <vector>

namespace cuzk::groth16 {

/// Checks proofs of one circuit. Immutable; threads may share it.
class Verifier {
 public:
  explicit Verifier(VerifyingKey key);

  /// Public inputs of a proof, without ONE.
  std::size_t num_inputs() const { return key_.ic.size() - 1; }

  /// Whether e(A, B) = e(α, β)·e(Σ x_k ic_k, γ)·e(C, δ): one product of four Miller loops, one
  /// final exponentiation. The points of `proof` must be in their groups, as Proof::from_bytes
  /// makes sure. Throws InvalidInput if the number of inputs is not the circuit's.
  bool verify(const Proof& proof, std::span<const curve::Fr> inputs) const;

  /// Whether all proofs verify, each with its own inputs: the equations are added up with random
  /// 128-bit factors, so that a batch with a wrong proof passes with probability 2^-128 at most. No
  /// proofs: true. Throws InvalidInput if the numbers do not match.
  bool verify_batch(std::span<const Proof> proofs,
                    std::span<const std::vector<curve::Fr>> inputs) const;

 private:
  VerifyingKey key_;
};

}  // namespace cuzk::groth16
