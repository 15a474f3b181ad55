#pragma once

#include "engine/status.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace cuzk::service {

/// What GET /status answers. The fields and values of the Rust daemon's status keep their names and
/// types: uptime_secs, memory, synthesis, pipelines, gpu_workers, allocations, counters, buffers.
/// Ours stand beside them: version, ready, draining, cpu_proving, devices, circuits, stages,
/// refusals, and more fields in each object. Every time is in the unit that its name ends with.
///
/// A partition's `state` keeps to the Rust daemon's words, in which verifying is part of "gpu";
/// `stage` says it exactly. buffers: witnesses being made or waiting (synth_in_flight), partitions
/// on a device (provers_in_flight), witnesses held (aux_in_flight), proofs made and not yet
/// verified (pending_handles); shells_in_flight is always 0, this engine has no such buffers.
nlohmann::json status_json(const engine::Status& status);

/// "ready", "checking", "missing", "corrupt", "not-enabled".
std::string_view readiness_name(engine::CircuitStatus::Readiness readiness);

/// Upper bound of the q-quantile in seconds, from the histogram's bounds; its last finite bound if
/// it lies above; 0 if nothing was counted.
double quantile(const engine::Histogram& histogram, double q);

}  // namespace cuzk::service
