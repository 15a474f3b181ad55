#pragma once

#include "cli/load/runner.hpp"
#include "service/client.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cuzk::cli::load {

/// Options that say what is to be proved.
struct JobOptions {
  std::vector<std::string> kinds;  ///< "porep", "winning-post=3" with a weight
  std::string sector_size;
  std::optional<std::size_t> sectors;
  std::size_t distinct = 16;
  std::uint64_t seed = 1;
  std::vector<std::string> c1;
  std::string vanilla, meta, meta_section;
};
void add_job_options(CLI::App& command, JobOptions& options);
/// Makes or reads the payloads: of each kind at most `jobs`, if that is not 0, and at most
/// `distinct`. Throws base::InvalidInput for options that contradict each other.
std::vector<MixItem> make_mix(const JobOptions& options, std::uint64_t jobs);

/// Options that say where to send it: to a daemon, or, without an address, to an engine in this
/// process.
struct TargetOptions {
  service::ClientOptions client;
  std::string config;                 ///< of the engine in this process
  std::vector<std::string> settings;  ///< changes of it
  std::string params_dir;
};
/// Those of the connection and of parameters, which all commands have.
void add_common_target_options(CLI::App& command, TargetOptions& options);
void add_target_options(CLI::App& command, TargetOptions& options);
/// Connects, or starts an engine and waits until it is ready. Its log is at the configuration's
/// level; without one, errors only.
std::unique_ptr<Target> make_target(const TargetOptions& options);
/// With the keys of --params-dir, or of the folder that the configuration names.
ProofCheck make_check(const TargetOptions& options);

/// A prefix of ids that no run had before: a daemon answers a job that it knows without proving it.
std::string fresh_id_prefix();
/// Writes the file if there is a name.
void write_json(const std::string& path, const nlohmann::ordered_json& json);

}  // namespace cuzk::cli::load
