#pragma once

#include "service/engine_api.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cuzk::service::testing {

/// An engine that a test plays: jobs end when it says so. Keeps the engine's rules on waiters.
class FakeEngine final : public EngineApi {
 public:
  // What the test sets, before calls are made.
  std::optional<engine::EngineError> refusal;  ///< thrown by submit, preload, evict and status
  engine::Status picture;
  std::function<void(engine::JobRequest&)> on_request;  ///< called first by submit
  std::function<void()> on_preload;                     ///< called first by preload
  std::function<void()> on_trace;                       ///< called first by trace_json

  engine::Engine::Submitted submit(engine::JobRequest request) override {
    if (on_request) on_request(request);
    const std::lock_guard lock(mutex_);
    if (refusal) throw *refusal;
    const std::string id =
        request.request_id.empty() ? "job-" + std::to_string(requests_.size()) : request.request_id;
    const bool joined = jobs_.contains(id);
    ++jobs_[id].owners;
    request.request_id = id;
    requests_.push_back(std::move(request));
    changed_.notify_all();
    return {id, 3, "cuda:0", joined};
  }
  void cancel_with_waiters(std::string_view job_id) override {
    const std::lock_guard lock(mutex_);
    --jobs_.at(std::string(job_id)).owners;
  }
  std::unique_ptr<Waiter> wait(std::string_view job_id,
                               std::function<void(WaitEnd)> on_end) override {
    std::unique_lock lock(mutex_);
    const auto found = jobs_.find(std::string(job_id));
    if (found == jobs_.end()) {
      throw engine::EngineError(engine::ErrorCode::kNotFound, "no job " + std::string(job_id));
    }
    if (found->second.result) {
      const engine::JobResult result = *found->second.result;
      lock.unlock();
      on_end(result);
      return std::make_unique<FakeWaiter>(*this, std::string(job_id), 0);
    }
    const int number = ++next_waiter_;
    found->second.waiters.emplace(number, std::move(on_end));
    changed_.notify_all();
    return std::make_unique<FakeWaiter>(*this, std::string(job_id), number);
  }
  bool cancel(std::string_view job_id) override {
    {
      const std::lock_guard lock(mutex_);
      if (!jobs_.contains(std::string(job_id))) {
        throw engine::EngineError(engine::ErrorCode::kNotFound, "no job " + std::string(job_id));
      }
    }
    return finish(std::string(job_id), cancelled(std::string(job_id)));
  }
  engine::Engine::Preloaded preload(std::string_view circuit_id) override {
    if (on_preload) on_preload();
    if (refusal) throw *refusal;
    const std::lock_guard lock(mutex_);
    const bool is_new = loaded_.insert(std::string(circuit_id)).second;
    return {!is_new, std::chrono::milliseconds(is_new ? 1234 : 0)};
  }
  engine::Engine::Evicted evict(std::string_view circuit_id) override {
    if (refusal) throw *refusal;
    const std::lock_guard lock(mutex_);
    const bool was = loaded_.erase(std::string(circuit_id)) > 0;
    return {was, was ? 5678u : 0u};
  }
  engine::Status status() const override {
    if (refusal) throw *refusal;
    engine::Status out = picture;
    const std::lock_guard lock(mutex_);
    out.restart_because = restart_because_;
    return out;
  }
  void want_restart(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    restart_because_ = reason;
  }
  std::string trace_json() const override {
    if (on_trace) on_trace();
    return R"({"traceEvents":[]})";
  }
  bool ready() const override { return picture.ready; }
  /// Ends when no job is unfinished, at the limit, or by stop_now().
  void drain(std::chrono::milliseconds limit) override {
    std::unique_lock lock(mutex_);
    draining_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, limit, [this] {
      return stopped_ || std::all_of(jobs_.begin(), jobs_.end(), [](const auto& entry) {
               return entry.second.result.has_value();
             });
    });
    stopped_ = true;
  }
  void stop_now() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  void settle(std::chrono::milliseconds limit) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] { return answering_ == 0; });
  }
  bool until_draining() {
    return until([this] { return draining_; });
  }

  /// Ends a job; false if it has ended or there is none.
  bool finish(const std::string& job_id, engine::JobResult result) {
    std::map<int, std::function<void(WaitEnd)>> waiters;
    {
      const std::lock_guard lock(mutex_);
      const auto found = jobs_.find(job_id);
      if (found == jobs_.end() || found->second.result) return false;
      result.job_id = job_id;
      found->second.result = result;
      waiters.swap(found->second.waiters);
      ++answering_;
      changed_.notify_all();
    }
    for (const auto& [number, on_end] : waiters) on_end(result);
    const std::lock_guard lock(mutex_);
    --answering_;
    changed_.notify_all();
    return true;
  }
  /// False if `condition` of the jobs' waiters, or of a job's result, does not come true in 10 s.
  bool until_waiters(const std::string& job_id, std::size_t count) {
    return until([&] { return jobs_.contains(job_id) && jobs_[job_id].waiters.size() == count; });
  }
  bool until_total_waiters(std::size_t count) {
    return until([&] {
      std::size_t total = 0;
      for (const auto& [id, job] : jobs_) total += job.waiters.size();
      return total == count;
    });
  }
  bool until_ended(const std::string& job_id) {
    return until([&] { return jobs_.contains(job_id) && jobs_[job_id].result.has_value(); });
  }
  std::optional<engine::JobResult> result(const std::string& job_id) {
    const std::lock_guard lock(mutex_);
    return jobs_[job_id].result;
  }
  std::vector<engine::JobRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  static engine::JobResult completed() {
    engine::JobResult result;
    result.state = engine::JobState::kCompleted;
    result.proof = base::Bytes(192, 0xab);
    result.timings = {std::chrono::milliseconds(1), std::chrono::milliseconds(2),
                      std::chrono::milliseconds(3), std::chrono::milliseconds(4),
                      std::chrono::milliseconds(5)};
    result.attempts = 2;
    result.backend = "cpu";
    return result;
  }
  static engine::JobResult failed(engine::ErrorCode code, const std::string& text) {
    engine::JobResult result;
    result.state = engine::JobState::kFailed;
    result.code = code;
    result.error = engine::EngineError(code, text).what();
    return result;
  }
  static engine::JobResult cancelled(const std::string& job_id) {
    engine::JobResult result = failed(engine::ErrorCode::kCancelled, "job " + job_id);
    result.state = engine::JobState::kCancelled;
    return result;
  }

 private:
  struct Job {
    int owners = 0;  // submissions that did not turn into waits
    std::map<int, std::function<void(WaitEnd)>> waiters;
    std::optional<engine::JobResult> result;
  };
  class FakeWaiter final : public Waiter {
   public:
    FakeWaiter(FakeEngine& engine, std::string job_id, int number)
        : engine_(engine), job_id_(std::move(job_id)), number_(number) {}
    ~FakeWaiter() override { engine_.leave(job_id_, number_); }

   private:
    FakeEngine& engine_;
    std::string job_id_;
    int number_;
  };

  void leave(const std::string& job_id, int number) {
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      Job& job = jobs_[job_id];
      if (job.waiters.erase(number) == 0) return;
      last = job.waiters.empty() && job.owners == 0 && !stopped_;
      changed_.notify_all();
    }
    if (last) finish(job_id, cancelled(job_id));
  }
  template <class Condition>
  bool until(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), condition);
  }

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::string, Job> jobs_;
  std::vector<engine::JobRequest> requests_;
  std::set<std::string> loaded_;
  int next_waiter_ = 0;
  bool draining_ = false, stopped_ = false;
  std::string restart_because_;
  int answering_ = 0;  ///< calls of finish() that tell waiters
};

