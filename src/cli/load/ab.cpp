#include "cli/load/ab.hpp"

#include "base/error.hpp"
#include "cli/load/report.hpp"
#include "engine/job.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace cuzk::cli::load {

namespace {

constexpr double kLevel = 0.95;

/// Seconds a job of one run, by row.
using Values = std::map<std::string, double>;

class Ab {
 public:
  Ab(const AbPlan& plan, const std::array<MakeTarget, 2>& make, const ProofCheck& check)
      : plan_(plan), make_(make), check_(check) {}

  Values run(std::size_t side) {
    if (!plan_.keep_targets) targets_[side].reset();
    if (!targets_[side]) {
      if (!plan_.keep_targets) targets_[1 - side].reset();
      targets_[side] = make_[side]();
      names_[side] = targets_[side]->name();
      send(*targets_[side], 1);
    }
    Target& target = *targets_[side];
    const auto before = stage_sums(target);
    const Report report = send(target, plan_.jobs);
    const auto jobs = static_cast<double>(plan_.jobs);
    Values values{{"wall", report.seconds / jobs},
                  {"client", report.kinds.begin()->second.seconds.mean}};
    for (const auto& [stage, sum] : stage_sums(target)) {
      const auto earlier = before.find(stage);
      values[stage] = (sum - (earlier == before.end() ? 0 : earlier->second)) / jobs;
    }
    return values;
  }
  const std::array<std::string, 2>& names() const { return names_; }

 private:
  Report send(Target& target, std::uint64_t jobs) {
    Load load;
    load.mix = {{.weight = 1, .payloads = plan_.payloads}};
    load.jobs = jobs;
    load.clients = plan_.clients;
    load.id_prefix = fmt::format("{}-{}", plan_.id_prefix, runs_++);
    Report report = make_report(load::run(target, load, check_));
    if (report.valid() == jobs) return report;
    base::fail<base::InvalidInput>("{}: a job did not end with a valid proof:\n{}", target.name(),
                                   to_text(report));
  }
  std::map<std::string, double> stage_sums(Target& target) const {
    return target.metrics().sum_by(
        "cuzk_stage_seconds_sum", "stage",
        {{"proof_kind", engine::metrics_label(plan_.payloads[0]->request.kind)}});
  }

  const AbPlan& plan_;
  const std::array<MakeTarget, 2>& make_;
  const ProofCheck& check_;
  std::array<std::unique_ptr<Target>, 2> targets_;
  std::array<std::string, 2> names_;
  std::uint64_t runs_ = 0;
};

/// Wall and client first, then the stages that took any time.
std::vector<AbRow> make_rows(const std::vector<Values>& a, const std::vector<Values>& b) {
  std::vector<std::string> names{"wall", "client"};
  for (const Values& values : {a.front(), b.front()}) {
    for (const auto& [name, seconds] : values) {
      if (seconds > 0 && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  std::vector<AbRow> rows;
  for (const std::string& name : names) {
    AbRow row{.name = name, .a = {}, .b = {}, .comparison = {}};
    const auto value = [&](const Values& values) {
      const auto found = values.find(name);
      return found == values.end() ? 0.0 : found->second;
    };
    std::ranges::transform(a, std::back_inserter(row.a), value);
    std::ranges::transform(b, std::back_inserter(row.b), value);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

AbResult run_ab(const AbPlan& plan, const std::array<MakeTarget, 2>& targets,
                const ProofCheck& check, const std::function<void(const std::string&)>& tell) {
  base::require(!plan.payloads.empty() && plan.pairs > 0 && plan.jobs > 0,
                "a comparison needs payloads, runs and jobs");
  Ab ab(plan, targets, check);
  std::array<std::vector<Values>, 2> values;
  for (std::uint64_t pair = 0; pair < plan.pairs; ++pair) {
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const std::size_t side = pair % 2 == 0 ? turn : 1 - turn;
      values[side].push_back(ab.run(side));
      tell(fmt::format("{} {}: {:.3f} s a job", side == 0 ? "A" : "B", pair + 1,
                       values[side].back()["wall"]));
    }
  }
  AbResult result{
      .names = ab.names(), .jobs = plan.jobs, .level = 0, .rows = make_rows(values[0], values[1])};
  // All rows' intervals hold together with at least 95 % if none fails with more than its share.
  result.level = 1 - (1 - kLevel) / static_cast<double>(result.rows.size());
  for (AbRow& row : result.rows) row.comparison = compare_pairs(row.a, row.b, result.level);
  return result;
}

std::string to_text(const AbResult& result) {
  std::string out = fmt::format("A: {}\nB: {}\n", result.names[0], result.names[1]);
  const std::size_t runs = result.rows.empty() ? 0 : result.rows[0].a.size();
  const std::size_t needed = values_needed(result.level);
  fmt::format_to(
      std::back_inserter(out),
      "{} runs of each in turns, {} jobs a run; milliseconds a job, medians; interval of "
      "B - A at {:.2f} %\n",
      runs, result.jobs, 100 * result.level);
  if (runs < needed)
    fmt::format_to(std::back_inserter(out), "a verdict on {} rows needs {} runs of each\n",
                   result.rows.size(), needed);
  fmt::format_to(std::back_inserter(out), "{:<22} {:>10} {:>10} {:>10} {:>8} {:>23}  {}\n", "", "A",
                 "B", "B - A", "%", "interval", "verdict");
  for (const AbRow& row : result.rows) {
    const Comparison& c = row.comparison;
    const std::string interval =
        c.interval ? fmt::format("[{:.3f}, {:.3f}]", 1e3 * c.interval->low, 1e3 * c.interval->high)
                   : "";
    fmt::format_to(std::back_inserter(out),
                   "{:<22} {:>10.3f} {:>10.3f} {:>10.3f} {:>8.1f} {:>23}  {}\n", row.name,
                   1e3 * c.a, 1e3 * c.b, 1e3 * c.difference,
                   c.a > 0 ? 100 * c.difference / c.a : 0.0, interval, to_string(c.verdict));
  }
  return out;
}

nlohmann::ordered_json to_json(const AbResult& result) {
  nlohmann::ordered_json rows;
  for (const AbRow& row : result.rows) {
    const Comparison& c = row.comparison;
    nlohmann::ordered_json interval;
    if (c.interval) interval = {c.interval->low, c.interval->high};
    rows[row.name] = {{"a_s", row.a},
                      {"b_s", row.b},
                      {"median_a_s", c.a},
                      {"median_b_s", c.b},
                      {"difference_s", c.difference},
                      {"interval_s", interval},
                      {"verdict", to_string(c.verdict)}};
  }
  return {{"a", result.names[0]},
          {"b", result.names[1]},
          {"jobs", result.jobs},
          {"level", result.level},
          {"rows", rows}};
}

}  // namespace cuzk::cli::load
