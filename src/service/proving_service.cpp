#include "service/proving_service.hpp"

#include "base/log.hpp"
#include "service/errors.hpp"
#include "service/messages.hpp"
#include "service/metrics.hpp"

#include <grpcpp/support/message_allocator.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace cuzk::service {

namespace {

int urgency(const v1::SubmitProofRequest& request) {
  const auto kind = static_cast<engine::ProofKind>(request.proof_kind());
  const auto priority = static_cast<engine::Priority>(request.priority());
  return static_cast<int>(engine::effective_priority(kind, priority));
}

std::chrono::milliseconds to_milliseconds(std::uint64_t count) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max() / 1'000'000;
  return std::chrono::milliseconds(std::min(count, kMax));
}

void log_refusal(std::string_view request_id, const engine::EngineError& error) {
  base::process_log().warn({.job = request_id, .code = engine::to_string(error.code())},
                           "refused: {}", error.what());
}

/// As to_job_request; what it throws is logged, since the engine never sees that request.
engine::JobRequest translate(const v1::SubmitProofRequest& message) {
  try {
    return to_job_request(message);
  } catch (...) {
    const engine::EngineError error = to_engine_error(std::current_exception());
    log_refusal(message.request_id(), error);
    throw error;
  }
}

/// As EngineApi::submit, which logs its own refusals; anything else that it throws is logged here.
engine::Engine::Submitted submit(EngineApi& api, engine::JobRequest request) {
  const std::string request_id = request.request_id;
  try {
    return api.submit(std::move(request));
  } catch (const engine::EngineError&) {
    throw;
  } catch (...) {
    const engine::EngineError error = to_engine_error(std::current_exception());
    log_refusal(request_id, error);
    throw error;
  }
}

/// Messages of one Prove call. The request can be taken, so that a payload does not stay in memory
/// for as long as its proof takes.
class ProveMessages final : public grpc::MessageHolder<v1::ProveRequest, v1::ProveResponse> {
 public:
  ProveMessages() : request_(std::make_unique<v1::ProveRequest>()) {
    set_request(request_.get());
    set_response(&response_);
  }
  void Release() override { delete this; }
  void FreeRequest() override { take(); }
  std::unique_ptr<v1::ProveRequest> take() {
    set_request(nullptr);
    return std::move(request_);
  }

 private:
  std::unique_ptr<v1::ProveRequest> request_;
  v1::ProveResponse response_;
};

}  // namespace

class ProvingService::Messages final
    : public grpc::MessageAllocator<v1::ProveRequest, v1::ProveResponse> {
 public:
  // Freed by Release.
  grpc::MessageHolder<v1::ProveRequest, v1::ProveResponse>* AllocateMessages() override {
    return new ProveMessages;
  }
};

/// A request's share of its kind's limit on payloads that are not checked yet.
class ProvingService::UncheckedBytes {
 public:
  UncheckedBytes(ProvingService& service, const v1::SubmitProofRequest& request)
      : used_(&service.unchecked_bytes_[share_of(request.proof_kind())]),
        trimmer_(&service.trimmer_),
        bytes_(request.ByteSizeLong()) {
    const std::uint64_t before = used_->fetch_add(bytes_);
    // One request is always let through: the message limit bounds it.
    if (before == 0 || before + bytes_ <= service.limits_.unchecked_bytes) return;
    used_->fetch_sub(bytes_);
    trimmer_->let_go(bytes_);
    const engine::EngineError error(
        engine::ErrorCode::kQueueFull,
        fmt::format("requests of {} MiB of this kind wait to be checked, this one has {} MiB more "
                    "and the limit is {} MiB; retry in some seconds",
                    before >> 20, bytes_ >> 20, service.limits_.unchecked_bytes >> 20));
    log_refusal(request.request_id(), error);
    throw error;
  }
  ~UncheckedBytes() {
    used_->fetch_sub(bytes_);
    trimmer_->let_go(bytes_);
  }
  UncheckedBytes(const UncheckedBytes&) = delete;
  UncheckedBytes& operator=(const UncheckedBytes&) = delete;

 private:
  static std::size_t share_of(int proof_kind) {
    return proof_kind == v1::WINNING_POST ? 0 : proof_kind == v1::WINDOW_POST_PARTITION ? 1 : 2;
  }

