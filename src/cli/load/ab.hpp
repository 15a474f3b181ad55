#pragma once

#include "cli/load/runner.hpp"
#include "cli/load/statistics.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cuzk::cli::load {

struct AbPlan {
  std::vector<std::shared_ptr<const Payload>> payloads;  ///< of one kind
  std::uint64_t pairs = 10;                              ///< runs of each setting
  std::uint64_t jobs = 1;                                ///< a run
  unsigned clients = 1;
  bool keep_targets = true;  ///< false: made anew for each run
  std::string id_prefix;
};

/// Seconds a job, for each run; run i of A and of B took place next to each other.
struct AbRow {
  std::string name;  ///< "wall" (a run's time by its jobs), "client" (their mean), or a stage
  std::vector<double> a, b;
  Comparison comparison;
};

struct AbResult {
  std::array<std::string, 2> names;
  std::uint64_t jobs = 0;  ///< a run
  double level = 0;        ///< of each row's interval, so that all together have 95 %
  std::vector<AbRow> rows;
};

using MakeTarget = std::function<std::unique_ptr<Target>()>;

/// Runs A and B in turns, each pair in the other order than the one before. The first job after a
/// target is made is not measured. A stage's time is the growth of the target's own sum, so nobody
/// else may use it meanwhile. Every proof is checked. `tell` gets a line after each run. Throws
/// base::InvalidInput if a job does not end with a valid proof.
AbResult run_ab(const AbPlan& plan, const std::array<MakeTarget, 2>& targets,
                const ProofCheck& check, const std::function<void(const std::string&)>& tell);

std::string to_text(const AbResult& result);
nlohmann::ordered_json to_json(const AbResult& result);

}  // namespace cuzk::cli::load
