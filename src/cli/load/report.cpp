#include "cli/load/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace cuzk::cli::load {

namespace {

using nlohmann::ordered_json;

/// Values of one kind, before they are summarized.
struct Collected {
  std::vector<double> seconds, queue_wait, srs_load, synthesis, gpu_compute, total;

  void add(const Sample& sample) {
    const auto ms = [](std::chrono::milliseconds time) {
      return static_cast<double>(time.count());
    };
    const engine::JobTimings& timings = sample.answer.timings;
    seconds.push_back(sample.seconds);
    queue_wait.push_back(ms(timings.queue_wait));
    srs_load.push_back(ms(timings.srs_load));
    synthesis.push_back(ms(timings.synthesis));
    gpu_compute.push_back(ms(timings.gpu_compute));
    total.push_back(ms(timings.total));
  }
  void summarize_into(KindReport& report) {
    report.seconds = summarize(std::move(seconds));
    report.queue_wait_ms = summarize(std::move(queue_wait));
    report.srs_load_ms = summarize(std::move(srs_load));
    report.synthesis_ms = summarize(std::move(synthesis));
    report.gpu_compute_ms = summarize(std::move(gpu_compute));
    report.total_ms = summarize(std::move(total));
  }
};

std::string outcome_label(const Answer& answer) {
  std::string label(to_string(answer.outcome));
  if (!answer.code.empty()) label += " " + answer.code;
  return label;
}

void count(const Sample& sample, KindReport& report) {
  ++report.sent;
  report.most_attempts = std::max(report.most_attempts, sample.answer.attempts);
  report.differing += sample.differs;
  using Outcome = Answer::Outcome;
  report.damaged_accepted += sample.damaged && (sample.answer.outcome == Outcome::kCompleted ||
                                                sample.answer.outcome == Outcome::kFailed);
  if (sample.answer.outcome != Answer::Outcome::kCompleted) {
    ++report.others[outcome_label(sample.answer)];
  } else if (sample.valid) {
    ++report.valid;
  } else {
    ++report.invalid;
  }
}

const std::array<std::pair<const char*, Summary KindReport::*>, 5>& timings() {
  static const std::array<std::pair<const char*, Summary KindReport::*>, 5> all{{
      {"queue_wait", &KindReport::queue_wait_ms},
      {"srs_load", &KindReport::srs_load_ms},
      {"synthesis", &KindReport::synthesis_ms},
      {"gpu_compute", &KindReport::gpu_compute_ms},
      {"total", &KindReport::total_ms},
  }};
  return all;
}

ordered_json to_json(const Summary& summary) {
  return {{"count", summary.count}, {"mean", summary.mean}, {"min", summary.least},
          {"p50", summary.p50},     {"p90", summary.p90},   {"p99", summary.p99},
          {"max", summary.most}};
}

void write_row(std::string& out, const char* name, const Summary& s, const char* unit) {
  fmt::format_to(std::back_inserter(out),
                 "  {:<14} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f}  {}\n", name,
                 s.least, s.p50, s.p90, s.p99, s.most, s.mean, unit);
}

}  // namespace

std::string_view to_string(Answer::Outcome outcome) {
  switch (outcome) {
    case Answer::Outcome::kCompleted:
      return "completed";
    case Answer::Outcome::kFailed:
      return "failed";
    case Answer::Outcome::kCancelled:
      return "cancelled";
    case Answer::Outcome::kRefused:
      return "refused";
    case Answer::Outcome::kGaveUp:
      return "gave up";
    case Answer::Outcome::kUnreachable:
      return "unreachable";
  }
  return "";
}

std::uint64_t Report::valid() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, report] : kinds) sum += report.valid;
  return sum;
}

std::vector<std::string> Report::faults() const {
  std::vector<std::string> all;
  for (const auto& [kind, report] : kinds) {
    const std::string_view name = kind_name(kind);
    if (report.invalid > 0)
      all.push_back(fmt::format("{}: {} proofs do not verify", name, report.invalid));
    if (report.differing > 0)
      all.push_back(fmt::format("{}: {} jobs had two different answers", name, report.differing));
    if (report.damaged_accepted > 0) {
      all.push_back(
          fmt::format("{}: {} damaged requests were not refused", name, report.damaged_accepted));
    }
    for (const auto& [label, count] : report.others) {
      if (label.starts_with(to_string(Answer::Outcome::kUnreachable)))
        all.push_back(fmt::format("{}: {} jobs got no answer ({})", name, count, label));
    }
  }
  return all;
}

