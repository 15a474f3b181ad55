#pragma once

#include "engine/config_settings.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The kinds of setting: how a value of each is read from and written as TOML.
namespace cuzk::engine::kinds {

/// Where a value is kept in a Config.
template <class T>
using Place = T& (*)(Config&);
using Text = std::string_view;

/// A text as a TOML string.
std::string toml_text(std::string_view text);
/// The value's text. Throws InvalidInput that says what is wanted if it is none.
const std::string& text_of(const ConfigValue& value, std::string_view wanted = "a text");

Setting reloadable(Setting setting);

Setting base_of(Text section, Text name, std::string type, std::string range, std::string help);
Setting flag(Text section, Text name, Place<bool> place, std::string help);
/// T: 32 or 64 bits unsigned. `zero`: what 0 stands for where the Rust daemon takes it and the
/// range does not have it.
template <class T>
Setting count(Text section, Text name, Place<T> place, T min, T max, std::string help, T zero = 0);
Setting size(Text section, Text name, Place<std::uint64_t> place, std::uint64_t min,
             std::uint64_t max, std::string help);
Setting size_or_auto(Text section, Text name, Place<SizeSetting> place, std::uint64_t min,
                     std::uint64_t max, std::string help);
/// Duration: seconds or hours.
template <class Duration>
Setting duration(Text section, Text name, Place<Duration> place, Duration min, Duration max,
                 std::string help);
/// Texts that `check` accepts, which may change them and return a remark; it throws InvalidInput
/// for others.
Setting text(Text section, Text name, Place<std::string> place, std::string type, std::string help,
             std::function<std::string(std::string&)> check);
Setting address(Text section, Text name, Place<std::string> place, bool optional, std::string help);
Setting file(Text section, Text name, Place<std::string> place, std::string help);
Setting folder(Text section, Text name, Place<std::filesystem::path> place, std::string help);
Setting choice(Text section, Text name, Place<std::string> place,
               std::vector<std::string_view> words, std::string help);
/// `check` throws InvalidInput for an item that is not possible.
Setting list(Text section, Text name, Place<std::vector<std::string>> place, std::string type,
             std::string help, std::function<void(const std::string&)> check);

}  // namespace cuzk::engine::kinds
