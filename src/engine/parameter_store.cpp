#include "engine/parameter_store.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mapped_file.hpp"
#include "engine/key_files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cuzk::engine {

namespace {

using Readiness = CircuitStatus::Readiness;
using std::chrono::milliseconds;
using Clock = std::chrono::system_clock;  // that of the files' times

/// The versions of a circuit's files; a file that is not there has none.
using Versions = std::vector<std::optional<base::FileVersion>>;

std::optional<base::FileVersion> version_of(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
  try {
    return base::file_version(path);
  } catch (const base::CorruptData&) {
    return std::nullopt;  // gone meanwhile
  }
}

/// Why this process may not read what is there; empty if it may, or if nothing is there.
std::string read_error(const std::filesystem::path& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0) return {};
  if (errno == ENOENT || errno == ENOTDIR) return {};
  return fmt::format(
      "{} cannot be read: {}. Give the daemon's user access (chmod o+rX; home folders are hidden "
      "from the unit: BindReadOnlyPaths=), then retry; no restart needed",
      path.string(), std::strerror(errno));
}

class FolderStore final : public ParameterStore {
 public:
  FolderStore(const Config::Srs& config, std::string quotient, milliseconds settle)
      : quotient_(std::move(quotient)),
        settle_(settle),
        folder_(config.param_cache),
        source_(config.param_cache_source),
        trust_(config.trust_params) {
    for (const std::string& name : config.enable) enabled_.push_back(CircuitId::parse(name));
  }

  const std::filesystem::path& folder() const override { return folder_; }

  State state(const CircuitId& circuit) override {
    if (!enabled_.empty() && std::ranges::find(enabled_, circuit) == enabled_.end()) {
      return note(circuit, {Readiness::kNotEnabled,
                            circuit.to_string() + " is not in srs.enable of the configuration"});
    }
    const KeyPaths paths(folder_, circuit);
    const Versions versions = versions_of(paths);
    if (std::string lack = lack_of(circuit, paths, versions); !lack.empty())
      return note(circuit, {Readiness::kMissing, std::move(lack)});
    const std::lock_guard lock(mutex_);
    return update(circuit, versions);
  }

  State known(const CircuitId& circuit) const override {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(circuit);
    if (found != known_.end()) return found->second;
    return {Readiness::kMissing, circuit.to_string() + ": not looked for yet"};
  }

  std::vector<CircuitId> unchecked() const override {
    std::vector<CircuitId> out;
    const std::lock_guard lock(mutex_);
    for (const auto& [circuit, state] : known_) {
      const auto found = findings_.find(circuit);
      const bool inspected = found != findings_.end() && !found->second.is_due();
      if (state.readiness == Readiness::kChecking && !inspected) out.push_back(circuit);
    }
    return out;
  }

  void inspect(const CircuitId& circuit, const std::stop_token& stop) override {
    const KeyPaths paths(folder_, circuit);
    const Versions versions = versions_of(paths);
    if (std::string lack = lack_of(circuit, paths, versions); !lack.empty()) {
      note(circuit, {Readiness::kMissing, std::move(lack)});
      return;
    }
    if (!begin(circuit, versions)) return;
    std::string fault;
    bool is_complete = true;
    try {
      const std::optional<KeyOrigin> origin = inspect_key_files(paths, circuit, trust_, stop);
      is_complete = origin.has_value();
      if (origin && *origin != KeyOrigin::kNetwork) {
        base::process_log().warn({.code = "PARAMS-ORIGIN"}, "{}: {}: {}", circuit.to_string(),
                                 paths.params.filename().string(), describe(*origin));
      }
      if (const std::string advice = slower_without_derivative(paths, circuit, quotient_);
          origin && !advice.empty()) {
        base::process_log().warn({.code = "PARAMS-DERIVED"}, "{}", advice);
      }
    } catch (const base::CorruptData& error) {
      fault = error.what();
    } catch (const std::exception& error) {
      fault = fmt::format("{}: the check itself failed: {}. Restart the daemon to have it repeated",
                          paths.params.string(), error.what());
    }
    const Versions now = versions_of(paths);
    std::string lack = lack_of(circuit, paths, now);
    const std::lock_guard lock(mutex_);
    under_way_.reset();
    if (!lack.empty()) {  // what could not be read meanwhile is no damage
      known_[circuit] = {Readiness::kMissing, std::move(lack)};
      return;
    }
    if (is_complete) findings_[circuit] = finding(versions, fault);
    update(circuit, now);
  }

  void mark_corrupt(const CircuitId& circuit, const std::string& detail) override {
    const KeyPaths paths(folder_, circuit);
    const Versions versions = versions_of(paths);
    if (std::string lack = lack_of(circuit, paths, versions); !lack.empty()) {
      note(circuit, {Readiness::kMissing, std::move(lack)});
      return;
    }
    const std::lock_guard lock(mutex_);
    // Only what was found usable is loaded: if that has changed, the fault went with it.
    const auto found = findings_.find(circuit);
    if (found == findings_.end() || found->second.versions == versions)
      findings_[circuit] = finding(versions, detail);
    update(circuit, versions);
  }

