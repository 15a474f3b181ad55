#pragma once

#include "cuzk/v1/proving.pb.h"
#include "service/engine_api.hpp"

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cuzk::service {

/// Puts the error's code among the call's trailing metadata and returns its status.
grpc::Status refuse(grpc::CallbackServerContext& context, const engine::EngineError& error);

/// A call whose answer comes when a job ends, and which costs no thread until then. Whichever comes
/// first ends it, once: the job's end, an error, the time limit, the client's going away. Any
/// thread may call.
class WaitingCall : public std::enable_shared_from_this<WaitingCall> {
 public:
  /// All three live until the reactor's Finish, which this calls.
  WaitingCall(grpc::CallbackServerContext& context, grpc::ServerUnaryReactor& reactor,
              v1::AwaitProofResponse& answer)
      : context_(context), reactor_(reactor), answer_(answer) {}

  /// From now on the call waits for the job, if it has not ended. `timeout` zero: no limit.
  void wait_for(EngineApi& api, const std::string& job_id, std::chrono::milliseconds timeout);
  void end_with(const engine::JobResult& result);
  void end_with(const engine::EngineError& error);
  void end_with(const grpc::Status& status);
  bool has_ended() const;

 private:
  template <class Answer>
  void end(Answer answer);

  grpc::CallbackServerContext& context_;
  grpc::ServerUnaryReactor& reactor_;
  v1::AwaitProofResponse& answer_;

  mutable std::mutex mutex_;  // guards what follows
  bool ended_ = false;
  std::unique_ptr<EngineApi::Waiter> waiter_;
  std::shared_ptr<grpc::Alarm> alarm_;
};

/// gRPC's side of a WaitingCall.
class WaitingReactor final : public grpc::ServerUnaryReactor {
 public:
  WaitingReactor(grpc::CallbackServerContext& context, v1::AwaitProofResponse& answer)
      : call_(std::make_shared<WaitingCall>(context, *this, answer)) {}

  const std::shared_ptr<WaitingCall>& call() const { return call_; }
  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  std::shared_ptr<WaitingCall> call_;
};

/// The calls that wait now, so that they can be ended together.
class WaitingCalls {
 public:
  void add(const std::shared_ptr<WaitingCall>& call);
  void end_all(const engine::EngineError& error);
  std::size_t count() const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::weak_ptr<WaitingCall>> calls_;
  std::size_t prune_at_ = 64;
};

}  // namespace cuzk::service
