#pragma once

#include "engine/job.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cuzk::engine {

/// The one picture from which gRPC status, GET /status, /metrics and the status page are written.

struct PartitionStatus {
  enum class State : std::uint8_t {
    kPending,
    kWitness,
    kWitnessDone,
    kDevice,
    kVerify,
    kDone,
    kFailed
  };
  std::uint32_t index = 0;
  State state = State::kPending;
  double witness_ms = 0, device_ms = 0;  ///< so far, or in the end
  std::uint32_t attempts = 0;
  std::string device;
};
/// "pending", "synthesizing", "synth_done", "gpu", "verify", "done", "failed".
std::string_view to_string(PartitionStatus::State state);

struct JobStatus {
  std::string job_id;
  ProofKind kind = ProofKind::kPorep;
  Priority priority = Priority::kNormal;
  JobState state = JobState::kQueued;
  std::string circuit_id;
  std::uint64_t sector_number = 0, miner_id = 0;
  double accepted_secs_ago = 0;
  double last_progress_secs_ago = 0;
  std::string waiting_for;  ///< why it does not go on: "host memory: needs 3.1 GiB, 0.4 GiB free",
                            ///< "key porep-32g is loading"; else empty
  std::uint32_t waiters = 0;
  std::vector<PartitionStatus> partitions;
  ErrorCode code = ErrorCode::kNone;
  std::string error;
  JobTimings timings;
};

struct DeviceStatus {
  std::string name;     ///< "cuda:0", "cpu"
  std::string product;  ///< "NVIDIA H200"
  std::string uuid;
  std::uint32_t ordinal = 0;
  std::uint64_t memory_total = 0, memory_free = 0;
  bool quarantined = false;
  std::string quarantine_reason;
  std::uint64_t proofs = 0, bad_proofs = 0, faults = 0;
  struct Worker {
    std::uint32_t id = 0;
    std::string job_id;  ///< empty: idle
    ProofKind kind = ProofKind::kPorep;
    std::uint32_t partition = 0;
    double busy_secs = 0;
  };
  std::vector<Worker> workers;
};

enum class KeyTier : std::uint8_t {
  kHot,
  kWarm,
  kCold
};  ///< device or ready to prove; in memory; on disk
struct CircuitStatus {
  std::string circuit_id;  ///< "porep-32g"
  enum class Readiness : std::uint8_t {
    kReady,
    kMissing,
    kCorrupt,
    kNotEnabled,
    kChecking  ///< files are there and not checked yet: jobs are taken and wait
  } readiness = Readiness::kMissing;
  std::string detail;  ///< the message with the remedy, unless ready
  bool loaded = false, loading = false;
  KeyTier tier = KeyTier::kCold;
  std::uint64_t bytes = 0;
  std::uint32_t references = 0;
  double last_used_secs_ago = 0;
};

struct BudgetStatus {
  std::uint64_t total = 0, used = 0;
  std::uint32_t waiting = 0;
  std::string source;  ///< "config", "cgroup", "physical"
};

/// Cumulative distribution of durations: counts[i] of those up to kBounds[i] seconds; the last is
/// +Inf.
struct Histogram {
  static constexpr std::array<double, 15> kBounds = {0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1,
                                                     2.5,   5,     10,   30,   60,  300,  1800};
  std::array<std::uint64_t, kBounds.size() + 1> counts{};
  double sum_seconds = 0;
  std::uint64_t count = 0;
  void add(double seconds);
};

struct Counters {
  struct ByKind {
    std::uint64_t accepted = 0, completed = 0, failed = 0, cancelled = 0;
    std::uint64_t pending = 0, in_progress = 0;  ///< jobs now
    /// "witness", "msm_h", "queue_wait", ...; "total": of completed jobs.
    std::map<std::string, Histogram> stages;
    /// By error code: requests that became no job; jobs of `failed`.
    std::map<std::string, std::uint64_t> refused, failed_with;
  };
  std::map<ProofKind, ByKind> kinds;  ///< all four always present
  std::uint64_t partition_retries = 0, self_check_failures = 0, joined = 0, replayed = 0,
                superseded = 0;
  std::map<std::string, std::uint64_t> prestage;  ///< "hit", "skip_vram", "skip_pin"
};

struct Status {
  std::string version;
  double uptime_secs = 0;
  bool ready = false, draining = false;
  std::string not_ready_because;  ///< "checking the files of porep-32g"; empty if ready
  /// Not empty: no device works in this process any more, and another process may use one again.
  /// Jobs are kept for it.
  std::string restart_because;
  bool cpu_proving = false;
  BudgetStatus host, pinned;
  std::uint32_t witness_slots = 0, witness_active = 0;
  std::uint64_t queue_depth = 0;  ///< partitions that wait for anything
  std::vector<JobStatus>
      jobs;  ///< unfinished, in the order in which they will go on; then recent ones, latest first
  std::vector<DeviceStatus> devices;
  std::vector<CircuitStatus> circuits;
  Counters counters;
};

}  // namespace cuzk::engine
