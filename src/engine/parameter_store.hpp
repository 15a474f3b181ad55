#pragma once

#include "engine/circuit_id.hpp"
#include "engine/config.hpp"
#include "engine/status.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace cuzk::engine {

/// Which circuits have usable parameter files. Never makes or writes parameters. Any thread may
/// call.
class ParameterStore {
 public:
  struct State {
    CircuitStatus::Readiness readiness = CircuitStatus::Readiness::kMissing;
    std::string detail;  ///< empty if ready; else what is wrong with which file, and the remedy
  };

  virtual ~ParameterStore() = default;
  virtual const std::filesystem::path& folder() const = 0;
  /// What is known now, from a look at the folder and earlier inspections. A file that was added or
  /// replaced counts from this call on: it is kChecking until it has been inspected.
  virtual State state(const CircuitId& circuit) = 0;
  /// What the latest state(), inspect() or mark_corrupt() found, without a look at the folder;
  /// kMissing if there was none. Fast: may be asked with locks held.
  virtual State known(const CircuitId& circuit) const = 0;
  /// Those that are known to be kChecking and for whose inspection it is time.
  virtual std::vector<CircuitId> unchecked() const = 0;
  /// Reads the files thoroughly, unless this version of them was read before: structure, points,
  /// digests against the published ones, that .vk and .params belong together. At 32 GiB minutes.
  /// What it finds is in state() afterwards; nothing, if `stop` was requested or the files changed
  /// meanwhile. Of files that were written to a moment ago a fault proves nothing: they are still
  /// being fetched, perhaps, and stay kChecking. Throws nothing of what is wrong with the files.
  virtual void inspect(const CircuitId& circuit, const std::stop_token& stop) = 0;
  /// Loading found the files damaged: so they are until they change.
  virtual void mark_corrupt(const CircuitId& circuit, const std::string& detail) = 0;
};

/// Whether a circuit's files are there, checked or not yet: its jobs are accepted.
constexpr bool has_files(CircuitStatus::Readiness readiness) {
  return readiness == CircuitStatus::Readiness::kReady ||
         readiness == CircuitStatus::Readiness::kChecking;
}

/// Over a folder of files with the official names. A key whose digest is not the published one is
/// corrupt, unless it is marked as a development key or `trust_params` is set.
/// With `quotient` "derivative" a circuit without its `.derivative` file is missing.
/// Files that may not be read are missing, until they may be; that says nothing of their content.
/// A fault counts when no file of the circuit was written to for `settle`.
std::unique_ptr<ParameterStore> make_parameter_store(
    const Config::Srs& config, const std::string& quotient = "auto",
    std::chrono::milliseconds settle = std::chrono::seconds(10));

}  // namespace cuzk::engine