  std::atomic<std::uint64_t>* used_;
  MemoryTrimmer* trimmer_;
  std::uint64_t bytes_;
};

ProvingService::ProvingService(EngineApi& api, Access access, Limits limits)
    : api_(api),
      limits_(limits),
      access_(std::make_shared<const Access>(std::move(access))),
      messages_(std::make_unique<Messages>()),
      checkers_(limits.checkers, 1, static_cast<int>(engine::Priority::kHigh)),
      loaders_(limits.loaders),
      droppers_(1) {
  SetMessageAllocatorFor_Prove(messages_.get());
}

ProvingService::~ProvingService() = default;

void ProvingService::set_access(Access access) {
  auto next = std::make_shared<const Access>(std::move(access));
  const std::lock_guard lock(access_mutex_);
  access_.swap(next);
}

void ProvingService::end_waits() {
  waiting_.end_all({engine::ErrorCode::kShuttingDown,
                    "the daemon stops; the job stays in its journal: send the same request again"});
}

grpc::Status ProvingService::authorize(grpc::CallbackServerContext& context) const {
  const auto access = [this] {
    const std::lock_guard lock(access_mutex_);
    return access_;
  }();
  if (access->open()) return grpc::Status::OK;
  const auto& metadata = context.client_metadata();
  const auto header = metadata.find("authorization");
  const auto shown =
      header == metadata.end()
          ? std::nullopt
          : std::optional(std::string_view(header->second.data(), header->second.size()));
  if (access->allows(shown)) return grpc::Status::OK;
  base::process_log().warn({.code = "UNAUTHENTICATED"}, "call from {} refused: {} token",
                           context.peer(), shown ? "unknown" : "no");
  context.AddTrailingMetadata(kCodeMetadata, "UNAUTHENTICATED");
  context.AddTrailingMetadata(kRetryableMetadata, "false");
  return {grpc::StatusCode::UNAUTHENTICATED,
          "UNAUTHENTICATED: send 'authorization: Bearer TOKEN' with a token of daemon.token_file"};
}

template <class Work>
grpc::ServerUnaryReactor* ProvingService::answer(grpc::CallbackServerContext& context, Work work) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  grpc::Status status = authorize(context);
  if (status.ok()) {
    try {
      work();
    } catch (...) {
      status = refuse(context, to_engine_error(std::current_exception()));
    }
  }
  reactor->Finish(status);
  return reactor;
}

template <class Work>
grpc::ServerUnaryReactor* ProvingService::answer_later(grpc::CallbackServerContext& context,
                                                       WorkerPool& pool, int urgency, Work work) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  const grpc::Status allowed = authorize(context);
  if (!allowed.ok()) {
    reactor->Finish(allowed);
    return reactor;
  }
  pool.post(urgency, [reactor, &context, work = std::move(work)] {
    grpc::Status status;
    try {
      work();
    } catch (...) {
      status = refuse(context, to_engine_error(std::current_exception()));
    }
    reactor->Finish(status);
  });
  return reactor;
}

grpc::ServerUnaryReactor* ProvingService::SubmitProof(grpc::CallbackServerContext* context,
                                                      const v1::SubmitProofRequest* request,
                                                      v1::SubmitProofResponse* response) {
  std::shared_ptr<UncheckedBytes> bytes;
  try {
    bytes = std::make_shared<UncheckedBytes>(*this, *request);
  } catch (const engine::EngineError& error) {
    return answer(*context, [error] { throw error; });
  }
  return answer_later(*context, checkers_, urgency(*request), [this, request, response, bytes] {
    const engine::Engine::Submitted submitted = submit(api_, translate(*request));
    response->set_job_id(submitted.job_id);
    response->set_queue_position(submitted.queue_position);
    response->set_assigned_gpu(submitted.assigned_gpu);
    response->set_joined(submitted.joined);
  });
}

grpc::ServerUnaryReactor* ProvingService::AwaitProof(grpc::CallbackServerContext* context,
                                                     const v1::AwaitProofRequest* request,
                                                     v1::AwaitProofResponse* response) {
  auto* reactor = new WaitingReactor(*context, *response);  // deletes itself when done
  const std::shared_ptr<WaitingCall> call = reactor->call();
  if (const grpc::Status allowed = authorize(*context); !allowed.ok()) {
    call->end_with(allowed);
    return reactor;
  }
  waiting_.add(call);
  call->wait_for(api_, request->job_id(), to_milliseconds(request->timeout_ms()));
  return reactor;
}

