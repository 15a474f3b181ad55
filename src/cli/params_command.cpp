#include "base/error.hpp"
#include "cli/backend.hpp"
#include "cli/commands.hpp"
#include "cli/key_store.hpp"
#include "curve/g1.hpp"
#include "engine/host_memory.hpp"
#include "engine/key_files.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "groth16/derivation.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::cli {

namespace {

using filecoin::CircuitKind;
using filecoin::SectorSize;

struct ParamsOptions {
  std::string params_dir, circuit, sector_size;
  BackendOptions backend;  ///< of derive
};

/// Domains up to this are derived in minutes without a device.
constexpr unsigned kLargestQuickDomain = 17;

struct Entry {
  CircuitKind circuit;
  SectorSize size;
};

std::vector<Entry> chosen(const ParamsOptions& options) {
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

using engine::is_there;

void require_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator(folder, error);
  base::require(!error, "--params-dir {}: no folder that can be read: {}", folder, error.message());
}

std::string size_text(const std::filesystem::path& path) {
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(path, missing);
  return missing ? "missing" : fmt::format("{}", bytes);
}

void list(const ParamsOptions& options) {
  fmt::print("{:<16} {:>7} {:>14} {:>8} {:>14}  file\n", "circuit", "sector", "params", "vk",
             "derivative");
  for (const Entry& entry : chosen(options)) {
    const KeyPaths paths(options.params_dir, entry.circuit, entry.size);
    fmt::print("{:<16} {:>7} {:>14} {:>8} {:>14}  {}\n", filecoin::to_string(entry.circuit),
               entry.size.to_string(), size_text(paths.params), size_text(paths.verifying_key),
               size_text(paths.derived), paths.params.filename().string());
  }
}

// As the daemon judges them: of what the circuit's files are. Throws if they are damaged or
// foreign.
engine::KeyOrigin check_files(const Entry& entry, const engine::KeyPaths& paths) {
  engine::open_key(paths, filecoin::build_shape(entry.circuit, entry.size));
  return engine::inspect_key_files(paths, {entry.circuit, entry.size}, false, std::stop_token())
      .value();
}

void check(const ParamsOptions& options) {
  std::size_t found = 0, damaged = 0;
  for (const Entry& entry : chosen(options)) {
    const engine::KeyPaths paths(options.params_dir, {entry.circuit, entry.size});
    const std::string name =
        fmt::format("{} {}", filecoin::to_string(entry.circuit), entry.size.to_string());
    if (!is_there(paths.params)) {
      for (const auto* other : {&paths.verifying_key, &paths.derived}) {
        if (!is_there(*other)) continue;
        fmt::print("{}: MISSING: {}, beside {}; enough to verify, not to prove\n", name,
                   paths.params.filename().string(), other->filename().string());
        break;
      }
      continue;
    }
    ++found;
    try {
      const engine::KeyOrigin origin = check_files(entry, paths);
      fmt::print("{}: intact; {}{}\n", name, engine::describe(origin),
                 is_there(paths.verifying_key) ? "" : "; no .vk (verify takes it from .params)");
    } catch (const base::CorruptData& error) {
      ++damaged;
      fmt::print("{}: DAMAGED: {}\n", name, error.what());
    }
  }
  base::require(found > 0, "{}: no parameter file that is asked for", options.params_dir);
  if (damaged > 0) {
    base::fail<base::CorruptData>("{}: {} of {} keys are damaged or foreign", options.params_dir,
                                  damaged, found);
  }
}

// Hours of work are not to end with a full disk, nor minutes with a machine that swaps.
void require_room(const KeyPaths& paths, const groth16::KeyLayout& layout) {
  const std::uint64_t points =
      layout.num_rows + layout.num_inputs + std::uint64_t{layout.variables.num_aux()};
  const std::uint64_t disk = points * curve::G1Affine::kUncompressedBytes;
  std::error_code unknown;
  const std::filesystem::space_info space =
      std::filesystem::space(paths.derived.parent_path(), unknown);
  if (!unknown && space.available < disk) {
    base::fail<base::ResourceExhausted>(
        "{}: {:.1f} GB are free, the derived key takes {:.1f} GB: make room, or make it in another "
        "folder and copy it",
        paths.derived.parent_path().string(), static_cast<double>(space.available) * 1e-9,
        static_cast<double>(disk) * 1e-9);
  }
  const std::uint64_t needed = groth16::derivation_host_bytes(layout);
  const engine::HostMemory memory = engine::read_host_memory();
  if (memory.available != 0 && memory.available < needed) {
    base::fail<base::ResourceExhausted>(
        "making the derived key takes {:.1f} GB of memory, {:.1f} GB are available: make it on a "
        "machine with more and copy the file",
        static_cast<double>(needed) * 1e-9, static_cast<double>(memory.available) * 1e-9);
  }
}

/// A line for each step, with the time it took, and a percentage every tenth in between.
class ProgressLines {
 public:
  void show(std::string_view step, double share) {
    if (step != step_) {
      end_step();
      step_ = step;
      begin_ = std::chrono::steady_clock::now();
      tenths_ = 0;
      fmt::print(stderr, "{}", step);
    }
    for (; tenths_ < static_cast<int>(share * 10) && tenths_ < 10; ++tenths_)
      fmt::print(stderr, " {}%", (tenths_ + 1) * 10);
    std::fflush(stderr);
  }
  void end_step() {
    if (step_.empty()) return;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    fmt::print(stderr, " ({:.1f} s)\n", elapsed.count());
    step_.clear();
  }

