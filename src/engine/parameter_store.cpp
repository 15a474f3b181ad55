#include "engine/parameter_store.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mapped_file.hpp"
#include "engine/key_files.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace cuzk::engine {

namespace {

using Readiness = CircuitStatus::Readiness;

/// The versions of a circuit's files; a file that is not there has none.
using Versions = std::vector<std::optional<base::FileVersion>>;

std::optional<base::FileVersion> version_of(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
  try {
    return base::file_version(path);
  } catch (const base::CorruptData&) {
    return std::nullopt;  // gone meanwhile, or not readable
  }
}

class FolderStore final : public ParameterStore {
 public:
  explicit FolderStore(const Config::Srs& config)
      : folder_(config.param_cache),
        source_(config.param_cache_source),
        trust_(config.trust_params) {
    for (const std::string& name : config.enable) enabled_.push_back(CircuitId::parse(name));
  }

  const std::filesystem::path& folder() const override { return folder_; }

  State state(const CircuitId& circuit) override {
    if (!enabled_.empty() && std::ranges::find(enabled_, circuit) == enabled_.end()) {
      return {Readiness::kNotEnabled,
              circuit.to_string() + " is not in srs.enable of the configuration"};
    }
    const KeyPaths paths(folder_, circuit);
    const Versions versions = versions_of(paths);
    if (!versions.front()) {
      return {Readiness::kMissing,
              fmt::format("{}: {} not in {} (from {}). Fetch it with 'curio fetch-params', then "
                          "retry; no restart needed",
                          circuit.to_string(), paths.params.filename().string(), folder_.string(),
                          source_.empty() ? "config" : source_)};
    }
    const std::lock_guard lock(mutex_);
    const auto found = findings_.find(circuit);
    if (found == findings_.end() || found->second.versions != versions ||
        found->second.fault.empty())
      return {Readiness::kReady, {}};
    return {Readiness::kCorrupt, found->second.fault};
  }

  void inspect(const CircuitId& circuit) override {
    const KeyPaths paths(folder_, circuit);
    const Versions versions = versions_of(paths);
    if (!versions.front() || is_known(circuit, versions)) return;
    std::string fault;
    try {
      const KeyOrigin origin = inspect_key_files(paths, circuit, trust_);
      if (origin != KeyOrigin::kNetwork) {
        base::process_log().warn({.code = "PARAMS-ORIGIN"}, "{}: {}: {}", circuit.to_string(),
                                 paths.params.filename().string(), describe(origin));
      }
    } catch (const base::CorruptData& error) {
      fault = error.what();
    }
    const std::lock_guard lock(mutex_);
    findings_[circuit] = {versions, fault};
  }

  void mark_corrupt(const CircuitId& circuit, const std::string& detail) override {
    const Versions versions = versions_of(KeyPaths(folder_, circuit));
    const std::lock_guard lock(mutex_);
    findings_[circuit] = {versions, detail};
  }

 private:
  struct Finding {
    Versions versions;
    std::string fault;  ///< empty: none
  };

  static Versions versions_of(const KeyPaths& paths) {
    return {version_of(paths.params), version_of(paths.verifying_key), version_of(paths.derived),
            version_of(paths.development_marker)};
  }
  bool is_known(const CircuitId& circuit, const Versions& versions) const {
    const std::lock_guard lock(mutex_);
    const auto found = findings_.find(circuit);
    return found != findings_.end() && found->second.versions == versions;
  }

  // Constant after construction.
  std::filesystem::path folder_;
  std::string source_;
  bool trust_;
  std::vector<CircuitId> enabled_;

  mutable std::mutex mutex_;
  std::map<CircuitId, Finding> findings_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<ParameterStore> make_parameter_store(const Config::Srs& config) {
  return std::make_unique<FolderStore>(config);
}

}  // namespace cuzk::engine
