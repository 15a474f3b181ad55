#include "engine/setting_kinds.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "engine/config_values.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace cuzk::engine::kinds {

namespace {

using base::fail;
using base::InvalidInput;
using base::require;

/// A reference into a constant Config, by the place in a mutable one.
template <class T>
const T& at(Place<T> place, const Config& config) {
  return place(const_cast<Config&>(config));  // NOLINT: only read
}

std::string written(const ConfigValue& value) {
  struct Write {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return toml_text(text); }
    std::string operator()(const std::vector<std::string>&) const { return "a list"; }
  };
  return std::visit(Write{}, value.value);
}

[[noreturn]] void wrong_type(const ConfigValue& value, std::string_view wanted) {
  fail<InvalidInput>("{} found, {} is wanted", written(value), wanted);
}

std::uint64_t read_size(const ConfigValue& value, std::uint64_t min, std::uint64_t max) {
  std::uint64_t bytes = 0;
  bool has_unit = false;
  if (const auto* const number = std::get_if<std::int64_t>(&value.value)) {
    require(*number >= 0, "{} is negative", *number);
    bytes = static_cast<std::uint64_t>(*number);
  } else {
    const std::string& text = text_of(value, "a size, as \"256GiB\",");
    bytes = parse_size(text);
    has_unit = text.find_first_not_of("0123456789 ") != std::string::npos;
  }
  require(
      bytes >= min && bytes <= max, "{} is out of range: {} to {} are possible{}",
      format_size(bytes), exact_size(min), exact_size(max),
      has_unit ? "" : "; without a unit, a number counts bytes: write \"256GiB\" for gibibytes");
  return bytes;
}

std::string size_range(std::uint64_t min, std::uint64_t max) {
  return fmt::format("{} to {}", exact_size(min), exact_size(max));
}

std::string alternatives(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + toml_text(word);
  return out;
}

}  // namespace

std::string toml_text(std::string_view text) {
  return fmt::format("\"{}\"", base::escape_json(text));
}

const std::string& text_of(const ConfigValue& value, std::string_view wanted) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (!text) wrong_type(value, wanted);
  return *text;
}

Setting base_of(Text section, Text name, std::string type, std::string range, std::string help) {
  Setting setting;
  setting.section = section;
  setting.name = name;
  setting.type = std::move(type);
  setting.range = std::move(range);
  setting.help = std::move(help);
  return setting;
}

Setting reloadable(Setting setting) {
  setting.reloadable = true;
  return setting;
}

Setting flag(Text section, Text name, Place<bool> place, std::string help) {
  Setting setting = base_of(section, name, "true or false", "", std::move(help));
  setting.read = [place](Config& config, const ConfigValue& value) -> std::string {
    const bool* const on = std::get_if<bool>(&value.value);
    if (!on) wrong_type(value, "true or false");
    place(config) = *on;
    return {};
  };
  setting.print = [place](const Config& config) { return at(place, config) ? "true" : "false"; };
  return setting;
}

template <class T>
Setting count(Text section, Text name, Place<T> place, T min, T max, std::string help, T zero) {
  Setting setting =
      base_of(section, name, "number", fmt::format("{} to {}", min, max), std::move(help));
  setting.read = [=](Config& config, const ConfigValue& value) -> std::string {
    const auto* const number = std::get_if<std::int64_t>(&value.value);
    if (!number) wrong_type(value, "a whole number");
    if (*number == 0 && min > 0 && zero > 0) {
      place(config) = zero;
      return fmt::format("0 is taken as {}: write {}", zero, zero);
    }
    require(
        *number >= 0 && std::cmp_greater_equal(*number, min) && std::cmp_less_equal(*number, max),
        "{} is out of range: {} to {} are possible", *number, min, max);
    place(config) = static_cast<T>(*number);
    return {};
  };
  setting.print = [place](const Config& config) { return std::to_string(at(place, config)); };
  return setting;
}

Setting size(Text section, Text name, Place<std::uint64_t> place, std::uint64_t min,
             std::uint64_t max, std::string help) {
  Setting setting = base_of(section, name, "size", size_range(min, max), std::move(help));
  setting.read = [=](Config& config, const ConfigValue& value) -> std::string {
    place(config) = read_size(value, min, max);
    return {};
  };
  setting.print = [place](const Config& config) {
    return toml_text(exact_size(at(place, config)));
  };
  return setting;
}

Setting size_or_auto(Text section, Text name, Place<SizeSetting> place, std::uint64_t min,
                     std::uint64_t max, std::string help) {
  Setting setting =
      base_of(section, name, "size or \"auto\"", size_range(min, max), std::move(help));
  setting.read = [=](Config& config, const ConfigValue& value) -> std::string {
    const auto* const text = std::get_if<std::string>(&value.value);
    if (text && *text == "auto")
      place(config).bytes.reset();
    else
      place(config).bytes = read_size(value, min, max);
    return {};
  };
  setting.print = [place](const Config& config) {
    const SizeSetting& size = at(place, config);
    return toml_text(size.bytes ? exact_size(*size.bytes) : "auto");
  };
  return setting;
}

