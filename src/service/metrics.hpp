#pragma once

#include "engine/status.hpp"

#include <string>

namespace cuzk::service {

/// The status as Prometheus text (exposition format 0.0.4), every name and label with HELP and
/// TYPE. The names that the Rust daemon's GetMetrics had are among them, with its label values
/// ("porep_c2", "snap_update", "window_post", "winning_post"): counters never fall, and
/// cuzk_proof_duration_seconds, there a summary over the last proofs, is a histogram of all.
///
/// Written from the one status, not counted a second time; a metrics library would have to be fed
/// values that it has not counted.
std::string prometheus_text(const engine::Status& status);

}  // namespace cuzk::service
