#include "base/cuda/error.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "cli/commands.hpp"
#include "cli/devices.hpp"
#include "engine/circuit_id.hpp"
#include "engine/config_file.hpp"
#include "engine/device_memory_plan.hpp"
#include "engine/engine.hpp"
#include "engine/host_memory.hpp"
#include "engine/key_files.hpp"
#include "engine/parameter_store.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "service/daemon.hpp"
#include "service/engine_adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace cuzk::cli {

namespace {

constexpr const char* kDefaultConfig = "/etc/cuzk/cuzk.toml";

struct DaemonOptions {
  std::string config, listen, log_level;
  bool check = false, print = false, all = false;
};

/// The file's settings, and the command line's over them. Without --config the
/// default file, if it is there.
engine::LoadedConfig load(const DaemonOptions& options) {
  engine::LoadedConfig loaded;
  if (!options.config.empty()) {
    loaded = engine::load_config(options.config);
  } else if (std::filesystem::exists(kDefaultConfig)) {
    loaded = engine::load_config(kDefaultConfig);
  } else {
    loaded = engine::default_config();
    loaded.notices.push_back(
        {"--config", fmt::format("not given, and there is no {}: defaults", kDefaultConfig), ""});
  }
  if (!options.listen.empty()) loaded.config.daemon.listen = options.listen;
  if (!options.log_level.empty()) {
    base::require(base::parse_log_level(options.log_level).has_value(),
                  "--log-level {}: trace, debug, info, warn, error and off are known",
                  options.log_level);
    loaded.config.logging.level = options.log_level;
  }
  return loaded;
}

void configure_log(const engine::Config::Logging& config) {
  base::LogOptions options;
  options.level = base::parse_log_level(config.level).value_or(base::LogLevel::kInfo);
  if (config.format == "json") options.format = base::LogOptions::Format::kJson;
  base::process_log().configure(std::move(options));
}

void log_start(const engine::LoadedConfig& loaded) {
  auto& log = base::process_log();
  log.info({}, "cuzk {}", CUZK_VERSION);
  for (const engine::Notice& notice : loaded.notices) log.warn({}, "{}", notice.line());
  const engine::Config& config = loaded.config;
  for (const engine::ConfigChange& change : engine::config_changes({}, config))
    log.info({}, "setting {} = {} (default {})", change.setting, change.after, change.before);
  log.info({}, "parameters in {} (from {})", config.srs.param_cache.native(),
           config.srs.param_cache_source);
  const engine::HostMemory memory = engine::read_host_memory();
  const engine::HostBudget host = engine::host_budget(config.memory, memory);
  for (const std::string& note : memory.notes) log.warn({}, "{}", note);
  const auto log_budget = [&](std::string_view what, const engine::HostBudget& budget) {
    log.info({}, "{}: {}", what, budget.explanation);
    for (const std::string& warning : budget.warnings) log.warn({}, "{}: {}", what, warning);
  };
  log_budget("host memory", host);
  log_budget("pinned memory", engine::pinned_budget(config.memory, memory, host));
}

void log_devices(const engine::Status& status) {
  for (const engine::DeviceStatus& device : status.devices) {
    const std::string memory = device.memory_total == 0
                                   ? std::string()
                                   : fmt::format(", {} MiB", device.memory_total >> 20);
    base::process_log().info({.device = device.name}, "{} {}{}, {} partitions at once",
                             device.product, device.uuid, memory, device.workers.size());
  }
}

std::unique_ptr<engine::Journal> open_journal(const engine::Config& config) {
  const std::filesystem::path folder = engine::effective_state_dir(config.daemon);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  base::require(!error, "daemon.state_dir: cannot make {}: {}", folder.native(), error.message());
  const std::filesystem::path path = folder / "journal.sqlite";
  auto journal = std::make_unique<engine::Journal>(
      path, engine::Journal::Options{.keep_results = config.reliability.keep_results,
                                     .max_results = config.reliability.max_results,
                                     .clock = {}});
  base::process_log().info({}, "journal in {}", path.native());
  if (!journal->recovered().empty()) base::process_log().error({}, "{}", journal->recovered());
  return journal;
}

/// Reads the configuration again and has the running parts take over what they
/// can.
void reload(const DaemonOptions& options, engine::Config& running, engine::Engine& engine,
            service::Daemon& daemon) {
  auto& log = base::process_log();
  const engine::LoadedConfig loaded = load(options);
  service::check_listening(loaded.config.daemon);  // what the next start would do
  daemon.reconfigure(loaded.config);
  for (const engine::Notice& notice : loaded.notices) log.warn({}, "{}", notice.line());
  const std::vector<engine::ConfigChange> changes = engine::config_changes(running, loaded.config);
  for (const std::string& setting : engine.reconfigure(loaded.config))
    log.warn({}, "{} takes effect at the next start", setting);
  configure_log(loaded.config.logging);
  for (const engine::ConfigChange& change : changes)
    log.info({}, "{}: {} was {}", change.setting, change.after, change.before);
  log.info({}, "configuration read again: {} settings differ", changes.size());
  running = loaded.config;
}

void run_daemon(const DaemonOptions& options) {
  engine::LoadedConfig loaded = load(options);
  if (options.print) {
    fmt::print("{}", engine::print_config(loaded.config));
    return;
  }
  service::check_listening(loaded.config.daemon);
  if (options.check) {
    for (const engine::Notice& notice : loaded.notices) fmt::print("note: {}\n", notice.line());
    fmt::print("{}: fine\n", options.config.empty() ? "configuration" : options.config);
    return;
  }
  service::Daemon::block_signals();
  configure_log(loaded.config.logging);
  log_start(loaded);
  engine::Config running = loaded.config;
  auto devices = make_devices(running);
  engine::Engine engine(running, std::move(devices), open_journal(running));
  service::EngineAdapter api(engine);
  log_devices(engine.status());
  service::Daemon daemon(api, running, {.reload = [&](service::Daemon& self) {
                           reload(options, running, engine, self);
                         }});
  const std::string restart_because = daemon.run();
  if (!restart_because.empty()) throw base::cuda::DeviceLost(restart_because);
}

std::string gibibytes(std::uint64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (std::uint64_t{1} << 30));
}