grpc::ServerUnaryReactor* ProvingService::Prove(grpc::CallbackServerContext* context,
                                                const v1::ProveRequest* /*in ProveMessages*/,
                                                v1::ProveResponse* response) {
  auto* reactor = new WaitingReactor(*context, *response->mutable_result());
  const std::shared_ptr<WaitingCall> call = reactor->call();
  if (const grpc::Status allowed = authorize(*context); !allowed.ok()) {
    call->end_with(allowed);
    return reactor;
  }
  std::shared_ptr<v1::ProveRequest> request =
      static_cast<ProveMessages*>(context->GetRpcAllocatorState())->take();
  if (!request->has_submit()) {
    const engine::EngineError error(engine::ErrorCode::kBadInput,
                                    "the field 'submit' of ProveRequest is missing");
    log_refusal({}, error);
    call->end_with(error);
    return reactor;
  }
  std::shared_ptr<UncheckedBytes> bytes;
  try {
    bytes = std::make_shared<UncheckedBytes>(*this, request->submit());
  } catch (const engine::EngineError& error) {
    call->end_with(error);
    return reactor;
  }
  waiting_.add(call);
  const int how_urgent = urgency(request->submit());
  checkers_.post(how_urgent, [this, call, request = std::move(request), bytes]() mutable {
    check_and_wait(call, std::move(request));
  });
  return reactor;
}

void ProvingService::check_and_wait(const std::shared_ptr<WaitingCall>& call,
                                    std::shared_ptr<v1::ProveRequest> message) {
  if (call->has_ended()) return;  // its client is gone already
  std::string job_id;
  try {
    engine::JobRequest request = translate(message->submit());
    message.reset();  // so that the payload is in memory once
    job_id = submit(api_, std::move(request)).job_id;
    api_.cancel_with_waiters(job_id);
  } catch (...) {
    call->end_with(to_engine_error(std::current_exception()));
    return;
  }
  // Also if the client went away meanwhile: the wait begins and ends, which cancels the job unless
  // somebody else wants it.
  call->wait_for(api_, job_id, std::chrono::milliseconds::zero());
}

grpc::ServerUnaryReactor* ProvingService::CancelProof(grpc::CallbackServerContext* context,
                                                      const v1::CancelProofRequest* request,
                                                      v1::CancelProofResponse* response) {
  return answer(*context, [&] { response->set_was_running(api_.cancel(request->job_id())); });
}

grpc::ServerUnaryReactor* ProvingService::GetStatus(grpc::CallbackServerContext* context,
                                                    const v1::GetStatusRequest* /*empty*/,
                                                    v1::GetStatusResponse* response) {
  return answer(*context, [&] { fill(api_.status(), *response); });
}

grpc::ServerUnaryReactor* ProvingService::GetMetrics(grpc::CallbackServerContext* context,
                                                     const v1::GetMetricsRequest* /*empty*/,
                                                     v1::GetMetricsResponse* response) {
  return answer(*context, [&] { response->set_prometheus_text(prometheus_text(api_.status())); });
}

grpc::ServerUnaryReactor* ProvingService::PreloadSRS(grpc::CallbackServerContext* context,
                                                     const v1::PreloadSrsRequest* request,
                                                     v1::PreloadSrsResponse* response) {
  return answer_later(*context, loaders_, 0, [this, request, response] {
    const engine::Engine::Preloaded preloaded = api_.preload(request->circuit_id());
    response->set_already_loaded(preloaded.already_loaded);
    response->set_load_time_ms(static_cast<std::uint64_t>(preloaded.load_time.count()));
  });
}

grpc::ServerUnaryReactor* ProvingService::EvictSRS(grpc::CallbackServerContext* context,
                                                   const v1::EvictSrsRequest* request,
                                                   v1::EvictSrsResponse* response) {
  return answer_later(*context, droppers_, 0, [this, request, response] {
    const engine::Engine::Evicted evicted = api_.evict(request->circuit_id());
    response->set_was_loaded(evicted.was_loaded);
    response->set_freed_bytes(evicted.freed_bytes);
  });
}

}  // namespace cuzk::service
