#pragma once

#include "cli/load/payload.hpp"
#include "cli/load/target.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cuzk::cli::load {

/// One kind of job in a load. Jobs take its payloads in turns.
struct MixItem {
  double weight = 1;  ///< share among all kinds' weights
  std::vector<std::shared_ptr<const Payload>> payloads;
};

/// What is sent, and how. Which job is of which kind, goes away or is sent twice follows from
/// `seed` and its number alone.
struct Load {
  std::vector<MixItem> mix;
  std::uint64_t jobs = 0;                     ///< 0: as many as the duration allows
  std::chrono::duration<double> duration{0};  ///< after it nothing new is sent; 0: no limit
  unsigned clients = 1;                       ///< calls at once
  double rate = 0;  ///< jobs a second, at random moments (Poisson); 0: a client sends its next job
                    ///< when it has the answer
  double vanishing = 0;  ///< share of jobs whose client goes away after vanish_after
  std::chrono::milliseconds vanish_after{100};
  double twins = 0;    ///< share of jobs that two clients send at once under one id
  double damaged = 0;  ///< share of requests of which half is cut off: to be refused
  std::uint64_t seed = 1;
  std::string id_prefix = "bench";  ///< job n is "<prefix>-<n>"
};

/// Whether a proof is one of the payload's statement. Any thread may call.
using ProofCheck = std::function<bool(const Payload&, base::ByteView proof)>;

struct Sample {
  std::uint64_t job = 0;
  engine::ProofKind kind = engine::ProofKind::kPorep;
  double start = 0;    ///< seconds since the load began at which it was to be sent
  double seconds = 0;  ///< from then to the answer: if a client was late, that counts
  Answer answer;
  bool valid = false;    ///< completed, and the proof verifies
  bool damaged = false;  ///< half of the request was cut off
  bool differs = false;  ///< the two answers of a job that was sent twice are different proofs
};

/// Sends the load and returns a sample for each job, in the order of their numbers. What a job's
/// client does after the answer, checking the proof above all, is not in its time. Throws
/// base::InvalidInput if the load has neither jobs nor duration, or no payloads.
std::vector<Sample> run(Target& target, const Load& load, const ProofCheck& check);

}  // namespace cuzk::cli::load
