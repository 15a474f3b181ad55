#include "cli/load/options.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "cli/client_options.hpp"
#include "cli/devices.hpp"
#include "cli/input_file.hpp"
#include "cli/load/daemon_target.hpp"
#include "cli/load/engine_target.hpp"
#include "cli/load/proof_check.hpp"
#include "engine/config_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace cuzk::cli::load {

namespace {

struct WeightedKind {
  engine::ProofKind kind;
  double weight = 1;
};

WeightedKind parse_weighted(const std::string& text) {
  const std::size_t equals = text.find('=');
  WeightedKind parsed{parse_kind(text.substr(0, equals))};
  if (equals == std::string::npos) return parsed;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, parsed.weight);
  base::require(error == std::errc() && rest == end && parsed.weight > 0,
                "--kind {}: the weight must be a number above 0", text);
  return parsed;
}

/// The payloads of files, all of one kind.
MixItem read_payloads(engine::ProofKind kind, const JobOptions& options,
                      engine::Preparation& preparation) {
  const bool is_porep = kind == engine::ProofKind::kPorep;
  base::require(is_porep == !options.c1.empty() && is_porep == options.vanilla.empty(),
                "porep takes --c1, the other kinds take --vanilla and --meta");
  std::optional<filecoin::Meta> meta;
  if (!options.meta.empty()) meta = read_meta_file(options.meta);
  MixItem item;
  for (const std::string& path : is_porep ? options.c1 : std::vector{options.vanilla}) {
    item.payloads.push_back(read_input(path, [&](base::ByteView bytes) {
      return std::make_shared<const Payload>(
          make_payload(to_request(kind, bytes, meta, options.meta_section), preparation));
    }));
  }
  return item;
}

engine::Config read_config(const TargetOptions& options) {
  engine::Config config = options.config.empty() ? engine::default_config().config
                                                 : engine::load_config(options.config).config;
  if (!options.params_dir.empty()) config.srs.param_cache = options.params_dir;
  for (const std::string& assignment : options.settings) set(config, assignment);
  return config;
}

}  // namespace

void add_job_options(CLI::App& command, JobOptions& options) {
  command
      .add_option("--kind", options.kinds,
                  "porep, winning-post, window-post or snap; several for a mixture, each with a "
                  "weight if wanted: winning-post=3")
      ->required();
  command.add_option("--sector-size", options.sector_size,
                     "Of sectors that do not exist: 2KiB ... 64GiB");
  command.add_option("--sectors", options.sectors,
                     "window-post: number of sectors (default: a full partition)");
  command
      .add_option("--distinct", options.distinct,
                  "Different payloads of each kind; jobs take them in turns")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", options.seed, "Of payloads and choices")->capture_default_str();
  command.add_option("--c1", options.c1, "porep: C1 outputs, instead of --sector-size");
  command.add_option("--vanilla", options.vanilla,
                     "Vanilla proofs of the other kinds, instead of --sector-size");
  command.add_option("--meta", options.meta, "JSON of their public values");
  command.add_option("--meta-section", options.meta_section,
                     "PoSt of the meta file (default window or winning)");
}

std::vector<MixItem> make_mix(const JobOptions& options, std::uint64_t jobs) {
  const auto preparation = engine::make_filecoin_preparation();
  const bool from_files = !options.c1.empty() || !options.vanilla.empty();
  base::require(from_files != !options.sector_size.empty(),
                "give either --sector-size or files (--c1, or --vanilla and --meta)");
  std::vector<MixItem> mix;
  if (from_files) {
    base::require(options.kinds.size() == 1, "files are of one --kind");
    mix.push_back(read_payloads(parse_weighted(options.kinds[0]).kind, options, *preparation));
    return mix;
  }
  const auto size = filecoin::SectorSize::parse(options.sector_size);
  const std::size_t count =
      jobs == 0 ? options.distinct : std::min<std::size_t>(options.distinct, jobs);
  for (const std::string& text : options.kinds) {
    const WeightedKind kind = parse_weighted(text);
    MixItem item{.weight = kind.weight, .payloads = {}};
    const bool is_window = kind.kind == engine::ProofKind::kWindowPost;
    const SyntheticPlan plan{kind.kind, size, is_window ? options.sectors : std::nullopt};
    for (std::size_t i = 0; i < count; ++i) {
      item.payloads.push_back(
          std::make_shared<const Payload>(synthetic_payload(plan, options.seed + i, *preparation)));
    }
    mix.push_back(std::move(item));
  }
  return mix;
}

void add_common_target_options(CLI::App& command, TargetOptions& options) {
  add_client_options(command, options.client);
  command.add_option("--config", options.config,
                     "Configuration of the engine in this process, where there is no address");
  command.add_option("--params-dir", options.params_dir,
                     "Folder of the parameter files; for a daemon the .vk files are enough");
}

void add_target_options(CLI::App& command, TargetOptions& options) {
  command.add_option("--addr", options.client.address,
                     "Where the daemon listens (default: an engine in this process)");
  command.add_option("--set", options.settings,
                     "Setting of the engine in this process: section.key=value");
  add_common_target_options(command, options);
}

std::unique_ptr<Target> make_target(const TargetOptions& options) {
  if (!options.client.address.empty()) {
    base::require(options.config.empty() && options.settings.empty(),
                  "--config and --set are of an engine in this process, not of a daemon");
    return make_daemon_target(options.client);
  }
  const engine::Config config = read_config(options);
  const auto level = base::parse_log_level(config.logging.level);
  base::process_log().set_level(options.config.empty() ? base::LogLevel::kError
                                                       : level.value_or(base::LogLevel::kInfo));
  std::string name = "in process";
  for (const std::string& assignment : options.settings) name += " " + assignment;
  return make_engine_target(std::move(name), config, cli::make_devices(config));
}

ProofCheck make_check(const TargetOptions& options) {
  if (!options.params_dir.empty()) return make_proof_check(options.params_dir);
  base::require(options.client.address.empty(),
                "every answer is verified: --params-dir must name a folder with the .vk files");
  return make_proof_check(read_config(options).srs.param_cache);
}

std::string fresh_id_prefix() {
  base::Bytes random(6);
  base::random_bytes(random);
  return "bench-" + base::to_hex(random);
}

void write_json(const std::string& path, const nlohmann::ordered_json& json) {
  if (path.empty()) return;
  base::FileWriter writer(path);
  writer.write(base::as_bytes(json.dump(1) + "\n"));
  writer.commit();
}

}  // namespace cuzk::cli::load
