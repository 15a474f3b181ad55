#include "base/error.hpp"
#include "cli/commands.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuzk::cli {

namespace {

struct KernelsOptions {
  std::vector<std::string> suites;
  std::string json;
  int device = 0, max_log = 27, runs = 5;
};

/// Becomes cuzk_gpu_check, which has all kernels and what to compare them with and would make this
/// program several times its size.
[[noreturn]] void bench_kernels(const KernelsOptions& options) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path program = self.parent_path() / "cuzk_gpu_check";
  base::require(!error && std::filesystem::exists(program, error),
                "{}: not there: the kernels' benchmark is a program of its own, which the target "
                "`bundle` of the build preset `gpu-bundle` puts beside cuzk",
                program.string());
  std::vector<std::string> arguments = {program.string(),
                                        "--mode",
                                        "time",
                                        "--device",
                                        std::to_string(options.device),
                                        "--max-log",
                                        std::to_string(options.max_log),
                                        "--runs",
                                        std::to_string(options.runs)};
  if (!options.json.empty()) {
    arguments.push_back("--json");
    arguments.push_back(options.json);
  }
  for (const std::string& suite : options.suites) {
    arguments.push_back("--suite");
    arguments.push_back(suite);
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  base::fail<base::InvalidInput>("{}: cannot be run: {}", program.string(), std::strerror(errno));
}

}  // namespace

void add_bench_kernels_command(CLI::App& bench) {
  auto options = std::make_shared<KernelsOptions>();
  CLI::App* command = bench.add_subcommand(
      "kernels",
      "Each operation on a GPU at sizes up to 2^27: times, rates, and whether the result is right");
  command->add_option("--suite", options->suites, "Only these (default: all)")->delimiter(',');
  command->add_option("--device", options->device, "CUDA device")->capture_default_str();
  command->add_option("--max-log", options->max_log, "Largest log2 of a size")
      ->capture_default_str();
  command->add_option("--runs", options->runs, "Timed runs of each")->capture_default_str();
  command->add_option("--json", options->json, "File for the results");
  command->callback([options] { bench_kernels(*options); });
}

}  // namespace cuzk::cli
