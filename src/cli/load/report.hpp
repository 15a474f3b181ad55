#pragma once

#include "cli/load/runner.hpp"
#include "cli/load/statistics.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace cuzk::cli::load {

/// What came of the jobs of one kind.
struct KindReport {
  std::uint64_t sent = 0, valid = 0, invalid = 0, differing = 0;
  std::uint64_t damaged_accepted = 0;           ///< damaged requests that were not refused
  std::map<std::string, std::uint64_t> others;  ///< not completed: by outcome and code
  Summary seconds;                              ///< of completed jobs, at the client
  Summary queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;  ///< by the daemon
  std::uint32_t most_attempts = 0;
};

struct Report {
  double seconds = 0;  ///< first sending to last answer
  std::map<engine::ProofKind, KindReport> kinds;
  std::uint64_t valid() const;
  /// What may never be, whatever the load: an invalid proof, two answers to one job, nobody at the
  /// address.
  std::vector<std::string> faults() const;
};

Report make_report(const std::vector<Sample>& samples);
std::string to_text(const Report& report);
nlohmann::ordered_json to_json(const Report& report);

/// Whether every job that the target accepted between two looks at its metrics is accounted for:
/// completed, failed, cancelled, or still there. One complaint for each kind where the sums differ;
/// empty if all is well.
std::vector<std::string> unaccounted(const MetricsText& before, const MetricsText& after);

}  // namespace cuzk::cli::load
