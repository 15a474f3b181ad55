#include "engine/config_file.hpp"

#include "base/error.hpp"
#include "engine/config_settings.hpp"
#include "engine/config_values.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace cuzk::engine {

namespace {

using base::InvalidInput;

constexpr const char* kParamVariable = "FIL_PROOFS_PARAMETER_CACHE";
constexpr const char* kDefaultParamCache = "/var/tmp/filecoin-proof-parameters";

/// A list's item as a text. Empty: neither a text nor a whole number.
std::optional<std::string> item_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  return std::nullopt;
}

/// Throws InvalidInput for what no setting can be: tables, dates, lists of other things.
ConfigValue to_value(const toml::node& node) {
  ConfigValue out;
  if (const auto* flag = node.as_boolean()) {
    out.value = flag->get();
  } else if (const auto* number = node.as_integer()) {
    out.value = number->get();
    out.octal = (number->flags() & toml::value_flags::format_as_octal) != toml::value_flags::none;
  } else if (const auto* real = node.as_floating_point()) {
    out.value = real->get();
  } else if (const auto* text = node.as_string()) {
    out.value = text->get();
  } else if (const auto* array = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *array) {
      std::optional<std::string> taken = item_text(item);
      base::require(taken.has_value(), "a list of texts is wanted, and this one has other items");
      items.push_back(std::move(*taken));
    }
    out.value = std::move(items);
  } else {
    base::fail<InvalidInput>("{} is no value of a setting",
                             node.is_table() ? "a table" : "a date or time");
  }
  return out;
}

/// The names that a user may have meant: a similar one anywhere, or the same one in another
/// section.
std::string suggestion(std::string_view section, std::string_view name) {
  std::vector<std::string> all;
  for (const Setting& setting : settings()) {
    all.push_back(setting.full_name());
    if (setting.name == name) return fmt::format("; did you mean {}?", all.back());
  }
  const std::string full =
      section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
  const std::string_view close = nearest(full, all);
  return close.empty() ? fmt::format("; `cuzk daemon --print-config` shows all that there are")
                       : fmt::format("; did you mean {}?", close);
}

/// One reading of one file: collects what is wrong, so that all of it is told at once.
class Reader {
 public:
  Reader(std::string_view name, LoadedConfig& out) : name_(name), out_(out) {}

  void read(const toml::table& file) {
    for (const auto& [key, node] : file) {
      const std::string_view section = key.str();
      if (const toml::table* const table = node.as_table(); table && is_section(section)) {
        for (const auto& [inner_key, inner_node] : *table)
          read_setting(section, inner_key, inner_node);
      } else if (is_section(section)) {
        reject(key.source(), section, "is a section: write [{}] and its settings below", section);
      } else if (node.is_table()) {
        reject_section(key);
      } else {
        reject(key.source(), section, "stands before any section{}", suggestion("", section));
      }
    }
  }

  /// Settings that contradict one another.
  void cross_check() {
    const Config::Daemon& daemon = out_.config.daemon;
    if (daemon.tls_cert.empty() != daemon.tls_key.empty())
      contradict("daemon.tls_cert", "daemon.tls_key", "one is set without the other");
    if (!daemon.tls_client_ca.empty() && daemon.tls_cert.empty())
      contradict("daemon.tls_client_ca", "daemon.tls_client_ca",
                 "clients' certificates need a TLS server: set daemon.tls_cert and daemon.tls_key");
    const Config::Reliability& reliability = out_.config.reliability;
    if (reliability.stall_warning >= reliability.stall_limit)
      contradict("reliability.stall_limit", "reliability.stall_warning",
                 fmt::format("the warning, after {}, does not come before the limit of {}",
                             exact_duration(reliability.stall_warning),
                             exact_duration(reliability.stall_limit)));
    const std::vector<std::string>& enabled = out_.config.srs.enable;
    for (const std::string& circuit : out_.config.srs.preload) {
      if (!enabled.empty() && std::ranges::count(enabled, circuit) == 0)
        contradict("srs.preload", "srs.enable",
                   fmt::format("{} is to be preloaded, but is not enabled", circuit));
    }
  }

  bool failed() const { return !errors_.empty(); }
  /// In the order of the file, which the parser's tables do not keep.
  std::string errors() {
    std::ranges::stable_sort(errors_, {}, &Remark::order);
    std::string out;
    for (const Remark& error : errors_) out += (out.empty() ? "" : "\n") + error.notice.line();
    return out;
  }
  void take_notices() {
    std::ranges::stable_sort(notices_, {}, &Remark::order);
    for (Remark& notice : notices_) out_.notices.push_back(std::move(notice.notice));
  }

 private:
  struct Remark {
    std::pair<std::uint32_t, std::uint32_t> order;  ///< line, column
    Notice notice;
  };

  static bool is_section(std::string_view name) {
    return std::ranges::count(sections(), name, &Section::name) != 0;
  }

  Remark remark(const toml::source_region& source, std::string_view setting,
                std::string text) const {
    const toml::source_position& at = source.begin;
    return {{at.line, at.column},
            {std::string(setting), std::move(text),
             fmt::format("{}:{}:{}", name_, at.line, at.column)}};
  }

  template <class... Args>
  void reject(const toml::source_region& source, std::string_view setting,
              fmt::format_string<Args...> format, Args&&... args) {
    errors_.push_back(remark(source, setting, fmt::format(format, std::forward<Args>(args)...)));
  }

