#include "cli/load/daemon_target.hpp"

#include "base/error.hpp"
#include "service/errors.hpp"

#include <utility>

namespace cuzk::cli::load {

namespace {

std::string as_string(base::ByteView bytes) { return {bytes.begin(), bytes.end()}; }

/// A field of the metadata after the call; empty: there is none.
std::string trailing(const grpc::ClientContext& call, const char* name) {
  const auto& metadata = call.GetServerTrailingMetadata();
  const auto found = metadata.find(name);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

Answer to_answer(const v1::AwaitProofResponse& message) {
  using Outcome = Answer::Outcome;
  Answer answer;
  switch (message.status()) {
    case v1::AwaitProofResponse::COMPLETED:
      answer.outcome = Outcome::kCompleted;
      break;
    case v1::AwaitProofResponse::CANCELLED:
      answer.outcome = Outcome::kCancelled;
      break;
    default:
      answer.outcome = Outcome::kFailed;
  }
  answer.proof.assign(message.proof().begin(), message.proof().end());
  answer.code = message.error_code();
  answer.error = message.error_message();
  using std::chrono::milliseconds;
  answer.timings = {milliseconds(message.queue_wait_ms()), milliseconds(message.srs_load_ms()),
                    milliseconds(message.synthesis_ms()), milliseconds(message.gpu_compute_ms()),
                    milliseconds(message.total_ms())};
  answer.attempts = message.attempts();
  answer.backend = message.backend();
  return answer;
}

Answer to_answer(const grpc::Status& status, const grpc::ClientContext& call, bool limited) {
  Answer answer;
  answer.code = trailing(call, service::kCodeMetadata);
  answer.error = status.error_message();
  if (!answer.code.empty()) {
    answer.outcome = Answer::Outcome::kRefused;
  } else if (limited && status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    answer.outcome = Answer::Outcome::kGaveUp;
  } else {
    answer.outcome = Answer::Outcome::kUnreachable;
  }
  return answer;
}

class DaemonTarget final : public Target {
 public:
  explicit DaemonTarget(const service::ClientOptions& daemon)
      : name_(daemon.address), client_(daemon) {}

  std::string name() const override { return name_; }

  Answer prove(const engine::JobRequest& request, std::chrono::milliseconds limit) override {
    grpc::ClientContext call;
    client_.prepare(call, limit);
    v1::ProveRequest message;
    *message.mutable_submit() = to_message(request);
    v1::ProveResponse response;
    const grpc::Status status = client_.stub().Prove(&call, message, &response);
    return status.ok() ? to_answer(response.result()) : to_answer(status, call, limit.count() > 0);
  }

  MetricsText metrics() override {
    grpc::ClientContext call;
    client_.prepare(call, std::chrono::seconds(30));
    v1::GetMetricsResponse response;
    service::require_ok(client_.stub().GetMetrics(&call, {}, &response), name_);
    return MetricsText(response.prometheus_text());
  }

 private:
  const std::string name_;
  const service::Client client_;
};

}  // namespace

v1::SubmitProofRequest to_message(const engine::JobRequest& request) {
  v1::SubmitProofRequest message;
  message.set_request_id(request.request_id);
  message.set_proof_kind(static_cast<v1::ProofKind>(request.kind));
  message.set_sector_size(request.sector_size);
  message.set_registered_proof(request.registered_proof);
  message.set_priority(static_cast<v1::Priority>(request.priority));
  message.set_vanilla_proof(as_string(request.vanilla_proof));
  for (const base::Bytes& blob : request.vanilla_proofs)
    message.add_vanilla_proofs(as_string(blob));
  message.set_sector_number(request.sector_number);
  message.set_miner_id(request.miner_id);
  message.set_randomness(as_string(request.randomness));
  message.set_partition_index(request.partition_index);
  message.set_comm_r_old(as_string(request.comm_r_old));
  message.set_comm_r_new(as_string(request.comm_r_new));
  message.set_comm_d_new(as_string(request.comm_d_new));
  return message;
}

std::unique_ptr<Target> make_daemon_target(const service::ClientOptions& daemon) {
  return std::make_unique<DaemonTarget>(daemon);
}

}  // namespace cuzk::cli::load