template Setting count(Text, Text, Place<std::uint32_t>, std::uint32_t, std::uint32_t, std::string,
                       std::uint32_t);
template Setting count(Text, Text, Place<std::uint64_t>, std::uint64_t, std::uint64_t, std::string,
                       std::uint64_t);

template <class Duration>
Setting duration(Text section, Text name, Place<Duration> place, Duration min, Duration max,
                 std::string help) {
  constexpr bool kHours = std::is_same_v<Duration, std::chrono::hours>;
  Setting setting =
      base_of(section, name, kHours ? "duration, in whole hours" : "duration",
              fmt::format("{} to {}", exact_duration(min), exact_duration(max)), std::move(help));
  setting.read = [=](Config& config, const ConfigValue& value) -> std::string {
    std::chrono::seconds seconds{0};
    if (const auto* const number = std::get_if<std::int64_t>(&value.value))
      seconds = parse_duration(std::to_string(*number));
    else
      seconds = parse_duration(text_of(value, "a duration, as \"5m\","));
    require(seconds >= min && seconds <= max, "{} is out of range: {} to {} are possible",
            exact_duration(seconds), exact_duration(min), exact_duration(max));
    place(config) = std::chrono::duration_cast<Duration>(seconds);
    require(place(config) == seconds, "{} is no whole number of hours: write \"{}h\"",
            exact_duration(seconds),
            std::chrono::duration_cast<std::chrono::hours>(seconds).count() + 1);
    return {};
  };
  setting.print = [place](const Config& config) {
    return toml_text(exact_duration(at(place, config)));
  };
  return setting;
}

template Setting duration(Text, Text, Place<std::chrono::seconds>, std::chrono::seconds,
                          std::chrono::seconds, std::string);
template Setting duration(Text, Text, Place<std::chrono::hours>, std::chrono::hours,
                          std::chrono::hours, std::string);

Setting text(Text section, Text name, Place<std::string> place, std::string type, std::string help,
             std::function<std::string(std::string&)> check) {
  Setting setting = base_of(section, name, std::move(type), "", std::move(help));
  setting.read = [place, check = std::move(check)](Config& config,
                                                   const ConfigValue& value) -> std::string {
    std::string taken = text_of(value);
    std::string remark = check(taken);
    place(config) = std::move(taken);
    return remark;
  };
  setting.print = [place](const Config& config) { return toml_text(at(place, config)); };
  return setting;
}

Setting address(Text section, Text name, Place<std::string> place, bool optional,
                std::string help) {
  return text(section, name, place, optional ? "address, or \"\" for none" : "address",
              std::move(help), [optional](const std::string& taken) {
                if (!optional || !taken.empty()) check_address(taken);
                return std::string();
              });
}

Setting file(Text section, Text name, Place<std::string> place, std::string help) {
  return text(section, name, place, "absolute path, or \"\" for none", std::move(help),
              [](const std::string& taken) {
                require(taken.empty() || taken.starts_with('/'),
                        "'{}' is no absolute path: the daemon's current folder is not yours",
                        taken);
                return std::string();
              });
}

Setting folder(Text section, Text name, Place<std::filesystem::path> place, std::string help) {
  Setting setting =
      base_of(section, name, "absolute path, or \"\" for the default", "", std::move(help));
  setting.read = [place](Config& config, const ConfigValue& value) -> std::string {
    const std::string& taken = text_of(value);
    require(taken.empty() || taken.starts_with('/'),
            "'{}' is no absolute path: the daemon's current folder is not yours", taken);
    place(config) = taken;
    return {};
  };
  setting.print = [place](const Config& config) { return toml_text(at(place, config).string()); };
  return setting;
}

Setting choice(Text section, Text name, Place<std::string> place,
               std::vector<std::string_view> words, std::string help) {
  std::string type = alternatives(words);
  return text(section, name, place, type, std::move(help),
              [words = std::move(words)](const std::string& taken) {
                if (std::ranges::count(words, taken) == 0) {
                  const std::string_view close = nearest(taken, words);
                  fail<InvalidInput>("'{}' is none of {}{}", taken, alternatives(words),
                                     close.empty() ? "" : fmt::format("; nearest: {}", close));
                }
                return std::string();
              });
}

Setting list(Text section, Text name, Place<std::vector<std::string>> place, std::string type,
             std::string help, std::function<void(const std::string&)> check) {
  Setting setting = base_of(section, name, "list of " + type, "", std::move(help));
  setting.read = [place, check = std::move(check)](Config& config,
                                                   const ConfigValue& value) -> std::string {
    const auto* const items = std::get_if<std::vector<std::string>>(&value.value);
    if (!items) wrong_type(value, "a list, as [\"a\", \"b\"],");
    for (auto item = items->begin(); item != items->end(); ++item) {
      check(*item);
      require(std::find(items->begin(), item, *item) == item, "{} is listed twice",
              toml_text(*item));
    }
    place(config) = *items;
    return {};
  };
  setting.print = [place](const Config& config) {
    std::string out;
    for (const std::string& item : at(place, config))
      out += (out.empty() ? "" : ", ") + toml_text(item);
    return "[" + out + "]";
  };
  return setting;
}

}  // namespace cuzk::engine::kinds
