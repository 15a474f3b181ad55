#pragma once

#include "engine/config.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cuzk::engine {

/// A value as it stands in a file. Numbers in a list count as texts: devices may be written as
/// ordinals.
struct ConfigValue {
  std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>> value;
  bool octal = false;  ///< a number written as 0o660
};

/// One setting: what can be written, what it means, and where it is kept. Everything that is said
/// about settings is said from here: errors, --print-config, the example file, the documentation.
struct Setting {
  std::string_view section, name;
  std::string type;   ///< "size", "duration", "true or false", ...
  std::string range;  ///< "1 to 16"; empty: none
  std::string help;   ///< sentences; may be several lines
  bool reloadable = false;
  /// Throws base::InvalidInput that says what is wrong, without the setting's name. Returns what to
  /// tell the user about a value that is taken otherwise than written; mostly empty.
  std::function<std::string(Config&, const ConfigValue&)> read;
  /// The value as TOML.
  std::function<std::string(const Config&)> print;

  std::string full_name() const;
};

struct Section {
  std::string_view name, title;
};

std::span<const Section> sections();
/// In the order of the file; a section's settings stand together.
const std::vector<Setting>& settings();
/// Null if there is none.
const Setting* find_setting(std::string_view full_name);

/// A key of the Rust daemon that does nothing here, and what to do instead.
struct DeprecatedSetting {
  std::string_view full_name, advice;
};
std::span<const DeprecatedSetting> deprecated_settings();

/// Those of settings() that only GPUs know.
std::span<const std::string_view> gpu_settings();

/// Environment variables of the Rust daemon likewise.
std::span<const DeprecatedSetting> deprecated_variables();

}  // namespace cuzk::engine
