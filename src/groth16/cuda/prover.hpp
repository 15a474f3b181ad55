#pragma once

#include "groth16/cuda/device_turn.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/key_file.hpp"
#include "groth16/prover.hpp"
#include "groth16/proving_key.hpp"
#include "groth16/setup.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

/// The backend that proves on one CUDA device. This header is plain C++: host code may include it.
namespace cuzk::groth16::cuda {

struct CudaOptions {
  /// The driver's number of the device.
  int ordinal = 0;
  /// Proofs in flight at once, each with working memory of its own. The second hides the host's
  /// part and the ends of sums, where few threads have work; more gain nothing. Fewer are made
  /// where memory does not allow them.
  unsigned lanes = 2;
  /// Bytes of device memory to use; 0: what is free when the prover is made, less 1 GiB.
  std::size_t vram_budget = 0;
  /// Keep bits' points as tables of groups where they fit: half the time of those sums for twice
  /// their memory.
  bool group_tables = true;
  /// Sum the queries beside the quotient and the sum over h: shorter proofs, more memory.
  bool overlap = true;
  /// Bits of the dense sums' windows, as near as the device has them (7 to 26, and no less than 9
  /// for 2^27 points); 0: chosen by size.
  unsigned window_bits = 0;
  /// Send a witness to the device before its proof's turn there: into the memory of a lane that is
  /// idle; where there are fewer lanes than wanted, and where the key is streamed, into memory of
  /// its own, if that leaves enough for the rest. Otherwise its way begins with its turn.
  bool prestage = true;
  /// Lay witnesses out in page-locked memory; otherwise, and where no more can be locked, in
  /// ordinary memory, which is slower.
  bool pinned_uploads = true;
  /// Proofs of everything that shares this object have the device for themselves, from the first
  /// kernel to the download. Null: each lane's work goes beside the others', so that one is
  /// transferred, or ends its sums, while another one computes. Without effect on a streamed key,
  /// whose proofs are one stream's work anyway.
  std::shared_ptr<DeviceTurn> turn = nullptr;
  /// Where the key does not fit and is streamed from host memory: proofs that share a pass over the
  /// points of bits, at most; fewer where memory demands it.
  unsigned partitions_a_pass = 10;
  /// Jobs whose proofs may share a pass, and how long a pass waits for those of others. See
  /// PassQueue.
  unsigned jobs_a_pass = 1;
  std::chrono::milliseconds pass_wait{0};
  /// Witnesses are to be completed on the device (r1cs/implied_fields.hpp): what is uploaded is the
  /// given fields alone, and start() takes a witness that has no others, too. Pays where chains are
  /// many: in a WindowPoSt, 23,490 of them.
  bool complete_witnesses = false;
  /// Run through everything once when the prover is made, so that the first proof is as fast as the
  /// others; takes the time of a proof.
  bool warm_up = true;
};

/// A prover with a circuit and its key on a device. Everything is allocated when it is made;
/// start() enqueues and returns, finish() waits. Any number of threads may call start() and
/// finish(); start() waits (device_lock_wait) while proofs_in_flight() are started and not
/// finished.
///
/// With everything in device memory, each lane proves on its own. Where the key does not fit, the
/// points of bits, and if need be those of h, stay in pinned host memory and are brought to the
/// device in pieces; then proofs are computed one after the other up to the sums over bits, for
/// which several share a pass, so that finish() may wait (device_lock_wait) for others to start.
///
/// Times: device_lock_wait (for a lane, for the turn), prestage (witness laid out in host memory)
/// and assemble (last sums of few points on the host, the proof's elements) by the host's clock;
/// all others by the device's, from the end of what precedes on the same stream; of a shared pass
/// an equal share. With `overlap` two streams, and with several lanes all of them, share the
/// device, so times contain each other's work and add up to more than passes.
///
/// A proof that the device fails throws base::cuda::DeviceError from start() or finish() and frees
/// its place. After DeviceLost neither the prover nor the device is of use to this process.
class CudaProver : public Prover {
 public:
  struct Started {
    std::unique_ptr<Pending> pending;
    Prestage prestage = Prestage::kOff;
  };
  /// As start(), for one of several jobs. With CudaOptions::turn a thread finishes a proof before
  /// it starts the next one.
  virtual Started start_for(const Ticket& ticket, const r1cs::Witness& witness,
                            base::StageTimer& timer) = 0;
  std::unique_ptr<Pending> start(const r1cs::Witness& witness, base::StageTimer& timer) override {
    return start_for({}, witness, timer).pending;
  }

  virtual unsigned proofs_in_flight() const = 0;
  /// Device memory that the prover holds.
  virtual std::size_t device_bytes() const = 0;
  /// Page-locked host memory that the prover holds: a streamed key, and room for witnesses on their
  /// way; results, some kilobytes, are not counted.
  virtual std::size_t pinned_bytes() const = 0;
  /// Passes over a streamed key so far; 0 where it is on the device.
  virtual std::uint64_t passes() const { return 0; }
  /// What takes it, in one line.
  virtual std::string describe() const = 0;
};

/// Makes a prover from a key's files: see DeviceKey::load(). `derived` is null in the textbook
/// form. Throws InvalidInput where the device does not exist or its capability is not one that the
/// program has code for, DeviceError where the driver is too old, ResourceExhausted where memory
/// does not suffice; CorruptData as DeviceKey::load(). Files and layout are no longer needed when
/// it returns, likewise below.
std::unique_ptr<CudaProver> load_cuda_prover(const r1cs::Shape& shape, const KeyLayout& layout,
                                             const KeyFile& file, const DerivedKeyFile* derived,
                                             const CudaOptions& options);

/// From a key in host memory.
std::unique_ptr<CudaProver> make_cuda_prover(const CircuitKey& circuit, const CudaOptions& options);

/// With a development key that is made on the device and written nowhere.
std::unique_ptr<CudaProver> make_development_cuda_prover(const r1cs::Shape& shape,
                                                         const KeyLayout& layout,
                                                         const Trapdoor& trapdoor,
                                                         const CudaOptions& options);

}  // namespace cuzk::groth16::cuda
