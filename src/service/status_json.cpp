#include "service/status_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace cuzk::service {

namespace {

using nlohmann::json;
using PartitionState = engine::PartitionStatus::State;

std::string text(std::string_view view) { return std::string(view); }

json budget_json(const engine::BudgetStatus& budget) {
  return {{"total_bytes", budget.total},
          {"used_bytes", budget.used},
          {"available_bytes", budget.total - std::min(budget.used, budget.total)},
          {"waiting", budget.waiting},
          {"source", budget.source}};
}

/// Milliseconds of a stage, null before it has begun.
json stage_ms(double ms, bool begun) { return begun ? json(std::llround(ms)) : json(nullptr); }

std::string_view old_state(PartitionState state) {
  return engine::to_string(state == PartitionState::kVerify ? PartitionState::kDevice : state);
}

json partition_json(const engine::PartitionStatus& partition) {
  return {{"index", partition.index},
          {"state", text(old_state(partition.state))},
          {"stage", text(engine::to_string(partition.state))},
          {"synth_ms", stage_ms(partition.witness_ms, partition.state >= PartitionState::kWitness)},
          {"gpu_ms", stage_ms(partition.device_ms, partition.state >= PartitionState::kDevice ||
                                                       partition.device_ms > 0)},
          {"attempts", partition.attempts},
          {"device", partition.device}};
}

json timings_json(const engine::JobTimings& timings) {
  return {{"queue_wait_ms", timings.queue_wait.count()},
          {"srs_load_ms", timings.srs_load.count()},
          {"synthesis_ms", timings.synthesis.count()},
          {"gpu_compute_ms", timings.gpu_compute.count()},
          {"total_ms", timings.total.count()}};
}

json job_json(const engine::JobStatus& job) {
  json partitions = json::array();
  for (const engine::PartitionStatus& partition : job.partitions)
    partitions.push_back(partition_json(partition));
  const auto done = std::count_if(job.partitions.begin(), job.partitions.end(),
                                  [](const auto& p) { return p.state == PartitionState::kDone; });
  return {{"job_id", job.job_id},
          {"proof_kind", text(engine::label(job.kind))},
          {"started_secs_ago", job.accepted_secs_ago},
          {"total_partitions", job.partitions.size()},
          {"partitions_done", done},
          {"partitions", std::move(partitions)},
          {"state", text(engine::to_string(job.state))},
          {"priority", text(engine::to_string(job.priority))},
          {"circuit_id", job.circuit_id},
          {"sector_number", job.sector_number},
          {"miner_id", job.miner_id},
          {"last_progress_secs_ago", job.last_progress_secs_ago},
          {"waiting_for", job.waiting_for},
          {"waiters", job.waiters},
          {"error_code", job.code == engine::ErrorCode::kNone ? "" : text(to_string(job.code))},
          {"error", job.error},
          {"timings", timings_json(job.timings)}};
}

json device_json(const engine::DeviceStatus& device) {
  return {{"name", device.name},
          {"product", device.product},
          {"uuid", device.uuid},
          {"ordinal", device.ordinal},
          {"memory_total_bytes", device.memory_total},
          {"memory_free_bytes", device.memory_free},
          {"quarantined", device.quarantined},
          {"quarantine_reason", device.quarantine_reason},
          {"proofs", device.proofs},
          {"bad_proofs", device.bad_proofs},
          {"faults", device.faults},
          {"workers", device.workers.size()}};
}

/// The workers of all devices, numbered through.
json workers_json(const engine::Status& status) {
  json workers = json::array();
  for (const engine::DeviceStatus& device : status.devices) {
    for (const engine::DeviceStatus::Worker& worker : device.workers) {
      const bool idle = worker.job_id.empty();
      workers.push_back({{"worker_id", workers.size()},
                         {"gpu_ordinal", device.ordinal},
                         {"state", idle ? "idle" : "proving"},
                         {"current_job", idle ? json(nullptr) : json(worker.job_id)},
                         {"current_partition", idle ? json(nullptr) : json(worker.partition)},
                         {"busy_secs", idle ? 0.0 : worker.busy_secs},
                         {"device", device.name}});
    }
  }
  return workers;
}

std::string_view tier_name(engine::KeyTier tier) {
  switch (tier) {
    case engine::KeyTier::kHot:
      return "hot";
    case engine::KeyTier::kWarm:
      return "warm";
    case engine::KeyTier::kCold:
      break;
  }
  return "cold";
}

json keys_json(const engine::Status& status) {
  json keys = json::array();
  for (const engine::CircuitStatus& circuit : status.circuits) {
    if (!circuit.loaded) continue;
    keys.push_back({{"circuit_id", circuit.circuit_id},
                    {"bytes", circuit.bytes},
                    {"last_used_secs_ago", circuit.last_used_secs_ago},
                    {"evictable", circuit.references == 0},
                    {"tier", text(tier_name(circuit.tier))},
                    {"references", circuit.references}});
  }
  return keys;
}

json circuits_json(const engine::Status& status) {
  json circuits = json::array();
  for (const engine::CircuitStatus& circuit : status.circuits) {
    circuits.push_back({{"circuit_id", circuit.circuit_id},
                        {"readiness", text(readiness_name(circuit.readiness))},
                        {"detail", circuit.detail},
                        {"loaded", circuit.loaded},
                        {"loading", circuit.loading}});
  }
  return circuits;
}

json counters_json(const engine::Status& status) {
  std::uint64_t completed = 0, failed = 0, cancelled = 0;
  json completed_by_kind = json::object(), failed_by_kind = json::object(), now = json::object();
  for (const auto& [kind, counters] : status.counters.kinds) {
    const std::string name = text(engine::label(kind));
    completed += counters.completed;
    failed += counters.failed;
    cancelled += counters.cancelled;
    completed_by_kind[name] = counters.completed;
    failed_by_kind[name] = counters.failed;
    now[name] = {{"pending", counters.pending}, {"in_progress", counters.in_progress}};
  }
  return {{"total_completed", completed},
          {"total_failed", failed},
          {"completed_by_kind", std::move(completed_by_kind)},
          {"failed_by_kind", std::move(failed_by_kind)},
          {"queue_depth", status.queue_depth},
          {"total_cancelled", cancelled},
          {"jobs_by_kind", std::move(now)},
          {"partition_retries", status.counters.partition_retries},
          {"self_check_failures", status.counters.self_check_failures},
          {"joined", status.counters.joined},
          {"replayed", status.counters.replayed},
          {"superseded", status.counters.superseded}};
}

json buffers_json(const engine::Status& status) {
  std::uint64_t making = 0, proving = 0, verifying = 0;
  for (const engine::JobStatus& job : status.jobs) {
    for (const engine::PartitionStatus& partition : job.partitions) {
      making += partition.state == PartitionState::kWitness ||
                partition.state == PartitionState::kWitnessDone;
      proving += partition.state == PartitionState::kDevice;
      verifying += partition.state == PartitionState::kVerify;
    }
  }
  return {{"synth_in_flight", making},
          {"provers_in_flight", proving},
          {"aux_in_flight", making + proving},
          {"shells_in_flight", 0},
          {"pending_handles", verifying}};
}

json stages_json(const engine::Status& status) {
  json kinds = json::object();
  for (const auto& [kind, counters] : status.counters.kinds) {
    json stages = json::object();
    for (const auto& [stage, histogram] : counters.stages) {
      if (histogram.count == 0) continue;
      const double mean = histogram.sum_seconds / static_cast<double>(histogram.count);
      stages[stage] = {{"count", histogram.count},
                       {"mean_ms", mean * 1000},
                       {"p50_ms_at_most", quantile(histogram, 0.5) * 1000},
                       {"p95_ms_at_most", quantile(histogram, 0.95) * 1000}};
    }
    if (!stages.empty()) kinds[text(engine::label(kind))] = std::move(stages);
  }
  return kinds;
}

json refusals_json(const engine::Status& status) {
  json refusals = json::array();
  for (const auto& [kind, counters] : status.counters.kinds) {
    const auto add = [&, name = text(engine::label(kind))](const auto& by_code, bool accepted) {
      for (const auto& [code, count] : by_code) {
        refusals.push_back(
            {{"proof_kind", name}, {"code", code}, {"count", count}, {"accepted", accepted}});
      }
    };
    add(counters.refused, false);
    add(counters.failed_with, true);
  }
  return refusals;
}

}  // namespace

