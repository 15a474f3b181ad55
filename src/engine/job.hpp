#pragma once

#include "base/bytes.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::engine {

/// The kinds of job. The value of an enumerator is the number on the wire (cuzk.v1.ProofKind).
enum class ProofKind : std::uint8_t {
  kPorep = 1,
  kSnap = 2,
  kWindowPost = 3,
  kWinningPost = 4,
};
/// The label in status and metrics: "porep-c2", "snap-update", "window-post", "winning-post".
std::string_view label(ProofKind kind);
/// The same as metrics write it, with '_' for '-'.
std::string metrics_label(ProofKind kind);
/// WindowPoSt and WinningPoSt: they have a lane of their own.
bool is_urgent(ProofKind kind);

/// Urgency, ascending; the wire's numbers. kDefault stands for the kind's own: WinningPoSt
/// critical, WindowPoSt high, the rest normal.
enum class Priority : std::uint8_t {
  kDefault = 0,
  kLow = 1,
  kNormal = 2,
  kHigh = 3,
  kCritical = 4
};
Priority effective_priority(ProofKind kind, Priority wanted);
std::string_view to_string(Priority priority);

/// A request as it came over the wire, unchecked (cuzk.v1.SubmitProofRequest, field for field).
struct JobRequest {
  std::string request_id;  ///< opaque; empty: the engine makes one
  ProofKind kind = ProofKind::kPorep;
  std::uint64_t sector_size = 0;  ///< bytes; 0: not given
  std::uint64_t registered_proof = 0;
  Priority priority = Priority::kDefault;
  base::Bytes vanilla_proof;                ///< PoRep: the C1 envelope
  std::vector<base::Bytes> vanilla_proofs;  ///< PoSt: one a sector; snap: one a partition
  std::uint64_t sector_number = 0;
  std::uint64_t miner_id = 0;
  base::Bytes randomness;
  std::uint32_t partition_index = 0;
  base::Bytes comm_r_old, comm_r_new, comm_d_new;
};

/// SHA-256 of every field but request_id and priority, in hex: equal for equal work.
std::string payload_digest(const JobRequest& request);

/// What went wrong, for programs. The texts are stable and start every error message.
enum class ErrorCode : std::uint8_t {
  kNone,
  kBadInput,         ///< "BAD-INPUT": sizes, counts, encodings, contradictions
  kBadVanilla,       ///< "BAD-VANILLA": a vanilla proof does not hold
  kUnsupported,      ///< "UNSUPPORTED": a known proof type that this build does not make
  kParamsMissing,    ///< "PARAMS-MISSING"
  kParamsCorrupt,    ///< "PARAMS-CORRUPT"
  kHostMemory,       ///< "HOST-MEM": can never fit, or the machine is out of memory
  kGpuMemory,        ///< "GPU-OOM"
  kNoGpu,            ///< "NO-GPU": no usable device, and CPU proving is not allowed
  kGpuFault,         ///< "GPU-FAULT": a device failed more often than retries allow
  kSelfCheckFailed,  ///< "SELF-CHECK-FAILED": proofs made did not verify, twice
  kStalled,          ///< "STALL": no progress within the limit
  kQueueFull,        ///< "QUEUE-FULL"
  kRefused,          ///< "REFUSED": this input has brought the program down twice
  kCancelled,        ///< "CANCELLED"
  kSuperseded,       ///< "JOB-SUPERSEDED": the same id came with other content
  kShuttingDown,     ///< "SHUTTING-DOWN"
  kNotFound,         ///< "NOT-FOUND": no such job or circuit
  kInternal,         ///< "INTERNAL": a bug
};
std::string_view to_string(ErrorCode code);
/// Whether the same request can succeed later without anybody changing it.
bool is_retryable(ErrorCode code);

/// An error of a request or job. what() is "CODE: text".
class EngineError : public std::runtime_error {
 public:
  EngineError(ErrorCode code, const std::string& text);
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

enum class JobState : std::uint8_t { kQueued, kRunning, kCompleted, kFailed, kCancelled };
std::string_view to_string(JobState state);
inline bool is_final(JobState state) { return state >= JobState::kCompleted; }

/// Where a job's time went. Waiting is never part of work; sums over partitions, which overlap, so
/// that only `total` is a span of the clock.
struct JobTimings {
  /// Acceptance to the first partition's start, without waiting for the key.
  std::chrono::milliseconds queue_wait{0};
  /// Waiting for the key: the check of its files, memory for it, its load.
  std::chrono::milliseconds srs_load{0};
  std::chrono::milliseconds synthesis{0};  ///< witness
  std::chrono::milliseconds gpu_compute{
      0};                              ///< evaluate to assemble, without waiting for the device
  std::chrono::milliseconds total{0};  ///< acceptance to the end
};

/// How a job ended.
struct JobResult {
  std::string job_id;
  JobState state = JobState::kFailed;
  base::Bytes proof;  ///< 192 bytes a partition, in order; empty unless completed
  ErrorCode code = ErrorCode::kNone;
  std::string error;  ///< "CODE: ..."; empty if completed
  JobTimings timings;
  std::uint32_t attempts = 1;  ///< the most that any partition took
  std::string backend;         ///< "cuda:0", "cpu", "cpu,cuda:1"; empty if nothing was proved
};

}  // namespace cuzk::engine
