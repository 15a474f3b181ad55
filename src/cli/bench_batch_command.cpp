#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/load/options.hpp"
#include "cli/load/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace cuzk::cli {

namespace {

struct BatchOptions {
  load::JobOptions jobs;
  load::TargetOptions target;
  load::Load load;
  std::string json;
};

void run_batch(BatchOptions& options) {
  load::Load& load = options.load;
  load.mix = load::make_mix(options.jobs, load.jobs);
  load.seed = options.jobs.seed;
  load.id_prefix = load::fresh_id_prefix();
  const load::ProofCheck check = load::make_check(options.target);
  const auto target = load::make_target(options.target);
  const load::Report report = load::make_report(load::run(*target, load, check));
  fmt::print("{}: {} clients\n{}", target->name(), load.clients, load::to_text(report));
  nlohmann::ordered_json json = load::to_json(report);
  json["target"] = target->name();
  json["clients"] = load.clients;
  json["rate"] = load.rate;
  load::write_json(options.json, json);
  base::require(report.valid() == load.jobs, "{} of {} jobs did not end with a valid proof",
                load.jobs - report.valid(), load.jobs);
}

}  // namespace

void add_bench_batch_command(CLI::App& bench) {
  auto options = std::make_shared<BatchOptions>();
  options->load.jobs = 10;
  CLI::App* command = bench.add_subcommand(
      "batch",
      "Many jobs, through a daemon or an engine in this process: throughput and percentiles. Every "
      "answer is verified; the exit status is 0 only if every job was proved");
  command->add_option("--count", options->load.jobs, "Jobs")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--clients,-j", options->load.clients, "Calls at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--rate", options->load.rate,
                   "Jobs a second, at random moments; a job that finds all clients busy is late, "
                   "and its time counts from when it was due (default: each client sends when it "
                   "has its answer)")
      ->check(CLI::NonNegativeNumber);
  load::add_job_options(*command, options->jobs);
  load::add_target_options(*command, options->target);
  command->add_option("--json", options->json, "File for the results");
  command->callback([options] { run_batch(*options); });
}

}  // namespace cuzk::cli
