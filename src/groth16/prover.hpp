#pragma once

#include "base/stage_timer.hpp"
#include "curve/fr.hpp"
#include "groth16/proof.hpp"
#include "groth16/proving_key.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <memory>

namespace cuzk::groth16 {

/// Randomness that hides the witness. Must be fresh for every proof.
struct Blinding {
  curve::Fr r, s;

  /// From the operating system's generator, uniform.
  static Blinding random();
};

/// What is proved with: a circuit, its layout and a key of the layout's form. All must outlive the
/// users of the view.
struct CircuitKey {
  const r1cs::Shape& shape;
  const KeyLayout& layout;
  const ProvingKey& key;
};

/// Makes proofs. Backends differ in where the work runs, not in the bytes. Stages, in order, as
/// names of timer entries:
///   evaluate     A·w, B·w (and C·w in the textbook form)
///   ntt_h        transforms and pointwise work of the quotient
///   msm_h        Σ over the query h
///   msm_l, msm_a, msm_b_g1, msm_b_g2, each as <name>.batch_add (its bits) and <name>.tail (its
///   field elements) assemble     the three elements from the sums, with the blinding
class Prover {
 public:
  /// A proof whose device work is done or under way.
  class Pending {
   public:
    virtual ~Pending() = default;
    /// Waits and assembles the proof. Once.
    virtual Proof finish(const Blinding& blinding, base::StageTimer& timer) = 0;
  };

  virtual ~Prover() = default;
  /// Starts a proof. Throws InvalidInput if the witness is not one of the circuit. A witness that
  /// does not satisfy it gives a proof that does not verify. `circuit`, `witness` and `timer` must
  /// outlive the object returned.
  virtual std::unique_ptr<Pending> start(const CircuitKey& circuit, const r1cs::Witness& witness,
                                         base::StageTimer& timer) = 0;

  Proof prove(const CircuitKey& circuit, const r1cs::Witness& witness, const Blinding& blinding,
              base::StageTimer& timer) {
    return start(circuit, witness, timer)->finish(blinding, timer);
  }
};

/// The backend that needs no device: all threads of the calling task arena. Its start() does all
/// the sums.
std::unique_ptr<Prover> make_cpu_prover();

}  // namespace cuzk::groth16