 private:
  struct Finding {
    Versions versions;
    std::string fault;                         ///< empty: none
    std::optional<Clock::time_point> recheck;  ///< the fault counts if it is there from then on

    bool is_due() const { return recheck && Clock::now() >= *recheck; }
  };

  Finding finding(const Versions& versions, const std::string& fault) const {
    Finding out{versions, fault, std::nullopt};
    if (fault.empty()) return out;
    const Clock::time_point now = Clock::now();
    for (const auto& version : versions) {
      if (!version) continue;
      const Clock::time_point written{
          std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(version->mtime_ns))};
      // A time to come is a clock that was wrong.
      if (written <= now && now < written + settle_)
        out.recheck = std::max(out.recheck.value_or(now), written + settle_);
    }
    return out;
  }

  static Versions versions_of(const KeyPaths& paths) {
    return {version_of(paths.params), version_of(paths.verifying_key), version_of(paths.derived),
            version_of(paths.development_marker)};
  }
  /// Why the circuit's files cannot be used whatever is in them, and what to do; else empty.
  std::string lack_of(const CircuitId& circuit, const KeyPaths& paths,
                      const Versions& versions) const {
    const std::string where =
        fmt::format("{} (from {})", folder_.string(), source_.empty() ? "config" : source_);
    for (const auto* path : {&folder_, &paths.params, &paths.verifying_key, &paths.derived}) {
      if (const std::string error = read_error(*path); !error.empty())
        return fmt::format("{}: {}", circuit.to_string(), error);
    }
    std::error_code none;
    const std::filesystem::file_status folder = std::filesystem::status(folder_, none);
    if (!std::filesystem::is_directory(folder)) {
      return fmt::format("{}: srs.param_cache {}: {}", circuit.to_string(), where,
                         std::filesystem::exists(folder) ? "is no folder" : "no such folder");
    }
    if (versions.front()) return {};
    return fmt::format(
        "{}: {} not in {}. Fetch it with 'curio fetch-params', then retry; no "
        "restart needed",
        circuit.to_string(), paths.params.filename().string(), where);
  }
  /// The mutex is held. Of a circuit whose parameter file is there.
  State update(const CircuitId& circuit, const Versions& versions) {
    const auto found = findings_.find(circuit);
    if (found != findings_.end() && found->second.versions != versions) findings_.erase(found);
    return known_[circuit] = state_of(circuit);
  }
  /// The mutex is held, and what was found is of the present files.
  State state_of(const CircuitId& circuit) const {
    if (const std::string lack = missing_derivative(KeyPaths(folder_, circuit), circuit, quotient_);
        !lack.empty()) {
      return {Readiness::kMissing, lack};
    }
    const auto found = findings_.find(circuit);
    if (found == findings_.end()) {
      return {
          Readiness::kChecking,
          fmt::format("{}: its files {} (once for each version of them, at 32 GiB minutes); jobs "
                      "are taken and wait",
                      circuit.to_string(),
                      under_way_ == circuit ? "are being checked" : "wait to be checked")};
    }
    const auto& [versions, fault, recheck] = found->second;
    if (recheck) {
      return {
          Readiness::kChecking,
          fmt::format("{}: its files were written to less than {} s ago and are not whole yet, "
                      "or damaged; they are checked again after that; jobs are taken and wait "
                      "({})",
                      circuit.to_string(),
                      std::chrono::duration_cast<std::chrono::seconds>(settle_).count(), fault)};
    }
    if (fault.empty()) return {Readiness::kReady, {}};
    return {Readiness::kCorrupt, fault};
  }
  State note(const CircuitId& circuit, State state) {
    const std::lock_guard lock(mutex_);
    return known_[circuit] = std::move(state);
  }
  /// False if this version was inspected before and need not be again.
  bool begin(const CircuitId& circuit, const Versions& versions) {
    const std::lock_guard lock(mutex_);
    const auto found = findings_.find(circuit);
    if (found != findings_.end() && found->second.versions == versions && !found->second.is_due())
      return false;
    under_way_ = circuit;
    return true;
  }

  // Constant after construction.
  std::string quotient_;
  milliseconds settle_;
  std::filesystem::path folder_;
  std::string source_;
  bool trust_;
  std::vector<CircuitId> enabled_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<CircuitId, Finding> findings_;
  std::map<CircuitId, State> known_;
  std::optional<CircuitId> under_way_;  ///< being inspected
};

}  // namespace

std::unique_ptr<ParameterStore> make_parameter_store(const Config::Srs& config,
                                                     const std::string& quotient,
                                                     std::chrono::milliseconds settle) {
  return std::make_unique<FolderStore>(config, quotient, settle);
}

}  // namespace cuzk::engine
