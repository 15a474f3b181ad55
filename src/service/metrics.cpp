#include "service/metrics.hpp"

#include "service/status_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace cuzk::service {

namespace {

using engine::Counters;
using engine::ErrorCode;
using engine::Histogram;
using engine::Status;

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

class Writer {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Begins a metric; its samples follow.
  void metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   type);
  }
  template <class Value>
  void sample(Labels labels, Value value) {
    line("", labels, {}, value);
  }
  void histogram(Labels labels, const Histogram& histogram) {
    for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
      line("_bucket", labels, fmt::format("{}", Histogram::kBounds[i]), histogram.counts[i]);
    }
    line("_bucket", labels, "+Inf", histogram.count);
    line("_sum", labels, {}, histogram.sum_seconds);
    line("_count", labels, {}, histogram.count);
  }
  std::string take() { return std::move(text_); }

 private:
  template <class Value>
  void line(std::string_view suffix, Labels labels, const std::string& le, Value value) {
    text_ += name_;
    text_ += suffix;
    char separator = '{';
    const auto label = [&](std::string_view name, std::string_view content) {
      fmt::format_to(std::back_inserter(text_), "{}{}=\"{}\"", separator, name, escaped(content));
      separator = ',';
    };
    for (const auto& [name, content] : labels) label(name, content);
    if (!le.empty()) label("le", le);
    if (separator == ',') text_ += '}';
    fmt::format_to(std::back_inserter(text_), " {}\n", value);
  }

  std::string name_, text_;
};

void write_jobs(Writer& out, const Status& status) {
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help,
                        auto value) {
    out.metric(name, type, help);
    for (const auto& [kind, counters] : status.counters.kinds)
      out.sample({{"proof_kind", engine::metrics_label(kind)}}, value(counters));
  };
  std::uint64_t completed = 0, failed = 0, running = 0;
  for (const auto& [kind, counters] : status.counters.kinds) {
    completed += counters.completed;
    failed += counters.failed;
    running += counters.in_progress;
  }
  out.metric("cuzk_proofs_completed_total", "counter", "Jobs that ended with a verified proof");
  out.sample({}, completed);
  out.metric("cuzk_proofs_failed_total", "counter", "Jobs that were accepted and failed");
  out.sample({}, failed);
  each("cuzk_proofs_completed", "counter", "Jobs that ended with a verified proof, by kind",
       [](const Counters::ByKind& c) { return c.completed; });
  each("cuzk_proofs_failed", "counter", "Jobs that were accepted and failed, by kind",
       [](const Counters::ByKind& c) { return c.failed; });
  each("cuzk_jobs_accepted_total", "counter", "Jobs accepted",
       [](const Counters::ByKind& c) { return c.accepted; });
  each("cuzk_jobs_cancelled_total", "counter", "Jobs cancelled",
       [](const Counters::ByKind& c) { return c.cancelled; });
  each("cuzk_jobs_pending", "gauge", "Jobs of which nothing has begun",
       [](const Counters::ByKind& c) { return c.pending; });
  each("cuzk_jobs_in_progress", "gauge", "Jobs under way",
       [](const Counters::ByKind& c) { return c.in_progress; });
  out.metric("cuzk_running_jobs", "gauge", "Jobs under way, all kinds");
  out.sample({}, running);
  out.metric("cuzk_queue_depth", "gauge", "Partitions that wait for anything");
  out.sample({}, status.queue_depth);

  const auto by_code = [&](std::string_view name, std::string_view help, auto field) {
    out.metric(name, "counter", help);
    for (const auto& [kind, counters] : status.counters.kinds) {
      // All of them from the start: increase() does not see a counter begin with 1.
      std::map<std::string, std::uint64_t> counts = counters.*field;
      for (auto code = ErrorCode::kBadInput; code <= ErrorCode::kInternal;
           code = static_cast<ErrorCode>(static_cast<unsigned>(code) + 1)) {
        counts.try_emplace(std::string(engine::to_string(code)), 0);
      }
      for (const auto& [code, count] : counts)
        out.sample({{"proof_kind", engine::metrics_label(kind)}, {"code", code}}, count);
    }
  };
  by_code("cuzk_requests_refused_total", "Requests refused before they became a job, by error code",
          &Counters::ByKind::refused);
  by_code("cuzk_jobs_failed_by_code_total", "Jobs that were accepted and failed, by error code",
          &Counters::ByKind::failed_with);
  const auto count = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    out.metric(name, "counter", help);
    out.sample({}, value);
  };
  count("cuzk_partition_retries_total", "Partitions that were proved again",
        status.counters.partition_retries);
  count("cuzk_self_check_failures_total", "Partition proofs that did not verify and were dropped",
        status.counters.self_check_failures);
  count("cuzk_requests_joined_total", "Requests that joined a job under way",
        status.counters.joined);
  count("cuzk_requests_replayed_total", "Requests answered from a finished job",
        status.counters.replayed);
  count("cuzk_jobs_superseded_total", "Jobs replaced by one with the same id and other content",
        status.counters.superseded);
}

