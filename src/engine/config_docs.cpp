#include "engine/config_file.hpp"
#include "engine/config_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

/// The texts about the configuration, from the table of settings.
namespace cuzk::engine {

namespace {

/// Each line of `text` behind `prefix`.
std::string prefixed(std::string_view text, std::string_view prefix) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += fmt::format("{}{}\n", prefix, line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '\n', ' ');
  return out;
}

/// "size, 64MiB to 64TiB".
std::string kind_of(const Setting& setting) {
  return setting.range.empty() ? setting.type : fmt::format("{}, {}", setting.type, setting.range);
}

constexpr std::string_view kExampleHead =
    "# Configuration of the cuzk daemon. Every setting is here with its default, which holds while "
    "its\n"
    "# line is a comment. `cuzk daemon --config FILE --check-config` checks a file; a name that "
    "does not\n"
    "# exist or a value that is not possible is an error, with its line.\n"
    "#\n"
    "# Sizes: \"256GiB\", \"1.5TiB\" (powers of 1024), \"512MB\" (powers of 1000), or a number of "
    "bytes.\n"
    "# Durations: \"300s\", \"5m\", \"1h\", \"2d\", or a number of seconds.\n"
    "# What is marked as [reload] follows a SIGHUP without a restart.\n";

constexpr std::string_view kDocsHead = R"(# Configuration

This page is made from the table of settings in `src/engine/config_settings.cpp`, as
[packaging/cuzk.toml](../packaging/cuzk.toml) is; a test compares both.

`cuzk daemon --config FILE` reads one TOML file. Nothing in it is required. Reading is strict: an unknown key, a wrong type, a
bad unit or a value out of range ends the start with the line, the column and a remedy, all at once. `--check-config` does
only that, `--print-config` prints what is in effect, and `--listen` and `--log-level` go before the file.

- **Sizes**: `"256GiB"`, `"1.5 TiB"` (powers of 1024), `"512MB"` (powers of 1000), a number of bytes.
- **Durations**: `"300s"`, `"5m"`, `"1h30m"`, `"2d"`, a number of seconds.
- **Addresses**: `"unix:///run/curio/cuzk.sock"`, `"127.0.0.1:9820"`, `"[::1]:9820"`.
- **Circuits**: `"porep-32g"`, `"snap-32g"`, `"wpost-32g"`, `"winning-32g"`; other sectors `2k`, `8m`, `512m`, `64g`.

SIGHUP reads the file again: settings with *reload* take effect, a change of another one is logged as waiting for a restart,
and a file with an error changes nothing.
)";

constexpr std::string_view kDocsEnd = R"(
## Settings for GPUs only

`pipeline.prestage`, `pipeline.pinned_uploads`, `pipeline.interlock`, `scheduler.max_batch_size`, `scheduler.max_batch_wait_ms`,
`gpus.gpu_threads` and `gpus.vram_budget` mean nothing on the CPU, which transfers nothing and has one worker. A daemon without a
GPU takes them and reports at its start those that differ from the default.

## Files of the Rust daemon

Its file can be used as it is. `memory.pinned_budget` and `srs.preload`, which it ignores, have an effect here. 0 is read as
1 for `gpus.gpu_workers_per_device` and `scheduler.max_batch_size` and as 18 for `pipeline.max_parallel_synthesis`, as there.
The following have no effect; each is reported once at the start.

| setting | instead |
| --- | --- |
)";

constexpr std::string_view kDocsVariables = R"(
## Environment

`FIL_PROOFS_PARAMETER_CACHE` is the folder of key files where `srs.param_cache` is not set. Variables of the Rust daemon that
have no effect are reported once at the start:

| variable | instead |
| --- | --- |
)";

}  // namespace

std::string example_config() {
  std::string out(kExampleHead);
  for (const Section& section : sections()) {
    out += fmt::format("\n# ---- {}\n[{}]\n", section.title, section.name);
    for (const Setting& setting : settings()) {
      if (setting.section != section.name) continue;
      out +=
          fmt::format("\n{}## {}{}\n#{} = {}\n", prefixed(setting.help, "## "), kind_of(setting),
                      setting.reloadable ? " [reload]" : "", setting.name, setting.print(Config{}));
    }
  }
  return out;
}

std::string config_docs() {
  std::string out(kDocsHead);
  for (const Section& section : sections()) {
    out += fmt::format(
        "\n## [{}]\n\n{}.\n\n| setting | default | values | meaning |\n"
        "| --- | --- | --- | --- |\n",
        section.name, section.title);
    for (const Setting& setting : settings()) {
      if (setting.section != section.name) continue;
      out += fmt::format("| `{}` | `{}` | {} | {}{} |\n", setting.name, setting.print(Config{}),
                         kind_of(setting), one_line(setting.help),
                         setting.reloadable ? " *reload*" : "");
    }
  }
  out += kDocsEnd;
  for (const DeprecatedSetting& setting : deprecated_settings())
    out += fmt::format("| `{}` | {} |\n", setting.full_name, setting.advice);
  out += kDocsVariables;
  for (const DeprecatedSetting& variable : deprecated_variables())
    out += fmt::format("| `{}` | {} |\n", variable.full_name, variable.advice);
  return out;
}

}  // namespace cuzk::engine
