#include "cli/daemon_proof.hpp"

#include "base/error.hpp"
#include "cli/load/daemon_target.hpp"
#include "cli/load/metrics_text.hpp"
#include "groth16/proof.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace cuzk::cli {

namespace {

/// The stages that are no part of `device`.
const std::set<std::string> kWholeStages{"queue_wait", "srs_load",         "witness",
                                         "device",     "device_lock_wait", "verify"};

/// Times and counts of the stages of one kind since the daemon's start.
struct StageSums {
  std::map<std::string, double> seconds, counts;
};

StageSums stage_sums(const service::Client& client, const service::ClientOptions& daemon,
                     engine::ProofKind kind) {
  grpc::ClientContext call;
  client.prepare(call, std::chrono::seconds(30));
  v1::GetMetricsResponse response;
  service::require_ok(client.stub().GetMetrics(&call, {}, &response), daemon.address);
  const load::MetricsText metrics(response.prometheus_text());
  const std::string label = engine::metrics_label(kind);
  return {metrics.sum_by("cuzk_stage_seconds_sum", "stage", {{"proof_kind", label}}),
          metrics.sum_by("cuzk_stage_seconds_count", "stage", {{"proof_kind", label}})};
}

double growth(const std::map<std::string, double>& before,
              const std::map<std::string, double>& after, const std::string& name) {
  const auto value = [&](const std::map<std::string, double>& values) {
    const auto found = values.find(name);
    return found == values.end() ? 0.0 : found->second;
  };
  return value(after) - value(before);
}

std::vector<DaemonProof::Stage> make_stages(const v1::AwaitProofResponse& result,
                                            const StageSums& before, const StageSums& after) {
  const auto ms = [](std::uint64_t value) { return static_cast<double>(value); };
  std::vector<DaemonProof::Stage> stages{{"queue_wait", ms(result.queue_wait_ms()), false},
                                         {"srs_load", ms(result.srs_load_ms()), false},
                                         {"witness", ms(result.synthesis_ms()), false},
                                         {"device", ms(result.gpu_compute_ms()), false}};
  const auto partitions = static_cast<double>(result.proof().size() / groth16::Proof::kBytes);
  for (const char* stage : {"witness", "device", "verify"}) {
    if (growth(before.counts, after.counts, stage) != partitions) return stages;
  }
  const auto add = [&](const std::string& name, bool is_part) {
    if (growth(before.counts, after.counts, name) > 0)
      stages.push_back({name, 1000 * growth(before.seconds, after.seconds, name), is_part});
  };
  for (const auto& [name, seconds] : after.seconds) {
    if (!kWholeStages.contains(name)) add(name, true);
  }
  add("device_lock_wait", false);
  add("verify", false);
  return stages;
}

void require_completed(const v1::AwaitProofResponse& result, const std::string& address) {
  if (result.status() == v1::AwaitProofResponse::COMPLETED) return;
  const std::string text = fmt::format("{}: {}", address, result.error_message());
  if (result.retryable()) throw base::ResourceExhausted(text);
  if (result.error_code() == engine::to_string(engine::ErrorCode::kInternal))
    throw std::runtime_error(text);
  throw base::InvalidInput(text);
}

}  // namespace

DaemonProof prove_by_daemon(const service::ClientOptions& daemon, const engine::JobRequest& request,
                            std::chrono::milliseconds limit) {
  const service::Client client(daemon);
  const StageSums before = stage_sums(client, daemon, request.kind);
  grpc::ClientContext call;
  client.prepare(call, limit);
  v1::ProveRequest message;
  *message.mutable_submit() = load::to_message(request);
  v1::ProveResponse response;
  service::require_ok(client.stub().Prove(&call, message, &response), daemon.address);
  const v1::AwaitProofResponse& result = response.result();
  require_completed(result, daemon.address);
  const StageSums after = stage_sums(client, daemon, request.kind);
  return {{result.proof().begin(), result.proof().end()},
          make_stages(result, before, after),
          static_cast<double>(result.total_ms()),
          result.backend()};
}

}  // namespace cuzk::cli
