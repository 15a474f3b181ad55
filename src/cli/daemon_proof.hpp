#pragma once

#include "base/bytes.hpp"
#include "engine/job.hpp"
#include "service/client.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace cuzk::cli {

/// A proof that a daemon made, and where its time went.
struct DaemonProof {
  struct Stage {
    std::string name;
    double ms;
    bool is_part;  ///< of the stage `device`, after which the parts stand
  };

  base::Bytes proof;          ///< 192 bytes a partition, in order
  std::vector<Stage> stages;  ///< sums over partitions, which overlap
  double total_ms;            ///< by the daemon's clock, acceptance to answer
  std::string backend;        ///< "cuda:0", "cpu"
};

/// Sends the request with Prove, as Curio does, and waits for the proof; zero: without a limit.
///
/// The stages come from the answer (queue_wait, srs_load, witness, device) and, where nothing else
/// of the kind was proved in the meantime, from how the daemon's metrics grew: the parts of
/// `device`, the wait for it, and `verify`. Otherwise these are left out.
///
/// Throws as service::require_ok for a request that is refused, and by the same rule for a job that
/// fails: base::ResourceExhausted where trying again may help, std::runtime_error for a bug of the
/// daemon, else base::InvalidInput.
DaemonProof prove_by_daemon(const service::ClientOptions& daemon, const engine::JobRequest& request,
                            std::chrono::milliseconds limit);

}  // namespace cuzk::cli