void write_times(Writer& out, const Status& status) {
  out.metric("cuzk_proof_duration_seconds", "histogram", "Acceptance to answer of completed jobs");
  for (const auto& [kind, counters] : status.counters.kinds) {
    const auto total = counters.stages.find("total");
    out.histogram({{"proof_kind", engine::metrics_label(kind)}},
                  total == counters.stages.end() ? Histogram{} : total->second);
  }
  out.metric("cuzk_stage_seconds", "histogram", "Time of one stage; waiting is no stage's work");
  for (const auto& [kind, counters] : status.counters.kinds) {
    for (const auto& [stage, histogram] : counters.stages) {
      if (stage != "total")
        out.histogram({{"proof_kind", engine::metrics_label(kind)}, {"stage", stage}}, histogram);
    }
  }
  out.metric("cuzk_prestage_total", "counter", "Uploads before the device was free, by outcome");
  for (const auto& [outcome, count] : status.counters.prestage)
    out.sample({{"outcome", outcome}}, count);
}

void write_memory(Writer& out, const Status& status) {
  const auto budget = [&](std::string_view prefix, std::string_view what,
                          const engine::BudgetStatus& value) {
    const auto gauge = [&](std::string_view suffix, std::string_view help, std::uint64_t number) {
      out.metric(fmt::format("{}_{}", prefix, suffix), "gauge", fmt::format("{} {}", what, help));
      out.sample({}, number);
    };
    gauge("limit_bytes", "that may be reserved", value.total);
    gauge("used_bytes", "reserved now", value.used);
    gauge("waiters", "waits now", value.waiting);
  };
  budget("cuzk_host_memory", "Host memory", status.host);
  budget("cuzk_pinned_memory", "Pinned host memory", status.pinned);
  out.metric("cuzk_witness_slots", "gauge", "Witnesses that may be computed at once");
  out.sample({}, status.witness_slots);
  out.metric("cuzk_witness_active", "gauge", "Witnesses computed now");
  out.sample({}, status.witness_active);
  out.metric("cuzk_srs_bytes", "gauge", "Size of the proving keys that are loaded");
  for (const engine::CircuitStatus& circuit : status.circuits) {
    if (circuit.loaded) out.sample({{"circuit", circuit.circuit_id}}, circuit.bytes);
  }
  out.metric("cuzk_circuit_ready", "gauge",
             "1: the circuit's parameter files are there and intact");
  for (const engine::CircuitStatus& circuit : status.circuits) {
    out.sample({{"circuit", circuit.circuit_id}, {"readiness", readiness_name(circuit.readiness)}},
               circuit.readiness == engine::CircuitStatus::Readiness::kReady ? 1 : 0);
  }
}

void write_devices(Writer& out, const Status& status) {
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help,
                        auto value) {
    out.metric(name, type, help);
    for (const engine::DeviceStatus& device : status.devices)
      out.sample({{"device", device.name}, {"uuid", device.uuid}}, value(device));
  };
  std::size_t workers = 0;
  for (const engine::DeviceStatus& device : status.devices) workers += device.workers.size();
  out.metric("cuzk_gpu_workers", "gauge", "Partitions that may be on devices at once");
  out.sample({}, workers);
  using Device = engine::DeviceStatus;
  each("cuzk_device_memory_total_bytes", "gauge", "Memory of the device",
       [](const Device& d) { return d.memory_total; });
  each("cuzk_device_memory_free_bytes", "gauge", "Memory that is free on the device",
       [](const Device& d) { return d.memory_free; });
  each("cuzk_device_quarantined", "gauge", "1: taken out of service after bad results or faults",
       [](const Device& d) { return d.quarantined ? 1 : 0; });
  each("cuzk_device_busy_workers", "gauge", "Partitions on the device now", [](const Device& d) {
    return std::count_if(d.workers.begin(), d.workers.end(),
                         [](const auto& worker) { return !worker.job_id.empty(); });
  });
  each("cuzk_device_proofs_total", "counter", "Partition proofs made",
       [](const Device& d) { return d.proofs; });
  each("cuzk_device_bad_proofs_total", "counter", "Partition proofs that did not verify",
       [](const Device& d) { return d.bad_proofs; });
  each("cuzk_device_faults_total", "counter", "Failures of the device itself",
       [](const Device& d) { return d.faults; });
}

}  // namespace

std::string prometheus_text(const Status& status) {
  Writer out;
  out.metric("cuzk_build_info", "gauge", "Always 1; the version is a label");
  out.sample({{"version", status.version}}, 1);
  out.metric("cuzk_uptime_seconds", "gauge", "Time since the start");
  out.sample({}, status.uptime_secs);
  out.metric("cuzk_ready", "gauge", "1: accepts jobs");
  out.sample({}, status.ready && !status.draining ? 1 : 0);
  out.metric("cuzk_cpu_proving", "gauge", "1: proofs may be made on the CPU, which is slow");
  out.sample({}, status.cpu_proving ? 1 : 0);
  write_jobs(out, status);
  write_times(out, status);
  write_memory(out, status);
  write_devices(out, status);
  return out.take();
}

}  // namespace cuzk::service
