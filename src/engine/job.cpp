#include "engine/job.hpp"

#include "hash/sha256.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cuzk::engine {

namespace {

/// Feeds the fields to the hash so that no two requests give the same bytes: numbers have eight
/// bytes, byte strings and lists their count before them.
class FieldHasher {
 public:
  void number(std::uint64_t value) {
    std::array<std::uint8_t, 8> bytes;
    base::store_u64_le(value, bytes.data());
    hasher_.update(bytes);
  }
  void bytes(base::ByteView value) {
    number(value.size());
    hasher_.update(value);
  }
  std::string finish() { return base::to_hex(hasher_.finish()); }

 private:
  hash::Sha256 hasher_;
};

}  // namespace

std::string_view label(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep:
      return "porep-c2";
    case ProofKind::kSnap:
      return "snap-update";
    case ProofKind::kWindowPost:
      return "window-post";
    case ProofKind::kWinningPost:
      return "winning-post";
  }
  return "unknown";
}

std::string metrics_label(ProofKind kind) {
  std::string out(label(kind));
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

bool is_urgent(ProofKind kind) {
  return kind == ProofKind::kWindowPost || kind == ProofKind::kWinningPost;
}

Priority effective_priority(ProofKind kind, Priority wanted) {
  if (wanted > Priority::kCritical) return Priority::kNormal;
  if (wanted != Priority::kDefault) return wanted;
  if (kind == ProofKind::kWinningPost) return Priority::kCritical;
  if (kind == ProofKind::kWindowPost) return Priority::kHigh;
  return Priority::kNormal;
}

std::string_view to_string(Priority priority) {
  switch (priority) {
    case Priority::kDefault:
      return "default";
    case Priority::kLow:
      return "low";
    case Priority::kNormal:
      return "normal";
    case Priority::kHigh:
      return "high";
    case Priority::kCritical:
      return "critical";
  }
  return "unknown";
}

std::string payload_digest(const JobRequest& request) {
  FieldHasher hasher;
  hasher.bytes(base::as_bytes("cuzk.v1 job"));
  hasher.number(static_cast<std::uint64_t>(request.kind));
  hasher.number(request.sector_size);
  hasher.number(request.registered_proof);
  hasher.bytes(request.vanilla_proof);
  hasher.number(request.vanilla_proofs.size());
  for (const base::Bytes& proof : request.vanilla_proofs) hasher.bytes(proof);
  hasher.number(request.sector_number);
  hasher.number(request.miner_id);
  hasher.bytes(request.randomness);
  hasher.number(request.partition_index);
  hasher.bytes(request.comm_r_old);
  hasher.bytes(request.comm_r_new);
  hasher.bytes(request.comm_d_new);
  return hasher.finish();
}

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNone:
      return "NONE";
    case ErrorCode::kBadInput:
      return "BAD-INPUT";
    case ErrorCode::kBadVanilla:
      return "BAD-VANILLA";
    case ErrorCode::kUnsupported:
      return "UNSUPPORTED";
    case ErrorCode::kParamsMissing:
      return "PARAMS-MISSING";
    case ErrorCode::kParamsCorrupt:
      return "PARAMS-CORRUPT";
    case ErrorCode::kHostMemory:
      return "HOST-MEM";
    case ErrorCode::kGpuMemory:
      return "GPU-OOM";
    case ErrorCode::kNoGpu:
      return "NO-GPU";
    case ErrorCode::kGpuFault:
      return "GPU-FAULT";
    case ErrorCode::kSelfCheckFailed:
      return "SELF-CHECK-FAILED";
    case ErrorCode::kStalled:
      return "STALL";
    case ErrorCode::kQueueFull:
      return "QUEUE-FULL";
    case ErrorCode::kRefused:
      return "REFUSED";
    case ErrorCode::kCancelled:
      return "CANCELLED";
    case ErrorCode::kSuperseded:
      return "JOB-SUPERSEDED";
    case ErrorCode::kShuttingDown:
      return "SHUTTING-DOWN";
    case ErrorCode::kNotFound:
      return "NOT-FOUND";
    case ErrorCode::kInternal:
      return "INTERNAL";
  }
  return "INTERNAL";
}

bool is_retryable(ErrorCode code) {
  switch (code) {
    case ErrorCode::kGpuMemory:        // another program may hold the memory
    case ErrorCode::kGpuFault:         // another device, or the same one after its reset
    case ErrorCode::kSelfCheckFailed:  // likewise
    case ErrorCode::kStalled:
    case ErrorCode::kQueueFull:
    case ErrorCode::kCancelled:
    case ErrorCode::kShuttingDown:
      return true;
    default:
      return false;
  }
}

EngineError::EngineError(ErrorCode code, const std::string& text)
    : std::runtime_error(std::string(to_string(code)) + ": " + text), code_(code) {}

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::kQueued:
      return "queued";
    case JobState::kRunning:
      return "running";
    case JobState::kCompleted:
      return "completed";
    case JobState::kFailed:
      return "failed";
    case JobState::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace cuzk::engine
