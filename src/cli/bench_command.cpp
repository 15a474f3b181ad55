#include "base/error.hpp"
#include "base/stage_timer.hpp"
#include "cli/backend.hpp"
#include "cli/commands.hpp"
#include "cli/load/options.hpp"
#include "cli/proof_pipeline.hpp"
#include "cli/proof_request.hpp"
#include "cli/synthetic_vanilla.hpp"
#include "filecoin/circuit/circuits.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuzk::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct SingleOptions {
  std::string kind, sector_size, params_dir, json;
  std::uint64_t seed = 1;
  std::size_t partitions = 0;  // 0: all of the statement's
  std::optional<std::size_t> sectors;
  unsigned runs = 5;
  BackendOptions backend;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- Memory of the process

/// The most physical memory that this process has had at a time, since reset_peak_memory().
std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}
void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

struct RunResult {
  double seconds = 0;
  double parse_milliseconds = 0;
  std::vector<ProvedPartition> partitions;
};

// ---- Results

struct Spread {
  double median = 0, least = 0, most = 0;

  explicit Spread(std::vector<double> values) {
    if (values.empty()) return;
    std::ranges::sort(values);
    median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
    least = values.front();
    most = values.back();
  }
  nlohmann::ordered_json json() const {
    return {{"median", median}, {"min", least}, {"max", most}};
  }
};

/// Milliseconds of each stage, over all partitions of all runs, in order of first use.
std::vector<std::pair<std::string, Spread>> stage_table(const std::vector<RunResult>& runs) {
  std::vector<std::pair<std::string, std::vector<double>>> all = {{"parse", {}}};
  for (const RunResult& run : runs) {
    all.front().second.push_back(run.parse_milliseconds);
    for (const ProvedPartition& partition : run.partitions) {
      for (const base::StageTimer::Entry& entry : partition.timer.entries()) {
        auto row = std::ranges::find(all, std::string(entry.stage),
                                     &std::pair<std::string, std::vector<double>>::first);
        if (row == all.end()) row = all.insert(all.end(), {std::string(entry.stage), {}});
        row->second.push_back(std::chrono::duration<double, std::milli>(entry.time).count());
      }
    }
  }
  std::vector<std::pair<std::string, Spread>> table;
  for (auto& [stage, values] : all) table.emplace_back(stage, Spread(std::move(values)));
  return table;
}

/// Seconds between one finished partition and the next, a run's mean: where several are in flight
/// they finish in bunches.
Spread steady_state(const std::vector<RunResult>& runs) {
  std::vector<double> means;
  for (const RunResult& run : runs) {
    if (run.partitions.size() < 2) continue;
    const std::size_t gaps = run.partitions.size() - 1;
    const auto time = run.partitions.back().finished - run.partitions.front().finished;
    means.push_back(std::chrono::duration<double>(time).count() / static_cast<double>(gaps));
  }
  return Spread(std::move(means));
}

Spread wall_time(const std::vector<RunResult>& runs) {
  std::vector<double> seconds;
  for (const RunResult& run : runs) seconds.push_back(run.seconds);
  return Spread(std::move(seconds));
}

struct Preparation {
  double vanilla_seconds = 0, shape_seconds = 0, key_seconds = 0;
  std::size_t vanilla_bytes = 0, peak_bytes = 0;
};

void report(const SingleOptions& options, const Preparation& preparation,
            const LoadedProver& prover, std::size_t partitions,
            const std::vector<RunResult>& runs) {
  const std::size_t peak = peak_memory();
  const Spread wall = wall_time(runs), steady = steady_state(runs);
  const auto table = stage_table(runs);
  const std::string_view backend = chosen_backend(options.backend);
  fmt::print("{} {} on {}, {} partitions, {} runs, every proof verified\n", options.kind,
             options.sector_size, backend, partitions, runs.size());
  fmt::print("from the vanilla proof's bytes to verified proofs: {:.3f} s [{:.3f} {:.3f}]\n",
             wall.median, wall.least, wall.most);
  if (partitions > 1) {
    fmt::print("from one partition to the next: {:.3f} s [{:.3f} {:.3f}]\n", steady.median,
               steady.least, steady.most);
  }
  for (const auto& [stage, ms] : table) {
    fmt::print("  {:<20} {:>10.2f} ms [{:.2f} {:.2f}]\n", stage, ms.median, ms.least, ms.most);
  }
  fmt::print("host memory, peak: {:.0f} MiB proving, {:.0f} MiB preparing\n",
             static_cast<double>(peak) / (1 << 20),
             static_cast<double>(preparation.peak_bytes) / (1 << 20));
  if (!prover.description.empty()) fmt::print("device memory: {}\n", prover.description);
  fmt::print("prepared in: vanilla proof {:.1f} s ({} bytes), shape {:.1f} s, key {:.1f} s\n",
             preparation.vanilla_seconds, preparation.vanilla_bytes, preparation.shape_seconds,
             preparation.key_seconds);
  if (options.json.empty()) return;
  nlohmann::ordered_json stages;
  for (const auto& [stage, ms] : table) stages[stage] = ms.json();
  const nlohmann::ordered_json json = {{"kind", options.kind},
                                       {"sector_size", options.sector_size},
                                       {"backend", backend},
                                       {"quotient", options.backend.quotient},
                                       {"partitions", partitions},
                                       {"runs", runs.size()},
                                       {"wall_s", wall.json()},
                                       {"partition_s", steady.json()},
                                       {"stages_ms", stages},
                                       {"peak_host_bytes", peak},
                                       {"peak_host_bytes_preparing", preparation.peak_bytes},
                                       {"device_bytes", prover.device_bytes},
                                       {"device_memory", prover.description},
                                       {"vanilla_s", preparation.vanilla_seconds},
                                       {"shape_s", preparation.shape_seconds},
                                       {"key_s", preparation.key_seconds}};
  load::write_json(options.json, json);
}

