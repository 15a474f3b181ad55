#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/load/ab.hpp"
#include "cli/load/options.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace cuzk::cli {

namespace {

struct AbOptions {
  load::JobOptions jobs;
  load::TargetOptions target;
  std::string address_a, address_b;
  std::vector<std::string> settings_a, settings_b;
  load::AbPlan plan;
  std::string json;
};

load::TargetOptions side(const AbOptions& options, const std::string& address,
                         const std::vector<std::string>& settings) {
  load::TargetOptions target = options.target;
  target.client.address = address;
  target.settings.insert(target.settings.end(), settings.begin(), settings.end());
  return target;
}

void run_ab(AbOptions& options) {
  const bool daemons = !options.address_a.empty() && !options.address_b.empty();
  base::require(daemons || (options.address_a.empty() && options.address_b.empty()),
                "--addr-a and --addr-b go together");
  base::require(daemons || options.settings_a != options.settings_b,
                "A and B are the same: give --set-a or --set-b, or two daemons");
  load::AbPlan& plan = options.plan;
  const std::vector<load::MixItem> mix = load::make_mix(options.jobs, plan.jobs * plan.pairs);
  base::require(mix.size() == 1, "ab compares jobs of one --kind");
  plan.payloads = mix[0].payloads;
  plan.id_prefix = load::fresh_id_prefix();
  const load::TargetOptions a = side(options, options.address_a, options.settings_a);
  const load::TargetOptions b = side(options, options.address_b, options.settings_b);
  const load::ProofCheck check = load::make_check(a);
  // Two engines in one process would share its memory and threads: there is one at a time.
  plan.keep_targets = daemons;
  const load::AbResult result = load::run_ab(
      plan, {[&] { return load::make_target(a); }, [&] { return load::make_target(b); }}, check,
      [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  fmt::print("{}", load::to_text(result));
  load::write_json(options.json, load::to_json(result));
}

}  // namespace

void add_bench_ab_command(CLI::App& bench) {
  auto options = std::make_shared<AbOptions>();
  CLI::App* command = bench.add_subcommand(
      "ab",
      "Two settings, measured in turns (A B, B A, A B ...), compared stage by stage. A difference "
      "is stated only where the spread of the pairs' differences allows it: where the sign-test "
      "interval of their median, at 95 % for all rows together, leaves 0 out");
  command->add_option("--addr-a", options->address_a, "Daemon A");
  command->add_option("--addr-b", options->address_b, "Daemon B");
  command->add_option("--set-a", options->settings_a,
                      "A's settings of the engine in this process: section.key=value");
  command->add_option("--set-b", options->settings_b, "B's settings");
  command->add_option("--set", options->target.settings, "Settings of both");
  command->add_option("--runs", options->plan.pairs, "Runs of each")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  command->add_option("--jobs", options->plan.jobs, "Jobs a run")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  command->add_option("--clients,-j", options->plan.clients, "Calls at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  load::add_job_options(*command, options->jobs);
  load::add_common_target_options(*command, options->target);
  command->add_option("--json", options->json, "File for the results");
  command->callback([options] { run_ab(*options); });
}

}  // namespace cuzk::cli
