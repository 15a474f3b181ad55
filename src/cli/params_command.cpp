#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/key_store.hpp"
#include "filecoin/circuit/circuits.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cuzk::cli {

namespace {

using filecoin::CircuitKind;
using filecoin::SectorSize;

struct Options {
  std::string params_dir, circuit, sector_size;
};

struct Entry {
  CircuitKind circuit;
  SectorSize size;
};

std::vector<Entry> chosen(const Options& options) {
  const auto circuit = options.circuit.empty()
                           ? std::nullopt
                           : std::optional(filecoin::parse_circuit_kind(options.circuit));
  const auto size = options.sector_size.empty()
                        ? std::nullopt
                        : std::optional(SectorSize::parse(options.sector_size));
  std::vector<Entry> out;
  for (const CircuitKind kind : filecoin::all_circuit_kinds()) {
    for (const SectorSize candidate : SectorSize::all()) {
      const bool wanted = circuit.value_or(kind) == kind && size.value_or(candidate) == candidate;
      if (wanted && filecoin::circuit_exists(kind, candidate)) out.push_back({kind, candidate});
    }
  }
  base::require(!out.empty(), "there is no {} circuit for {}", options.circuit,
                options.sector_size);
  return out;
}

std::string size_text(const std::filesystem::path& path) {
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(path, missing);
  return missing ? "missing" : fmt::format("{}", bytes);
}

void list(const Options& options) {
  fmt::print("{:<16} {:>7} {:>14} {:>8} {:>14}  file\n", "circuit", "sector", "params", "vk",
             "derivative");
  for (const Entry& entry : chosen(options)) {
    const KeyPaths paths(options.params_dir, entry.circuit, entry.size);
    fmt::print("{:<16} {:>7} {:>14} {:>8} {:>14}  {}\n", filecoin::to_string(entry.circuit),
               entry.size.to_string(), size_text(paths.params), size_text(paths.verifying_key),
               size_text(paths.derived), paths.params.filename().string());
  }
}

// What is to say about one circuit's files; empty if there are none. Throws if they are damaged.
std::optional<KeyOrigin> check_files(const Entry& entry, const KeyPaths& paths) {
  if (!std::filesystem::exists(paths.params)) return std::nullopt;
  const r1cs::Shape shape = filecoin::build_shape(entry.circuit, entry.size);
  const groth16::KeyFile file(paths.params);
  file.require_circuit(groth16::KeyLayout(shape, groth16::QuotientForm::kTextbook));
  const groth16::KeyCheck check = groth16::check_key(file);
  if (std::filesystem::exists(paths.verifying_key) &&
      groth16::read_verifying_key(paths.verifying_key) != file.verifying_key()) {
    base::fail<base::CorruptData>("{}: not the verifying key of {}", paths.verifying_key.string(),
                                  file.name());
  }
  if (std::filesystem::exists(paths.derived)) {
    const groth16::DerivedKeyFile derived(paths.derived);
    derived.require_source(file, groth16::KeyLayout(shape, groth16::QuotientForm::kDerivative));
    groth16::check_key(derived);
  }
  const auto published = filecoin::published_digests(entry.circuit, entry.size);
  return key_origin(paths, published ? std::optional(published->params) : std::nullopt,
                    check.blake2b);
}

void check(const Options& options) {
  std::size_t found = 0, damaged = 0;
  for (const Entry& entry : chosen(options)) {
    const KeyPaths paths(options.params_dir, entry.circuit, entry.size);
    const std::string name =
        fmt::format("{} {}", filecoin::to_string(entry.circuit), entry.size.to_string());
    try {
      const std::optional<KeyOrigin> origin = check_files(entry, paths);
      if (!origin) continue;
      ++found;
      fmt::print("{}: intact; {}\n", name, describe(*origin));
    } catch (const base::CorruptData& error) {
      ++found;
      ++damaged;
      fmt::print("{}: DAMAGED: {}\n", name, error.what());
    }
  }
  base::require(found > 0, "{}: no parameter file that is asked for", options.params_dir);
  if (damaged > 0)
    base::fail<base::CorruptData>("{}: {} of {} keys are damaged", options.params_dir, damaged,
                                  found);
}

void derive(const Options& options) {
  base::require(!options.circuit.empty() && !options.sector_size.empty(),
                "params derive needs --circuit and --sector-size");
  const Entry entry = chosen(options).front();
  const KeyPaths paths(options.params_dir, entry.circuit, entry.size);
  base::require(std::filesystem::exists(paths.params), "{}: there is no such file",
                paths.params.string());
  const r1cs::Shape shape = filecoin::build_shape(entry.circuit, entry.size);
  const groth16::KeyFile file(paths.params);
  groth16::derive_key(shape, groth16::KeyLayout(shape, groth16::QuotientForm::kDerivative), file,
                      paths.derived);
  fmt::print("{}\n", paths.derived.string());
}

}  // namespace

void add_params_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("params", "Look after a folder of parameter files");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* text, void (*run)(const Options&)) {
    CLI::App* sub = command->add_subcommand(name, text);
    sub->add_option("--params-dir", options->params_dir, "The folder")->required();
    sub->add_option("--circuit", options->circuit, "Only this circuit");
    sub->add_option("--sector-size", options->sector_size, "Only this sector size");
    sub->callback([options, run] { run(*options); });
  };
  add("list", "What is there and what is missing", list);
  add("check", "Whether the files that are there are intact, and whose they are", check);
  add("derive", "Make the derived key of the faster prover from a parameter file (small circuits)",
      derive);
}

}  // namespace cuzk::cli