/// One line: what a circuit needs on a device, and how many of its partitions
/// fit at once.
void print_fit(const engine::ProvingDevice::Circuit& circuit, engine::ProvingDevice& device,
               std::uint64_t host_budget, std::optional<std::uint64_t> device_budget) {
  const auto needs = device.needs(circuit);
  const std::uint64_t on_device = device_budget.value_or(device.memory_total());
  std::string verdict;
  if (needs.host_key + needs.host_partition > host_budget) {
    verdict = "does NOT fit: host memory";
  } else if (!device.info().is_cpu && needs.device > on_device) {
    verdict = "does NOT fit: device memory";
  } else {
    const std::uint64_t partitions =
        (host_budget - needs.host_key) / std::max<std::uint64_t>(needs.host_partition, 1);
    verdict = fmt::format("fits, {} partitions in host memory at once",
                          std::min<std::uint64_t>(partitions, 1000));
  }
  fmt::print("{:<13} {:<8} {:>12} {:>12} {:>12}  {}\n",
             engine::CircuitId{circuit.kind, circuit.size}.to_string(), device.info().name,
             gibibytes(needs.host_key), gibibytes(needs.host_partition), gibibytes(needs.device),
             verdict);
}

void run_plan(const DaemonOptions& options) {
  const engine::LoadedConfig loaded = load(options);
  for (const engine::Notice& notice : loaded.notices) fmt::print("note: {}\n", notice.line());
  const engine::Config& config = loaded.config;
  const engine::HostBudget host = engine::host_budget(config.memory, engine::read_host_memory());
  fmt::print("{}\nparameters in {} (from {})\n\n", host.explanation,
             config.srs.param_cache.native(), config.srs.param_cache_source);
  const auto devices = make_devices(config);
  const auto parameters = engine::make_parameter_store(config.srs, config.pipeline.quotient);
  const auto expected = engine::expected_circuits(config.srs, *parameters);
  for (const auto& device : devices) device->expect(expected.circuits, expected.stays);
  fmt::print("{:<13} {:<8} {:>12} {:>12} {:>12}\n", "circuit", "device", "key", "partition",
             "on device");
  for (const engine::CircuitId& circuit : engine::CircuitId::of_network()) {
    const engine::ParameterStore::State state = parameters->state(circuit);
    if (!engine::has_files(state.readiness) && !options.all) {
      fmt::print("{:<13} {}\n", circuit.to_string(), state.detail);
      continue;
    }
    try {
      engine::ProvingDevice::Circuit wanted{circuit.kind, circuit.size, config.srs.param_cache};
      if (!engine::has_files(state.readiness))
        wanted.counts = engine::key_counts_of(filecoin::build_shape(circuit.kind, circuit.size));
      for (const auto& device : devices)
        print_fit(wanted, *device, host.bytes, config.gpus.vram_budget.bytes);
    } catch (const std::exception& error) {
      fmt::print("{:<13} {}\n", circuit.to_string(), error.what());
    }
  }
}

void add_config_option(CLI::App& command, DaemonOptions& options) {
  command.add_option("-c,--config", options.config,
                     fmt::format("TOML file (default: {}, if it is there)", kDefaultConfig));
}

void add_daemon_options(CLI::App& command, DaemonOptions& options) {
  add_config_option(command, options);
  command.add_option("-l,--listen", options.listen, "Instead of daemon.listen");
  command.add_option("--log-level", options.log_level, "Instead of logging.level");
  command.add_flag("--check-config", options.check,
                   "Read the configuration, say what is wrong with it, and end");
  command.add_flag("--print-config", options.print, "Print the effective configuration and end");
}

}  // namespace

void add_daemon_command(CLI::App& app) {
  app.set_version_flag("--version", CUZK_VERSION);
  auto options = std::make_shared<DaemonOptions>();
  CLI::App* command = app.add_subcommand("daemon", "Serve proofs until a signal ends it");
  add_daemon_options(*command, *options);
  command->callback([options] { run_daemon(*options); });

  // `cuzk --config F` means the same, as the Rust daemon's command line.
  auto bare = std::make_shared<DaemonOptions>();
  add_daemon_options(app, *bare);
  app.callback([&app, bare] {
    if (!app.get_subcommands().empty()) return;
    if (bare->config.empty()) throw CLI::RequiredError("A subcommand, or --config,");
    run_daemon(*bare);
  });

  auto plan = std::make_shared<DaemonOptions>();
  CLI::App* plan_command = app.add_subcommand("plan",
                                              "What a configuration means on this machine: "
                                              "budgets, circuits, what fits");
  add_config_option(*plan_command, *plan);
  plan_command->add_flag("--all", plan->all,
                         "Also circuits whose parameters are not there (takes seconds each)");
  plan_command->callback([plan] { run_plan(*plan); });
}

}  // namespace cuzk::cli