std::string_view readiness_name(engine::CircuitStatus::Readiness readiness) {
  using Readiness = engine::CircuitStatus::Readiness;
  switch (readiness) {
    case Readiness::kReady:
      return "ready";
    case Readiness::kMissing:
      return "missing";
    case Readiness::kCorrupt:
      return "corrupt";
    case Readiness::kChecking:
      return "checking";
    case Readiness::kNotEnabled:
      break;
  }
  return "not-enabled";
}

double quantile(const engine::Histogram& histogram, double q) {
  if (histogram.count == 0) return 0;
  const double wanted = q * static_cast<double>(histogram.count);
  for (std::size_t i = 0; i < engine::Histogram::kBounds.size(); ++i) {
    if (static_cast<double>(histogram.counts[i]) >= wanted) return engine::Histogram::kBounds[i];
  }
  return engine::Histogram::kBounds.back();
}

json status_json(const engine::Status& status) {
  json pipelines = json::array();
  for (const engine::JobStatus& job : status.jobs) pipelines.push_back(job_json(job));
  json devices = json::array();
  for (const engine::DeviceStatus& device : status.devices) devices.push_back(device_json(device));
  json memory = budget_json(status.host);
  memory["pinned"] = budget_json(status.pinned);
  return {
      {"version", status.version},
      {"uptime_secs", status.uptime_secs},
      {"ready", status.ready},
      {"not_ready_because", text(status.not_ready_because)},
      {"draining", status.draining},
      {"cpu_proving", status.cpu_proving},
      {"memory", std::move(memory)},
      {"synthesis", {{"max_concurrent", status.witness_slots}, {"active", status.witness_active}}},
      {"pipelines", std::move(pipelines)},
      {"gpu_workers", workers_json(status)},
      {"allocations", {{"srs", keys_json(status)}, {"pce", json::array()}}},
      {"counters", counters_json(status)},
      {"buffers", buffers_json(status)},
      {"devices", std::move(devices)},
      {"circuits", circuits_json(status)},
      {"stages", stages_json(status)},
      {"refusals", refusals_json(status)},
      {"prestage", status.counters.prestage}};
}

}  // namespace cuzk::service
