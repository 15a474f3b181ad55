#include "cli/client_options.hpp"
#include "cli/commands.hpp"
#include "service/client.hpp"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace cuzk::cli {

namespace {

namespace v1 = cuzk::v1;

struct ClientCommandOptions {
  service::ClientOptions client;
  unsigned timeout = 30;
  std::string name;  // of a job or circuit
  bool json = false;
};

/// Makes one call and returns its answer.
template <class Method, class Request>
auto call(const ClientCommandOptions& options, Method method, const Request& request) {
  const service::Client client(options.client);
  grpc::ClientContext context;
  client.prepare(context, std::chrono::seconds(options.timeout));
  const auto answer = [&]<class Response>(grpc::Status (v1::ProvingEngine::Stub::*f)(
                          grpc::ClientContext*, const Request&, Response*)) {
    Response response;
    service::require_ok((client.stub().*f)(&context, request, &response), options.client.address,
                        std::chrono::seconds(options.timeout));
    return response;
  };
  return answer(method);
}

std::string gibibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (std::uint64_t{1} << 30));
}

void print_jobs(const v1::GetStatusResponse& status) {
  for (const v1::JobStatus& job : status.jobs()) {
    fmt::print("  {:<9} {:<13} {:>3}/{:<3} {:>8.1f} s ago  {}\n", job.state(), job.proof_kind(),
               job.partitions_done(), job.partitions_total(), job.accepted_secs_ago(),
               job.job_id());
    if (!job.waiting_for().empty()) fmt::print("            waits for {}\n", job.waiting_for());
    if (!job.error_message().empty()) fmt::print("            {}\n", job.error_message());
  }
}

void print_status(const v1::GetStatusResponse& status) {
  const char* state = status.draining() ? "draining" : status.ready() ? "ready" : "not ready";
  fmt::print("cuzk {}: {}, up {} s, {} proved, {} failed{}\n", status.version(), state,
             status.uptime_seconds(), status.total_proofs_completed(), status.total_proofs_failed(),
             status.cpu_proving() ? ", CPU proving allowed" : "");
  fmt::print("host memory {} of {}, pinned {} of {}\n", gibibytes(status.host_memory_bytes()),
             gibibytes(status.host_memory_limit_bytes()), gibibytes(status.pinned_memory_bytes()),
             gibibytes(status.pinned_memory_limit_bytes()));
  for (const v1::GPUStatus& gpu : status.gpus()) {
    fmt::print("gpu {} {} {}: {} of {} free{}{}\n", gpu.ordinal(), gpu.name(), gpu.uuid(),
               gibibytes(gpu.vram_free_bytes()), gibibytes(gpu.vram_total_bytes()),
               gpu.current_job_id().empty() ? "" : ", proving " + gpu.current_job_id(),
               gpu.quarantined() ? ", OUT OF SERVICE: " + gpu.quarantine_reason() : "");
  }
  fmt::print("circuits:\n");
  for (const v1::CircuitStatus& circuit : status.circuits()) {
    std::string key;
    for (const v1::SRSStatus& srs : status.loaded_srs()) {
      if (srs.circuit_id() == circuit.circuit_id())
        key = fmt::format(", key loaded ({}, {} users)", gibibytes(srs.size_bytes()),
                          srs.ref_count());
    }
    fmt::print("  {:<13} {}{}{}{}\n", circuit.circuit_id(), circuit.readiness(), key,
               circuit.detail().empty() ? "" : ": ", circuit.detail());
  }
  fmt::print("jobs, with the time since each was accepted:\n");
  print_jobs(status);
}

void run_status(const ClientCommandOptions& options) {
  const auto status = call(options, &v1::ProvingEngine::Stub::GetStatus, v1::GetStatusRequest());
  if (!options.json) {
    print_status(status);
    return;
  }
  google::protobuf::util::JsonPrintOptions format;
  format.add_whitespace = true;
  format.always_print_primitive_fields = true;
  format.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(status, &text, format).ok())
    throw std::runtime_error("the status cannot be written as JSON");
  fmt::print("{}", text);
}

void run_metrics(const ClientCommandOptions& options) {
  fmt::print("{}", call(options, &v1::ProvingEngine::Stub::GetMetrics, v1::GetMetricsRequest())
                       .prometheus_text());
}

void run_preload(const ClientCommandOptions& options) {
  v1::PreloadSrsRequest request;
  request.set_circuit_id(options.name);
  const auto answer = call(options, &v1::ProvingEngine::Stub::PreloadSRS, request);
  if (answer.already_loaded()) {
    fmt::print("{}: was loaded already\n", options.name);
  } else {
    fmt::print("{}: loaded in {} ms\n", options.name, answer.load_time_ms());
  }
}

void run_evict(const ClientCommandOptions& options) {
  v1::EvictSrsRequest request;
  request.set_circuit_id(options.name);
  const auto answer = call(options, &v1::ProvingEngine::Stub::EvictSRS, request);
  if (answer.was_loaded()) {
    fmt::print("{}: dropped, {} freed\n", options.name, gibibytes(answer.freed_bytes()));
  } else {
    fmt::print("{}: was not loaded\n", options.name);
  }
}

void run_cancel(const ClientCommandOptions& options) {
  v1::CancelProofRequest request;
  request.set_job_id(options.name);
  const auto answer = call(options, &v1::ProvingEngine::Stub::CancelProof, request);
  fmt::print("{}: {}\n", options.name, answer.was_running() ? "cancelled" : "had ended already");
}

/// A command that talks to a daemon; `argument` names what it is about, if anything.
void add(CLI::App& app, const char* name, const char* what, const char* argument, unsigned timeout,
         void (*run)(const ClientCommandOptions&)) {
  auto options = std::make_shared<ClientCommandOptions>();
  options->timeout = timeout;
  options->client.address = "unix:///run/curio/cuzk.sock";
  CLI::App* command = app.add_subcommand(name, what);
  if (argument != nullptr) command->add_option(argument, options->name)->required();
  command->add_option("--addr", options->client.address, "Where the daemon listens")
      ->capture_default_str();
  add_client_options(*command, options->client);
  command->add_option("--timeout", options->timeout, "Seconds; 0: no limit")->capture_default_str();
  if (run == run_status)
    command->add_flag("--json", options->json, "All that GetStatus answers, as JSON");
  command->callback([options, run] { run(*options); });
}

}  // namespace

void add_client_commands(CLI::App& app) {
  add(app, "status", "What a daemon is doing", nullptr, 10, run_status);
  add(app, "metrics", "A daemon's metrics as Prometheus text", nullptr, 10, run_metrics);
  add(app, "preload", "Have a daemon load a circuit's key, and wait for it", "circuit", 1800,
      run_preload);
  add(app, "evict", "Have a daemon drop a circuit's key", "circuit", 60, run_evict);
  add(app, "cancel", "Cancel a job", "job", 30, run_cancel);
}

}  // namespace cuzk::cli
