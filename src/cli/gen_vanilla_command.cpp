#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/synthetic_vanilla.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

namespace cuzk::cli {

namespace {

struct GenVanillaOptions {
  SyntheticOptions vanilla;
  std::string sector_size, out;
};

void write_file(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  base::require(file.is_open(), "cannot create {}: {}", path, std::strerror(errno));
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) base::fail<base::ResourceExhausted>("cannot write {}: {}", path, std::strerror(errno));
}

void run(const GenVanillaOptions& options) {
  const SyntheticVanilla generated =
      make_synthetic_vanilla(options.vanilla, filecoin::SectorSize::parse(options.sector_size));
  const std::string meta_path = options.out + ".meta.json";
  write_file(options.out, generated.proof);
  write_file(meta_path, generated.meta);
  fmt::print("{}: {} bytes, public values in {}\n", options.out, generated.proof.size(), meta_path);
}

}  // namespace

void add_gen_vanilla_command(CLI::App& app) {
  auto options = std::make_shared<GenVanillaOptions>();
  CLI::App* command = app.add_subcommand(
      "gen-vanilla",
      "A valid vanilla proof of a sector that does not exist, for tests and benchmarks");
  command->add_option("kind", options->vanilla.kind, "porep, winning-post, window-post or snap")
      ->required()
      ->check(CLI::IsMember({"porep", "winning-post", "window-post", "snap"}));
  command->add_option("--sector-size", options->sector_size, "2KiB ... 64GiB")->required();
  command->add_option("--seed", options->vanilla.seed,
                      "The proof is a function of the seed and the other options");
  command
      ->add_option("--out", options->out, "File to write; the public values go to <file>.meta.json")
      ->required();
  command->add_option("--miner-id", options->vanilla.miner_id, "Actor number of the miner")
      ->capture_default_str();
  command
      ->add_option("--sector-number", options->vanilla.sector_number,
                   "Number of the (first) sector")
      ->capture_default_str();
  command->add_option(
      "--registered-proof", options->vanilla.registered_proof,
      "porep: name or number of the registered seal proof (default: the size's interactive V1_1)");
  command->add_flag("--bare", options->vanilla.bare,
                    "porep: the C1 output alone, without Curio's envelope");
  command->add_option("--sectors", options->vanilla.sectors,
                      "window-post: number of sectors (default: a full partition)");
  command->add_option("--api", options->vanilla.api_version,
                      "window-post: version of the challenges, 1.0.0 ... (default 1.2.0)");
  command->callback([options] { run(*options); });
}

}  // namespace cuzk::cli
