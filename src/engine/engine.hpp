#pragma once

#include "engine/config.hpp"
#include "engine/job.hpp"
#include "engine/journal.hpp"
#include "engine/proving_device.hpp"
#include "engine/status.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Jobs in, verified proofs out. A job is split into partitions; partitions of all jobs stand in
/// one table ordered by priority, deadline and age, and go through the stages decode, witness,
/// device, finish, verify. Admission is by reservation from the budgets. Every partition's proof is
/// verified before its job is answered. Accepted jobs, finished partitions and results are
/// journalled.
namespace cuzk::engine {

class ParameterStore;
class Preparation;

class Engine {
 public:
  struct Submitted {
    std::string job_id;
    std::uint32_t queue_position = 0;  ///< jobs that go before it
    std::string assigned_gpu;          ///< the device that holds the circuit's key, if any
    bool joined = false;               ///< the same request was known already
  };

  /// Opens the journal and resumes what it holds. `devices` must not be empty unless the
  /// configuration allows the CPU, for which one is added. Throws base::InvalidInput for a
  /// configuration that cannot work here.
  Engine(Config config, std::vector<std::unique_ptr<ProvingDevice>> devices,
         std::unique_ptr<Journal> journal);
  /// With something else to prove than Filecoin's proofs, and keys from elsewhere than a folder.
  Engine(Config config, std::vector<std::unique_ptr<ProvingDevice>> devices,
         std::unique_ptr<Journal> journal, std::unique_ptr<Preparation> preparation,
         std::unique_ptr<ParameterStore> parameters);
  /// As stop_now().
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Checks the whole request (sizes, counts, encodings, vanilla proofs, parameters, memory) and
  /// queues it; it is journalled when this returns. The same id with the same content joins, or
  /// replays, the job known; with other content it is a new job, and the old one, if unfinished, is
  /// superseded. Throws EngineError.
  Submitted submit(JobRequest request);

  /// Waits for the job's end. Empty: `timeout` has passed (zero: no limit) or `abandoned` returned
  /// true (polled a few times a second). When `abandoned` says so of the last waiter of a job that
  /// was submitted with cancel_with_waiters, the job is cancelled. Throws EngineError kNotFound.
  std::optional<JobResult> await(std::string_view job_id, std::chrono::milliseconds timeout,
                                 const std::function<bool()>& abandoned = {});

  /// From now on the job lives only as long as somebody awaits it (a unary Prove call). A job that
  /// was ever submitted on its own stays.
  void cancel_with_waiters(std::string_view job_id);

  /// Cancels at the next partition boundary. True if the job was queued or running. Throws
  /// EngineError kNotFound.
  bool cancel(std::string_view job_id);

  /// Loads a circuit's key, waiting for it; keys that jobs want do not go for it. Returns the time
  /// it took; zero and true: it was there. Throws EngineError: kHostMemory, kGpuMemory if there was
  /// no room for 5 s, or what the load failed with.
  struct Preloaded {
    bool already_loaded = false;
    std::chrono::milliseconds load_time{0};
  };
  Preloaded preload(std::string_view circuit_id);
  /// Drops a key that nobody uses. Throws EngineError kBadInput while it is in use.
  struct Evicted {
    bool was_loaded = false;
    std::uint64_t freed_bytes = 0;
  };
  Evicted evict(std::string_view circuit_id);

  /// One consistent picture. Never waits for proving.
  Status status() const;

  /// Spans of the stages of all jobs kept, as Chrome trace-event JSON (chrome://tracing, Perfetto).
  std::string trace_json() const;

  /// Takes over what may change while running: budgets down to what is in use, priorities' limits,
  /// log level, retention. Returns the names of the settings that would need a restart.
  std::vector<std::string> reconfigure(const Config& config);

  /// Refuses new jobs (kShuttingDown) and waits until running ones have ended or `limit` has
  /// passed; whatever is left stays in the journal. Then stops.
  void drain(std::chrono::milliseconds limit);
  /// Stops at the next partition boundary without waiting for more; the journal keeps the rest.
  void stop_now();
  /// Devices tested, the parameter files that were there at the start checked, preloads done,
  /// accepting. Jobs are accepted before that, too; those of circuits whose files are still being
  /// checked wait.
  bool ready() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cuzk::engine
