#pragma once

#include "curve/fr.hpp"
#include "engine/circuit_id.hpp"
#include "engine/job.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cuzk::engine {

/// A job's payload, decoded: what its partitions are and how to prove them. Immutable; any thread
/// may use it.
struct PreparedJob {
  /// Public inputs of each partition, without ONE.
  std::vector<std::vector<curve::Fr>> public_inputs;
  /// Witness of partition k.
  std::function<r1cs::Witness(const r1cs::Shape& shape, std::size_t k)> witness;
  std::uint64_t bytes = 0;  ///< of memory that it holds, about

  std::size_t partitions() const { return public_inputs.size(); }
};

/// What turns requests into something to prove, in three steps of rising cost, so that what can be
/// refused is refused early. All throw EngineError, kBadInput unless stated; the text starts with
/// the request's id and lists everything that is wrong, not only the first. Any thread may call.
class Preparation {
 public:
  virtual ~Preparation() = default;

  /// Numbers, sizes and counts; does not read the vanilla proofs, but for what they say of the
  /// sector size where nothing else does. Returns the circuit. kUnsupported for a known proof type
  /// that is not made here.
  virtual CircuitId examine(const JobRequest& request) = 0;
  /// Decodes and verifies natively, in parallel. kBadVanilla if a vanilla proof does not hold.
  virtual PreparedJob check(const JobRequest& request) = 0;
  /// Decodes a request that passed check() before.
  virtual PreparedJob decode(const JobRequest& request) = 0;
};

/// For Filecoin's proofs.
///
/// PoRep: vanilla_proof is a C1 output, in Curio's envelope or bare. sector_size and
/// registered_proof, where not 0, and miner and sector number, where not both 0, must be those of
/// the C1 output. PoSt: randomness, and a blob for each sector in vanilla_proofs; the sectors are
/// those that the blobs name. WindowPoSt: the sectors of one partition, whose number among the
/// deadline's is partition_index. Snap: a blob for each partition, and the three commitments.
/// sector_size 0: that of registered_proof.
std::unique_ptr<Preparation> make_filecoin_preparation();

}  // namespace cuzk::engine