  void reject_section(const toml::key& key) {
    std::vector<std::string_view> names;
    for (const Section& section : sections()) names.push_back(section.name);
    const std::string_view close = nearest(key.str(), names);
    reject(key.source(), fmt::format("[{}]", key.str()), "unknown section; {}",
           close.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                         : fmt::format("did you mean [{}]?", close));
  }

  void read_setting(std::string_view section, const toml::key& key, const toml::node& node) {
    const std::string full = fmt::format("{}.{}", section, key.str());
    const auto deprecated =
        std::ranges::find(deprecated_settings(), full, &DeprecatedSetting::full_name);
    if (deprecated != deprecated_settings().end()) {
      note(full, fmt::format("has no effect: {}", deprecated->advice), key.source());
      return;
    }
    const Setting* const setting = find_setting(full);
    if (!setting) {
      reject(key.source(), full, "unknown setting{}", suggestion(section, key.str()));
      return;
    }
    sources_.emplace(full, key.source());
    try {
      std::string remark = setting->read(out_.config, to_value(node));
      if (!remark.empty()) note(full, std::move(remark), key.source());
    } catch (const InvalidInput& error) {
      reject(node.source(), full, "{}", error.what());
    }
  }

  void note(std::string_view setting, std::string text, const toml::source_region& source) {
    notices_.push_back(remark(source, setting, std::move(text)));
  }

  /// Reports it where one of the two is set; defaults do not contradict one another.
  void contradict(const std::string& setting, const std::string& other, std::string_view text) {
    const auto found = sources_.find(sources_.contains(setting) ? setting : other);
    if (found != sources_.end()) reject(found->second, found->first, "{}", text);
  }

  std::string_view name_;
  LoadedConfig& out_;
  std::map<std::string, toml::source_region> sources_;
  std::vector<Remark> errors_, notices_;
};

void find_params(Config::Srs& srs, const Environment& environment) {
  if (!srs.param_cache.empty()) {
    srs.param_cache_source = "config";
  } else if (const auto folder = environment(kParamVariable); folder && !folder->empty()) {
    srs.param_cache = *folder;
    srs.param_cache_source = kParamVariable;
  } else {
    srs.param_cache = kDefaultParamCache;
    srs.param_cache_source = "default";
  }
}

}  // namespace

std::string Notice::line() const {
  return where.empty() ? fmt::format("{}: {}", setting, text)
                       : fmt::format("{}: {}: {}", where, setting, text);
}

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

LoadedConfig parse_config(std::string_view toml, std::string_view name,
                          const Environment& environment) {
  LoadedConfig loaded;
  Reader reader(name, loaded);
  try {
    reader.read(toml::parse(toml, name));
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    base::fail<InvalidInput>("{}:{}:{}: {}", name, at.line, at.column, error.description());
  }
  if (!reader.failed()) reader.cross_check();
  if (reader.failed()) base::fail<InvalidInput>("{}", reader.errors());
  reader.take_notices();
  find_params(loaded.config.srs, environment);
  for (const DeprecatedSetting& variable : deprecated_variables()) {
    if (environment(std::string(variable.full_name).c_str())) {
      loaded.notices.push_back(
          {std::string(variable.full_name),
           fmt::format("the environment variable has no effect: {}", variable.advice), ""});
    }
  }
  return loaded;
}

LoadedConfig load_config(const std::filesystem::path& path, const Environment& environment) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  // An empty file leaves the stream's state as if nothing could be read.
  if (!file.is_open() || file.bad() || std::filesystem::is_directory(path))
    base::fail<InvalidInput>("{}: cannot be read: {}", path.string(), std::strerror(errno));
  return parse_config(text.str(), path.string(), environment);
}

LoadedConfig default_config(const Environment& environment) {
  return parse_config("", "defaults", environment);
}

std::string print_config(const Config& config) {
  std::string out;
  for (const Section& section : sections()) {
    out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section.name);
    for (const Setting& setting : settings()) {
      if (setting.section != section.name) continue;
      out += fmt::format("{} = {}", setting.name, setting.print(config));
      if (setting.full_name() == "srs.param_cache" && !config.srs.param_cache_source.empty())
        out += fmt::format("  # from: {}", config.srs.param_cache_source);
      out += '\n';
    }
  }
  return out;
}

std::vector<ConfigChange> config_changes(const Config& before, const Config& after) {
  std::vector<ConfigChange> changes;
  for (const Setting& setting : settings()) {
    std::string old_value = setting.print(before), new_value = setting.print(after);
    if (old_value != new_value) {
      changes.push_back(
          {setting.full_name(), std::move(old_value), std::move(new_value), setting.reloadable});
    }
  }
  return changes;
}

std::filesystem::path effective_state_dir(const Config::Daemon& daemon) {
  if (!daemon.state_dir.empty()) return daemon.state_dir;
  const std::filesystem::path fallback = "/var/lib/cuzk";
  std::string_view path = daemon.listen;
  if (!path.starts_with("unix:")) return fallback;
  path.remove_prefix(path.starts_with("unix://") ? 7 : 5);
  for (const std::string_view temporary :
       {"/run/", "/var/run/", "/tmp/", "/var/tmp/", "/dev/shm/"}) {
    if (path.starts_with(temporary)) return fallback;
  }
  return std::filesystem::path(path).parent_path();
}

}  // namespace cuzk::engine
