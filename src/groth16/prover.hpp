#pragma once

#include "base/stage_timer.hpp"
#include "curve/fr.hpp"
#include "groth16/proof.hpp"
#include "groth16/proving_key.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <cstdint>
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

/// Whose proof is started, for backends that do several together.
struct Ticket {
  std::uint64_t job = 0;  ///< proofs of one job have the same number
  bool urgent = false;    ///< waits for no others
};

/// Whether a witness was sent to its device before its proof's turn there.
enum class Prestage : std::uint8_t {
  kOff,       ///< not tried: switched off, or there is no device
  kHit,       ///< it was
  kSkipVram,  ///< the device has no memory for a second one
  kSkipPin,   ///< no host memory could be page-locked
};

/// Makes proofs of one circuit with one key. Backends differ in where key and work are, not in the
/// bytes. Stages, as names of timer entries (each backend says what its times include):
///   prestage     the witness laid out for its way to the device
///   upload       the witness's way
///   complete_witness   its implied fields from the given ones, on a device
///   evaluate     A·w, B·w (and C·w in the textbook form)
///   ntt_h        transforms and pointwise work of the quotient
///   msm_h        Σ over the query h
///   msm_l, msm_a, msm_b_g1, msm_b_g2, each as <name>.batch_add (its bits) and <name>.tail (its
///                field elements)
///   download     the sums' way back
///   assemble     the three elements from the sums, with the blinding
///   device_lock_wait   waiting for the device to have room; no work
class Prover {
 public:
  /// A proof whose device work is done or under way. Destroying it unfinished is allowed: the work
  /// is abandoned and its place given back.
  class Pending {
   public:
    virtual ~Pending() = default;
    /// Waits and assembles the proof. Once. Throws what the work failed with.
    virtual Proof finish(const Blinding& blinding, base::StageTimer& timer) = 0;
  };

  virtual ~Prover() = default;
  virtual const VerifyingKey& verifying_key() const = 0;
  /// Starts a proof. Throws InvalidInput if the witness is not one of the circuit; one that has its
  /// given fields alone is, for the CPU's prover and for others that are told to complete it. One
  /// that does not satisfy it gives a proof that does not verify. The prover must outlive the
  /// object returned; the witness is no longer needed when start() returns.
  virtual std::unique_ptr<Pending> start(const r1cs::Witness& witness, base::StageTimer& timer) = 0;

  Proof prove(const r1cs::Witness& witness, const Blinding& blinding, base::StageTimer& timer) {
    return start(witness, timer)->finish(blinding, timer);
  }
};

/// The backend that needs no device: all threads of the calling task arena. Its start() does all
/// the sums; its msm_h contains the dense part of l, so that there is no msm_l.tail. Any number of
/// threads may use it. `window_bits`: of the dense sums' windows, 0 or what MsmOptions takes.
std::unique_ptr<Prover> make_cpu_prover(const CircuitKey& circuit, unsigned window_bits = 0);

}  // namespace cuzk::groth16
