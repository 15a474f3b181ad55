#pragma once

#include "engine/engine.hpp"
#include "engine/key_cache.hpp"
#include "engine/lifecycle.hpp"
#include "engine/preparation.hpp"
#include "engine/scheduler.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace cuzk::engine {

/// What becomes of a request: a job, or a refusal. Checks from cheap to dear: is the engine taking
/// jobs; is the request known; its numbers; parameters; devices and memory; the queue; at last the
/// payload. Any thread may call.
class Admission {
 public:
  /// Why a job gave way to one with the same request id and other content.
  static std::string superseded_text(std::string_view digest, std::string_view previous);
  struct Options {
    std::uint32_t max_queued_jobs = 1000, max_queued_low = 1000;
  };
  struct Parts {
    JobTable& table;
    Lifecycle& lifecycle;
    Journal& journal;
    Preparation& preparation;
    ParameterStore& parameters;
    KeyCache& keys;
    Scheduler& scheduler;
    MemoryBudget& host;
    MemoryBudget& decoded;
    Metrics& metrics;
    std::vector<std::unique_ptr<DeviceSlot>>& devices;
  };
  Admission(const Parts& parts, Options options);

  /// As Engine::submit().
  Engine::Submitted submit(JobRequest request);
  /// Payload digests that are refused.
  void refuse(const std::string& digest);
  void set_options(Options options);
  /// Throws EngineError unless the circuit's parameters are there.
  void require_parameters(const CircuitId& circuit, const std::string& about) const;
  /// Throws EngineError unless the circuit could be proved on an otherwise idle machine, on some
  /// device: how much of which memory it needs, and how much there is.
  void require_memory(const CircuitId& circuit, const std::string& about) const;

 private:
  /// Holds a request's id while it is being admitted, so that another one with it waits for the
  /// outcome: it joins the job, or takes its place.
  class Turn;

  Engine::Submitted take(const JobRequest& request);

  std::optional<Engine::Submitted> known(const JobRequest& request, const std::string& digest);
  Engine::Submitted admit(const JobRequest& request, const std::string& digest);
  void require_device(const std::string& about) const;
  void require_place(const JobRequest& request) const;
  std::string new_job_id(const std::string& request_id) const;
  /// The unfinished job with the request's id and other content.
  std::shared_ptr<Job> superseded_by(const JobRequest& request, const std::string& digest) const;
  void supersede(const std::shared_ptr<Job>& old, const std::string& digest);
  std::string device_with(const CircuitId& circuit) const;

  const Parts parts_;
  /// Large payloads are checked two at a time; those of PoSt do not wait for them.
  std::counting_semaphore<> bulk_checks_{2};

  mutable std::mutex mutex_;
  std::condition_variable turn_over_;
  // Guarded by mutex_.
  Options options_;
  std::set<std::string> under_way_;  ///< request ids
  std::set<std::string> refused_;
};

}  // namespace cuzk::engine