// ---- cuzk bench single

ProofRequest parse_request(ProofKind kind, const SyntheticVanilla& vanilla) {
  if (kind == ProofKind::kPorep) return porep_request(vanilla.proof);
  return vanilla_request(kind, base::as_bytes(vanilla.proof), filecoin::decode_meta(vanilla.meta));
}

void bench_single(const SingleOptions& options) {
  const ProofKind kind = parse_proof_kind(options.kind);
  const auto size = filecoin::SectorSize::parse(options.sector_size);
  chosen_backend(options.backend);  // complains before the work
  Preparation preparation;
  const auto timed = [](double& seconds, auto&& work) {
    const Clock::time_point start = Clock::now();
    auto result = work();
    seconds = seconds_since(start);
    return result;
  };
  const SyntheticVanilla vanilla = timed(preparation.vanilla_seconds, [&] {
    SyntheticOptions synthetic;
    synthetic.kind = options.kind;
    synthetic.seed = options.seed;
    synthetic.sectors = options.sectors;
    return make_synthetic_vanilla(synthetic, size);
  });
  preparation.vanilla_bytes = vanilla.proof.size();
  const std::size_t partitions = options.partitions != 0
                                     ? options.partitions
                                     : parse_request(kind, vanilla).statement.public_inputs.size();
  const BackendOptions backend = options.backend.for_partitions(partitions);
  const filecoin::CircuitKind circuit = circuit_of(kind);
  const r1cs::Shape shape =
      timed(preparation.shape_seconds, [&] { return filecoin::build_shape(circuit, size); });
  LoadedProver prover = timed(preparation.key_seconds, [&] {
    if (options.params_dir.empty()) {
      return make_development_prover(circuit, shape, groth16::Trapdoor::from_seed(options.seed),
                                     backend);
    }
    return load_prover(KeyPaths(options.params_dir, circuit, size), circuit, size, shape, backend);
  });
  preparation.peak_bytes = peak_memory();
  reset_peak_memory();
  std::vector<RunResult> runs;
  for (unsigned i = 0; i < options.runs; ++i) {
    const Clock::time_point start = Clock::now();
    RunResult run;
    const ProofRequest request = parse_request(kind, vanilla);
    run.parse_milliseconds = 1e3 * seconds_since(start);
    run.partitions =
        prove_partitions(shape, prover, request, partitions, groth16::Blinding::random);
    run.seconds = seconds_since(start);
    runs.push_back(std::move(run));
    fmt::print(stderr, "run {}: {:.3f} s\n", i + 1, runs.back().seconds);
  }
  report(options, preparation, prover, partitions, runs);
}

}  // namespace

void add_bench_command(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measurements");
  bench->require_subcommand(1);
  add_bench_batch_command(*bench);
  add_bench_stress_command(*bench);
  add_bench_ab_command(*bench);
  add_bench_kernels_command(*bench);
  auto options = std::make_shared<SingleOptions>();
  CLI::App* command = bench->add_subcommand(
      "single", "One proof after the other of a sector that does not exist, as fast as they go");
  command->add_option("--kind", options->kind, "porep, winning-post, window-post or snap")
      ->required();
  command->add_option("--sector-size", options->sector_size, "2KiB ... 64GiB")->required();
  command->add_option("--partitions", options->partitions,
                      "Partitions a run (default: those of one proof)");
  command->add_option("--sectors", options->sectors,
                      "window-post: number of sectors (default: a full partition)");
  command->add_option("--runs", options->runs, "Runs")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--seed", options->seed, "Of the vanilla proof and the development key")
      ->capture_default_str();
  command->add_option("--params-dir", options->params_dir,
                      "Folder of parameter files (default: a development key made for the run)");
  command->add_option("--json", options->json, "File for the results");
  add_backend_options(*command, options->backend);
  command->callback([options] { bench_single(*options); });
}

}  // namespace cuzk::cli