/// A status in which every field is set, with text that a careless writer would not escape.
inline engine::Status sample_status() {
  using Partition = engine::PartitionStatus;
  engine::Status status;
  status.version = "0.1.0";
  status.uptime_secs = 61.5;
  status.ready = true;
  status.host = {1000, 400, 1, "cgroup"};
  status.pinned = {500, 100, 0, "config"};
  status.witness_slots = 4;
  status.witness_active = 1;
  status.queue_depth = 7;

  engine::JobStatus job;
  job.job_id = "wdpost-1000-3-[1 2 \"<b>\"]";
  job.kind = engine::ProofKind::kPorep;
  job.state = engine::JobState::kRunning;
  job.circuit_id = "porep-32g";
  job.sector_number = 42;
  job.miner_id = 1000;
  job.accepted_secs_ago = 12.5;
  job.last_progress_secs_ago = 0.5;
  job.waiters = 1;
  const auto add = [&](Partition::State state, double witness_ms, double device_ms) {
    Partition partition;
    partition.index = static_cast<std::uint32_t>(job.partitions.size());
    partition.state = state;
    partition.witness_ms = witness_ms;
    partition.device_ms = device_ms;
    partition.attempts = state == Partition::State::kPending ? 0 : 1;
    partition.device = device_ms > 0 ? "cuda:0" : "";
    job.partitions.push_back(partition);
  };
  add(Partition::State::kDone, 300, 900);
  add(Partition::State::kVerify, 300, 900);
  add(Partition::State::kDevice, 300, 450);
  add(Partition::State::kWitnessDone, 300, 0);
  add(Partition::State::kWitness, 120, 0);
  add(Partition::State::kPending, 0, 0);
  status.jobs.push_back(job);

  engine::JobStatus waiting;
  waiting.job_id = "snap-1000-7";
  waiting.kind = engine::ProofKind::kSnap;
  waiting.circuit_id = "snap-32g";
  waiting.waiting_for = "host memory: needs 3.1 GiB, 0.4 GiB free";
  waiting.partitions.resize(16);
  for (std::uint32_t k = 0; k < 16; ++k) waiting.partitions[k].index = k;
  status.jobs.push_back(waiting);

  engine::JobStatus failed;
  failed.job_id = "winpost-1000-0011223344556677";
  failed.kind = engine::ProofKind::kWinningPost;
  failed.priority = engine::Priority::kCritical;
  failed.state = engine::JobState::kFailed;
  failed.circuit_id = "winning-32g";
  failed.code = engine::ErrorCode::kGpuFault;
  failed.error = "GPU-FAULT: job winpost-1000-0011223344556677: the device failed twice";
  failed.partitions.resize(1);
  failed.partitions[0].state = Partition::State::kFailed;
  failed.timings.total = std::chrono::milliseconds(800);
  status.jobs.push_back(failed);

  engine::DeviceStatus device;
  device.name = "cuda:0";
  device.product = "NVIDIA \"H200\"\n";
  device.uuid = "GPU-5f2e";
  device.memory_total = 2000;
  device.memory_free = 1500;
  device.proofs = 11;
  device.bad_proofs = 1;
  device.faults = 2;
  device.workers.resize(2);
  device.workers[0] = {0, job.job_id, engine::ProofKind::kPorep, 2, 1.5};
  device.workers[1].id = 1;
  status.devices.push_back(device);
  device.name = "cuda:1";
  device.ordinal = 1;
  device.quarantined = true;
  device.quarantine_reason = "3 bad proofs in a row";
  device.workers[0] = {};
  status.devices.push_back(device);

  engine::CircuitStatus circuit;
  circuit.circuit_id = "porep-32g";
  circuit.readiness = engine::CircuitStatus::Readiness::kReady;
  circuit.loaded = true;
  circuit.tier = engine::KeyTier::kHot;
  circuit.bytes = 777;
  circuit.references = 2;
  circuit.last_used_secs_ago = 3.5;
  status.circuits.push_back(circuit);
  engine::CircuitStatus missing;
  missing.circuit_id = "snap-32g";
  missing.detail = "PARAMS-MISSING: snap-32g: fetch them with 'curio fetch-params'";
  status.circuits.push_back(missing);

  for (const auto kind : {engine::ProofKind::kPorep, engine::ProofKind::kSnap,
                          engine::ProofKind::kWindowPost, engine::ProofKind::kWinningPost}) {
    auto& counters = status.counters.kinds[kind];
    counters.accepted = 10;
    counters.completed = 5;
    counters.failed = 1;
    counters.cancelled = 2;
    counters.pending = 1;
    counters.in_progress = 1;
  }
  auto& porep = status.counters.kinds[engine::ProofKind::kPorep];
  for (const char* stage : {"witness", "msm_h", "total"}) {
    engine::Histogram& histogram = porep.stages[stage];
    histogram.counts = {0, 0, 0, 0, 1, 1, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5};
    histogram.count = 5;
    histogram.sum_seconds = 1900.5;
  }
  porep.refused["BAD-INPUT"] = 3;
  porep.failed_with["GPU-FAULT"] = 1;
  status.counters.partition_retries = 4;
  status.counters.self_check_failures = 1;
  status.counters.joined = 6;
  status.counters.replayed = 7;
  status.counters.superseded = 8;
  status.counters.prestage = {{"hit", 9}, {"skip_vram", 1}};
  return status;
}

}  // namespace cuzk::service::testing
