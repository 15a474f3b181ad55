#pragma once

#include "engine/admission.hpp"
#include "engine/engine.hpp"
#include "engine/pipeline.hpp"
#include "engine/watchdog.hpp"

#include <tbb/global_control.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace cuzk::engine {

/// The parts of the engine and how they are put together. Their order is that of construction: each
/// uses those before it, and is destroyed before them.
class Engine::Impl {
 public:
  Impl(Config config, std::vector<std::unique_ptr<ProvingDevice>> devices,
       std::unique_ptr<Journal> journal, std::unique_ptr<Preparation> preparation,
       std::unique_ptr<ParameterStore> parameters);
  ~Impl() { stop_now(); }

  std::optional<JobResult> await(std::string_view job_id, std::chrono::milliseconds timeout,
                                 const std::function<bool()>& abandoned);
  void cancel_with_waiters(std::string_view job_id);
  bool cancel(std::string_view job_id);
  Preloaded preload(std::string_view circuit_id);
  Evicted evict(std::string_view circuit_id);
  Status status() const;
  std::vector<std::string> reconfigure(const Config& config);
  void drain(std::chrono::milliseconds limit);
  void stop_now();
  bool ready() const;

  Admission& admission() { return admission_; }
  const Trace& trace() const { return trace_; }

 private:
  static std::vector<std::unique_ptr<DeviceSlot>> make_slots(
      const Config& config, std::vector<std::unique_ptr<ProvingDevice>> devices, Signal& changed);
  static KeyCache::Options key_options(const Config& config);
  static Scheduler::Options scheduler_options(const Config& config,
                                              const std::vector<std::unique_ptr<DeviceSlot>>&);

  void set_host_budget(const Config::Memory& config);
  void resume_jobs();
  void start_up(const std::stop_token& stop);
  void test_devices();
  void reserve_for_post();
  void check_parameters(const std::stop_token& stop, bool winning_post_only);
  void keep_checked(const std::stop_token& stop);
  std::vector<CircuitId> to_check(bool winning_post_only) const;
  void inspect(const CircuitId& circuit, const std::stop_token& stop);
  void preload_winning_post();
  void set_start_step(std::string text);
  std::string not_ready_because() const;
  void log_what_fits();
  std::vector<std::string> preload_names() const;
  void preload_or_log(const std::string& circuit);
  bool is_ready(const CircuitId& circuit) const;
  bool is_preloaded(const CircuitId& circuit) const;
  void watch();
  /// Tells the devices which circuits there are, for their memory's sake.
  void tell_devices();
  /// Says which settings mean nothing, if no device is a GPU.
  void report_gpu_settings() const;
  /// Writes logging.timeline, if it is set and jobs have ended since the last time; throws
  /// base::InvalidInput if it cannot.
  void write_timeline();
  void write_timeline_or_log();
  void on_load_failure(const KeyCache::Failure& failure);
  std::shared_ptr<Job> find(std::string_view job_id) const;
  /// One round of preload(). Empty if a load began, or to wait for a change; else what it lacks.
  std::optional<EngineError> try_start_load(const CircuitId& circuit);
  /// On a device that is in service.
  bool is_loaded(const CircuitId& circuit) const;

  mutable std::mutex config_mutex_;
  // Guarded by config_mutex_ once the constructor is done.
  Config config_;
  std::uint64_t pinned_total_ = 0;
  std::string pinned_source_;
  std::string start_step_;  ///< what the start is at

  std::optional<tbb::global_control> threads_;
  const Clock::time_point started_at_ = Clock::now();
  Signal changed_;
  std::vector<std::unique_ptr<DeviceSlot>> devices_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Preparation> preparation_;
  std::unique_ptr<ParameterStore> parameters_;
  Metrics metrics_;
  Trace trace_;
  MemoryBudget host_, decoded_;
  JobTable table_;
  Lifecycle lifecycle_;

  /// What loads failed with, for those who wait for one, and how often in a row by devices' fault.
  struct Strikes {
    std::uint64_t failures = 0, loads = 0;  ///< KeyCache::loads() at the latest failure
    std::uint32_t in_a_row = 0;
    ErrorCode code = ErrorCode::kNone;
    std::string text;
  };
  mutable std::mutex failures_mutex_;
  std::map<CircuitId, Strikes> failures_;  // guarded by failures_mutex_

  KeyCache keys_;
  Scheduler scheduler_;
  Admission admission_;
  Pipeline pipeline_;
  Watchdog watchdog_;

  // Of the start, the watchdog's thread and, after that has ended, the stop.
  std::optional<std::uint64_t> timeline_jobs_;
  std::atomic<bool> stopping_ = false, started_ = false;
  std::mutex watch_mutex_;
  std::condition_variable watch_stop_;
  std::once_flag stopped_;
  std::stop_source start_stop_;
  std::jthread start_thread_, watch_thread_;
};

}  // namespace cuzk::engine
