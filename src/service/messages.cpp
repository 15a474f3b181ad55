#include "service/messages.hpp"

#include "filecoin/sector.hpp"
#include "service/status_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace cuzk::service {

namespace {

base::Bytes to_bytes(const std::string& field) { return {field.begin(), field.end()}; }

std::uint64_t to_u64(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}

std::uint32_t to_u32(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

/// One for each sector of the largest WindowPoSt; other kinds have fewer.
std::size_t max_vanilla_proofs() {
  unsigned most = 0;
  for (const filecoin::SectorSize size : filecoin::SectorSize::all())
    most = std::max(most, filecoin::window_post_sector_count(size));
  return most;
}

// An empty entry is two bytes of a message and several times that in a vector.
void check_vanilla_proof_count(const v1::SubmitProofRequest& message) {
  const auto count = static_cast<std::size_t>(message.vanilla_proofs_size());
  const std::size_t most = max_vanilla_proofs();
  if (count <= most) return;
  throw engine::EngineError(
      engine::ErrorCode::kBadInput,
      fmt::format("{}: {} vanilla proofs, at most {} are possible: one for each sector of a "
                  "WindowPoSt partition",
                  message.request_id(), count, most));
}

v1::AwaitProofResponse::Status status_of(engine::JobState state) {
  switch (state) {
    case engine::JobState::kCompleted:
      return v1::AwaitProofResponse::COMPLETED;
    case engine::JobState::kFailed:
      return v1::AwaitProofResponse::FAILED;
    case engine::JobState::kCancelled:
      return v1::AwaitProofResponse::CANCELLED;
    case engine::JobState::kQueued:
    case engine::JobState::kRunning:
      break;
  }
  return v1::AwaitProofResponse::UNKNOWN;
}

v1::SRSStatus::Tier tier_of(engine::KeyTier tier) {
  switch (tier) {
    case engine::KeyTier::kHot:
      return v1::SRSStatus::HOT;
    case engine::KeyTier::kWarm:
      return v1::SRSStatus::WARM;
    case engine::KeyTier::kCold:
      break;
  }
  return v1::SRSStatus::COLD;
}

using PartitionState = engine::PartitionStatus::State;

void fill_job(const engine::JobStatus& job, v1::JobStatus& message) {
  message.set_job_id(job.job_id);
  message.set_proof_kind(std::string(engine::label(job.kind)));
  message.set_state(std::string(engine::to_string(job.state)));
  message.set_circuit_id(job.circuit_id);
  message.set_priority(static_cast<v1::Priority>(job.priority));
  message.set_partitions_total(to_u32(job.partitions.size()));
  std::uint32_t done = 0;
  for (const engine::PartitionStatus& partition : job.partitions) {
    if (partition.state == PartitionState::kDone) {
      ++done;
    } else if (message.phase().empty() && partition.state != PartitionState::kPending) {
      message.set_phase(std::string(engine::to_string(partition.state)));
    }
  }
  message.set_partitions_done(done);
  message.set_accepted_secs_ago(job.accepted_secs_ago);
  message.set_last_progress_secs_ago(job.last_progress_secs_ago);
  message.set_waiting_for(job.waiting_for);
  message.set_waiters(job.waiters);
  message.set_error_message(job.error);
}

void fill_device(const engine::DeviceStatus& device, v1::GPUStatus& message) {
  message.set_ordinal(device.ordinal);
  message.set_name(device.product.empty() ? device.name : device.product);
  message.set_vram_total_bytes(device.memory_total);
  message.set_vram_free_bytes(device.memory_free);
  for (const engine::DeviceStatus::Worker& worker : device.workers) {
    if (worker.job_id.empty()) continue;
    message.set_current_job_id(worker.job_id);
    message.set_current_proof_kind(std::string(engine::label(worker.kind)));
    break;
  }
  message.set_uuid(device.uuid);
  message.set_quarantined(device.quarantined);
  message.set_quarantine_reason(device.quarantine_reason);
}

}  // namespace

engine::JobRequest to_job_request(const v1::SubmitProofRequest& message) {
  const int kind = message.proof_kind();
  if (kind < v1::POREP_SEAL_COMMIT || kind > v1::WINNING_POST) {
    throw engine::EngineError(
        engine::ErrorCode::kBadInput,
        fmt::format("{}: proof_kind {} does not exist; known are 1 (PoRep), 2 (SnapDeals), "
                    "3 (WindowPoSt) and 4 (WinningPoSt)",
                    message.request_id(), kind));
  }
  check_vanilla_proof_count(message);
  const int priority = message.priority();
  const bool known_priority = priority >= v1::PRIORITY_UNSPECIFIED && priority <= v1::CRITICAL;
  engine::JobRequest request;
  request.request_id = message.request_id();
  request.kind = static_cast<engine::ProofKind>(kind);
  request.priority =
      known_priority ? static_cast<engine::Priority>(priority) : engine::Priority::kNormal;
  request.sector_size = message.sector_size();
  request.registered_proof = message.registered_proof();
  request.vanilla_proof = to_bytes(message.vanilla_proof());
  request.vanilla_proofs.reserve(static_cast<std::size_t>(message.vanilla_proofs_size()));
  for (const std::string& proof : message.vanilla_proofs())
    request.vanilla_proofs.push_back(to_bytes(proof));
  request.sector_number = message.sector_number();
  request.miner_id = message.miner_id();
  request.randomness = to_bytes(message.randomness());
  request.partition_index = message.partition_index();
  request.comm_r_old = to_bytes(message.comm_r_old());
  request.comm_r_new = to_bytes(message.comm_r_new());
  request.comm_d_new = to_bytes(message.comm_d_new());
  return request;
}

void fill(const engine::JobResult& result, v1::AwaitProofResponse& message) {
  message.set_job_id(result.job_id);
  message.set_status(status_of(result.state));
  message.set_proof(result.proof.data(), result.proof.size());
  message.set_error_message(result.error);
  message.set_queue_wait_ms(to_u64(result.timings.queue_wait));
  message.set_srs_load_ms(to_u64(result.timings.srs_load));
  message.set_synthesis_ms(to_u64(result.timings.synthesis));
  message.set_gpu_compute_ms(to_u64(result.timings.gpu_compute));
  message.set_total_ms(to_u64(result.timings.total));
  if (result.code != engine::ErrorCode::kNone) {
    message.set_error_code(std::string(engine::to_string(result.code)));
    message.set_retryable(engine::is_retryable(result.code));
  }
  message.set_attempts(result.attempts);
  message.set_backend(result.backend);
}

void fill(const engine::Status& status, v1::GetStatusResponse& message) {
  for (const engine::DeviceStatus& device : status.devices) {
    // "gpus" means GPUs: the CPU backend is told by cpu_proving.
    if (device.name != "cpu") fill_device(device, *message.add_gpus());
  }
  for (const engine::CircuitStatus& circuit : status.circuits) {
    v1::CircuitStatus& entry = *message.add_circuits();
    entry.set_circuit_id(circuit.circuit_id);
    entry.set_readiness(std::string(readiness_name(circuit.readiness)));
    entry.set_detail(circuit.detail);
    if (!circuit.loaded) continue;
    v1::SRSStatus& srs = *message.add_loaded_srs();
    srs.set_circuit_id(circuit.circuit_id);
    srs.set_tier(tier_of(circuit.tier));
    srs.set_size_bytes(circuit.bytes);
    srs.set_ref_count(circuit.references);
  }
  std::uint64_t completed = 0, failed = 0;
  for (const auto& [kind, counters] : status.counters.kinds) {
    v1::QueueStatus& queue = *message.add_queues();
    queue.set_proof_kind(std::string(engine::label(kind)));
    queue.set_pending(to_u32(counters.pending));
    queue.set_in_progress(to_u32(counters.in_progress));
    completed += counters.completed;
    failed += counters.failed;
  }
  message.set_total_proofs_completed(completed);
  message.set_total_proofs_failed(failed);
  message.set_uptime_seconds(static_cast<std::uint64_t>(status.uptime_secs));
  message.set_pinned_memory_bytes(status.pinned.used);
  message.set_pinned_memory_limit_bytes(status.pinned.total);
  message.set_version(status.version);
  message.set_ready(status.ready);
  message.set_draining(status.draining);
  message.set_cpu_proving(status.cpu_proving);
  for (const engine::JobStatus& job : status.jobs) fill_job(job, *message.add_jobs());
  message.set_host_memory_bytes(status.host.used);
  message.set_host_memory_limit_bytes(status.host.total);
}

}  // namespace cuzk::service
