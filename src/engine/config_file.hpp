#pragma once

#include "engine/config.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The configuration as a TOML file. Reading is strict: an unknown key, a wrong type, a bad unit
/// and a value out of range are errors. Keys of the Rust daemon have the meaning that they have
/// there; those that do nothing any more are reported and otherwise ignored.
namespace cuzk::engine {

/// Something that was taken otherwise than written, or not at all.
struct Notice {
  std::string setting;       ///< "pipeline.slot_size", or an environment variable
  std::string text;          ///< what about it, and what to do
  std::string where;         ///< "cuzk.toml:12:1"; empty: not from the file
  std::string line() const;  ///< all in one line, for the log
};

struct LoadedConfig {
  Config config;
  std::vector<Notice> notices;
};

/// An environment variable's value; empty if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

/// `name` stands for the file in errors and notices. srs.param_cache comes out filled, and
/// srs.param_cache_source with it. Throws base::InvalidInput with one line for each error, each
/// with name, line, column, setting, and the remedy.
LoadedConfig parse_config(std::string_view toml, std::string_view name,
                          const Environment& environment = process_environment());
/// Throws likewise, also for a file that cannot be read.
LoadedConfig load_config(const std::filesystem::path& path,
                         const Environment& environment = process_environment());
/// What an empty file says.
LoadedConfig default_config(const Environment& environment = process_environment());

/// The whole configuration as TOML, in the order of the documentation. Parses back to the same.
std::string print_config(const Config& config);

/// packaging/cuzk.toml: every setting with its meaning and its default, as a comment.
std::string example_config();
/// docs/configuration.md.
std::string config_docs();

/// A setting that differs.
struct ConfigChange {
  std::string setting, before, after;  ///< values as TOML
  bool reloadable = false;             ///< takes effect without a restart
};
std::vector<ConfigChange> config_changes(const Config& before, const Config& after);

/// Where journal and lock are: daemon.state_dir; else the folder of the unix socket, unless that is
/// one of temporary files (/run, /var/run, /tmp, /var/tmp, /dev/shm), which do not outlive a
/// reboot; else /var/lib/cuzk.
std::filesystem::path effective_state_dir(const Config::Daemon& daemon);

}  // namespace cuzk::engine