 private:
  std::string step_;
  std::chrono::steady_clock::time_point begin_;
  int tenths_ = 0;
};

void derive(const ParamsOptions& options) {
  base::require(!options.circuit.empty() && !options.sector_size.empty(),
                "params derive needs --circuit and --sector-size");
  const Entry entry = chosen(options).front();
  const KeyPaths paths(options.params_dir, entry.circuit, entry.size);
  base::require(is_there(paths.params), "{}: there is no such file", paths.params.string());
  const r1cs::Shape shape = filecoin::build_shape(entry.circuit, entry.size);
  const groth16::KeyLayout layout(shape, groth16::QuotientForm::kDerivative);
  const groth16::KeyFile file(paths.params);
  file.require_circuit(layout);
  require_room(paths, layout);
  if (chosen_backend(options.backend) == "cpu" && layout.domain_log2 > kLargestQuickDomain) {
    fmt::print(stderr,
               "cuzk: WARNING: without a CUDA device this takes about {:.0f} hours of a core\n",
               groth16::cpu_derivation_seconds(layout) / 3600);
  }
  groth16::check_key(file);  // the transforms take points of order r
  const auto transforms =
      make_point_transforms(groth16::Domain(layout.domain_log2), options.backend);
  ProgressLines lines;
  groth16::derive_key(shape, layout, file, paths.derived, *transforms,
                      [&](std::string_view step, double share) { lines.show(step, share); });
  lines.end_step();
  groth16::record_checked_key(paths.derived);
  fmt::print("{}\n", paths.derived.string());
}

}  // namespace

void add_params_command(CLI::App& app) {
  auto options = std::make_shared<ParamsOptions>();
  CLI::App* command = app.add_subcommand("params", "Look after a folder of parameter files");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* text, void (*run)(const ParamsOptions&)) {
    CLI::App* sub = command->add_subcommand(name, text);
    sub->add_option("--params-dir", options->params_dir, "The folder")->required();
    sub->add_option("--circuit", options->circuit, "Only this circuit");
    sub->add_option("--sector-size", options->sector_size, "Only this sector size");
    sub->callback([options, run] {
      require_folder(options->params_dir);
      run(*options);
    });
    return sub;
  };
  add("list", "What is there and what is missing", list);
  add("check", "Whether the files that are there are intact, and whose they are", check);
  CLI::App* derive_command = add(
      "derive",
      "Make the derived key, with which proofs take two thirds of the time, from a parameter file",
      derive);
  add_device_options(*derive_command, options->backend);
}

}  // namespace cuzk::cli