Report make_report(const std::vector<Sample>& samples) {
  Report report;
  std::map<engine::ProofKind, Collected> collected;
  double first = samples.empty() ? 0 : samples.front().start, last = first;
  for (const Sample& sample : samples) {
    first = std::min(first, sample.start);
    last = std::max(last, sample.start + sample.seconds);
    count(sample, report.kinds[sample.kind]);
    if (sample.answer.outcome == Answer::Outcome::kCompleted) collected[sample.kind].add(sample);
  }
  for (auto& [kind, values] : collected) values.summarize_into(report.kinds[kind]);
  report.seconds = last - first;
  return report;
}

std::string to_text(const Report& report) {
  std::string out;
  const auto put = [&out]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  };
  for (const auto& [kind, one] : report.kinds) {
    put("{}: {} sent, {} proved and verified", kind_name(kind), one.sent, one.valid);
    if (one.invalid > 0) put(", {} INVALID", one.invalid);
    if (one.differing > 0) put(", {} ANSWERED TWICE DIFFERENTLY", one.differing);
    for (const auto& [label, number] : one.others) put(", {} {}", number, label);
    if (one.most_attempts > 1) put("; at most {} attempts", one.most_attempts);
    put("\n");
    if (one.seconds.count == 0) continue;
    put("  {:<14} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "", "min", "p50", "p90", "p99",
        "max", "mean");
    write_row(out, "at the client", one.seconds, "s");
    for (const auto& [name, summary] : timings()) write_row(out, name, one.*summary, "ms");
  }
  const auto valid = static_cast<double>(report.valid());
  put("{:.0f} proofs in {:.3f} s", valid, report.seconds);
  if (valid > 0)
    put(": {:.3f} s a proof, {:.2f} a minute", report.seconds / valid, 60 * valid / report.seconds);
  put("\n");
  return out;
}

ordered_json to_json(const Report& report) {
  ordered_json kinds;
  for (const auto& [kind, one] : report.kinds) {
    ordered_json milliseconds;
    for (const auto& [name, summary] : timings()) milliseconds[name] = to_json(one.*summary);
    kinds[std::string(kind_name(kind))] = {{"sent", one.sent},
                                           {"valid", one.valid},
                                           {"invalid", one.invalid},
                                           {"differing", one.differing},
                                           {"damaged_accepted", one.damaged_accepted},
                                           {"not_completed", one.others},
                                           {"most_attempts", one.most_attempts},
                                           {"seconds", to_json(one.seconds)},
                                           {"timings_ms", milliseconds}};
  }
  return {{"seconds", report.seconds}, {"valid", report.valid()}, {"kinds", kinds}};
}

std::vector<std::string> unaccounted(const MetricsText& before, const MetricsText& after) {
  const auto change = [&](const char* metric) {
    std::map<std::string, double> by_kind = after.sum_by(metric, "proof_kind");
    for (const auto& [kind, value] : before.sum_by(metric, "proof_kind")) by_kind[kind] -= value;
    return by_kind;
  };
  auto accepted = change("cuzk_jobs_accepted_total");
  auto completed = change("cuzk_proofs_completed"), failed = change("cuzk_proofs_failed"),
       cancelled = change("cuzk_jobs_cancelled_total"), pending = change("cuzk_jobs_pending"),
       running = change("cuzk_jobs_in_progress");
  std::vector<std::string> complaints;
  for (const auto& [kind, number] : accepted) {
    const double seen =
        completed[kind] + failed[kind] + cancelled[kind] + pending[kind] + running[kind];
    if (std::abs(seen - number) < 0.5) continue;
    complaints.push_back(
        fmt::format("{}: {} jobs accepted, but {} completed, {} failed, {} cancelled, {} more are "
                    "pending and {} "
                    "in progress",
                    kind, number, completed[kind], failed[kind], cancelled[kind], pending[kind],
                    running[kind]));
  }
  return complaints;
}

}  // namespace cuzk::cli::load
