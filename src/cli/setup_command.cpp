#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "cli/backend.hpp"
#include "cli/commands.hpp"
#include "cli/key_store.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "groth16/key_check.hpp"
#include "groth16/setup.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace cuzk::cli {

namespace {

struct SetupOptions {
  BackendOptions backend;
  std::string circuit, sector_size, params_dir, trapdoor;
  std::optional<std::uint64_t> seed;
  bool no_derived = false, force = false;
};

constexpr std::string_view kWarning =
    "This is an INSECURE development key. Its trapdoor is known, so that anyone can forge proofs "
    "for it.\n"
    "No network accepts proofs made with it. Never use it for anything but tests.\n";

groth16::Trapdoor make_trapdoor(const SetupOptions& options) {
  if (options.trapdoor.empty()) return groth16::Trapdoor::from_seed(options.seed.value_or(0));
  const base::MappedFile file(options.trapdoor);
  return base::read_mapped(file, [&] {
    return groth16::Trapdoor::from_json(base::as_text(file.bytes()), options.trapdoor);
  });
}

void setup(const SetupOptions& options) {
  const auto circuit = filecoin::parse_circuit_kind(options.circuit);
  const auto size = filecoin::SectorSize::parse(options.sector_size);
  base::require(filecoin::circuit_exists(circuit, size), "there is no {} circuit for {}",
                options.circuit, options.sector_size);
  base::require(!options.seed || options.trapdoor.empty(),
                "--seed and --trapdoor exclude each other");
  const KeyPaths paths(options.params_dir, circuit, size);
  for (const std::filesystem::path& path : {paths.params, paths.verifying_key, paths.derived}) {
    base::require(options.force || !std::filesystem::exists(path),
                  "{}: exists already, and may be the network's key; remove it or give --force",
                  path.string());
  }
  const groth16::Trapdoor trapdoor = make_trapdoor(options);
  std::error_code ignored;
  std::filesystem::create_directories(options.params_dir, ignored);
  {
    base::FileWriter marker(paths.development_marker);
    marker.write(base::as_bytes(kWarning));
    marker.commit();
  }
  if (options.no_derived) std::filesystem::remove(paths.derived, ignored);
  const groth16::SetupFiles files = {paths.params, paths.verifying_key,
                                     options.no_derived ? std::filesystem::path() : paths.derived};
  write_development_keys(filecoin::build_shape(circuit, size), trapdoor, files, options.backend);
  // What was just made need not be checked point by point at the daemon's start.
  groth16::record_checked_key(paths.params);
  if (!options.no_derived) groth16::record_checked_key(paths.derived);
  fmt::print("{}\n{}\n", paths.params.string(), paths.verifying_key.string());
  if (!options.no_derived) fmt::print("{}\n", paths.derived.string());
  fmt::print(stderr, "cuzk: WARNING: {}", kWarning);
}

}  // namespace

void add_setup_command(CLI::App& app) {
  auto options = std::make_shared<SetupOptions>();
  CLI::App* command =
      app.add_subcommand("setup", "Make an INSECURE development key under the official file names");
  command
      ->add_option("--circuit", options->circuit,
                   "porep, winning-post, window-post, update or update-poseidon")
      ->required();
  command->add_option("--sector-size", options->sector_size, "2KiB ... 64GiB")->required();
  command->add_option("--params-dir", options->params_dir, "Folder to write to")->required();
  command->add_option("--seed", options->seed,
                      "Number that the trapdoor is derived from (default 0)");
  command->add_option("--trapdoor", options->trapdoor,
                      "JSON file with g1, g2, alpha, beta, gamma, delta, tau");
  command->add_flag("--no-derived", options->no_derived,
                    "Do not make the derived key of the faster prover");
  command->add_flag("--force", options->force, "Overwrite existing files");
  add_device_options(*command, options->backend);
  command->callback([options] { setup(*options); });
}

}  // namespace cuzk::cli
