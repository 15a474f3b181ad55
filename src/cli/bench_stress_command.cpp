#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/load/options.hpp"
#include "cli/load/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuzk::cli {

namespace {

struct StressOptions {
  load::JobOptions jobs;
  load::TargetOptions target;
  load::Load load;
  double seconds = 60;
  unsigned vanish_after_ms = 100;
  std::string json;
};

/// Jobs whose clients went away end a little later than their calls.
std::vector<std::string> unaccounted_at_rest(load::Target& target,
                                             const load::MetricsText& before) {
  std::vector<std::string> complaints;
  for (int i = 0; i < 50; ++i) {
    complaints = load::unaccounted(before, target.metrics());
    if (complaints.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return complaints;
}

void run_stress(StressOptions& options) {
  load::Load& load = options.load;
  load.duration = std::chrono::duration<double>(options.seconds);
  load.vanish_after = std::chrono::milliseconds(options.vanish_after_ms);
  load.mix = load::make_mix(options.jobs, 0);
  load.seed = options.jobs.seed;
  load.id_prefix = load::fresh_id_prefix();
  const load::ProofCheck check = load::make_check(options.target);
  const auto target = load::make_target(options.target);
  const load::MetricsText before = target->metrics();
  const load::Report report = load::make_report(load::run(*target, load, check));
  std::vector<std::string> faults = report.faults();
  for (std::string& complaint : unaccounted_at_rest(*target, before))
    faults.push_back(std::move(complaint));
  fmt::print("{}: {} clients for {:.0f} s\n{}", target->name(), load.clients, options.seconds,
             load::to_text(report));
  for (const std::string& fault : faults) fmt::print("FAULT: {}\n", fault);
  nlohmann::ordered_json json = load::to_json(report);
  json["target"] = target->name();
  json["clients"] = load.clients;
  json["rate"] = load.rate;
  json["faults"] = faults;
  load::write_json(options.json, json);
  if (!faults.empty())
    throw std::runtime_error(fmt::format("{} faults, the first: {}", faults.size(), faults[0]));
  base::require(report.valid() > 0, "no job was proved");
}

}  // namespace

void add_bench_stress_command(CLI::App& bench) {
  auto options = std::make_shared<StressOptions>();
  options->load.clients = 8;
  CLI::App* command = bench.add_subcommand(
      "stress",
      "A mixed load for a while, with clients that go away, requests sent twice and damaged ones. "
      "What may never be ends it with an error: an invalid proof, two answers to one job, a "
      "damaged request that is taken, a job that the daemon's metrics do not account for");
  command->add_option("--seconds", options->seconds, "Time for which new jobs are sent")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--clients,-j", options->load.clients, "Calls at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--rate", options->load.rate,
                   "Jobs a second, at random moments (default: each client sends when it has its "
                   "answer)")
      ->check(CLI::NonNegativeNumber);
  const auto share = [&](const char* name, double& value, const char* text) {
    command->add_option(name, value, text)->capture_default_str()->check(CLI::Range(0.0, 1.0));
  };
  share("--vanishing", options->load.vanishing, "Share of jobs whose client goes away");
  share("--twins", options->load.twins, "Share of jobs that two clients send at once");
  share("--damaged", options->load.damaged, "Share of requests of which half is cut off");
  command
      ->add_option("--vanish-after-ms", options->vanish_after_ms,
                   "Milliseconds after which vanishing clients go away")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  load::add_job_options(*command, options->jobs);
  load::add_target_options(*command, options->target);
  command->add_option("--json", options->json, "File for the results");
  command->callback([options] { run_stress(*options); });
}

}  // namespace cuzk::cli
