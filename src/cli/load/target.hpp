#pragma once

#include "cli/load/metrics_text.hpp"
#include "engine/job.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace cuzk::cli::load {

/// What became of a job, as its client sees it.
struct Answer {
  enum class Outcome : std::uint8_t {
    kCompleted,
    kFailed,       ///< accepted, then failed
    kCancelled,    ///< by somebody else
    kRefused,      ///< never became a job
    kGaveUp,       ///< this client went away before the answer
    kUnreachable,  ///< nobody answered at the address, or the connection broke
  };
  Outcome outcome = Outcome::kUnreachable;
  base::Bytes proof;  ///< unless completed empty
  std::string code;   ///< "BAD-INPUT"; empty if completed
  std::string error;
  engine::JobTimings timings;
  std::uint32_t attempts = 0;
  std::string backend;
};
std::string_view to_string(Answer::Outcome outcome);

/// Where jobs are sent: a daemon, or an engine in this process. Any thread may call.
class Target {
 public:
  virtual ~Target() = default;
  virtual std::string name() const = 0;
  /// Sends the job and waits for its end; goes away after `limit` (zero: waits for ever).
  virtual Answer prove(const engine::JobRequest& request, std::chrono::milliseconds limit) = 0;
  /// Throws base::* if they cannot be had.
  virtual MetricsText metrics() = 0;
};

}  // namespace cuzk::cli::load
