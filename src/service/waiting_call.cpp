#include "service/waiting_call.hpp"

#include "base/log.hpp"
#include "service/errors.hpp"
#include "service/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cuzk::service {

grpc::Status refuse(grpc::CallbackServerContext& context, const engine::EngineError& error) {
  // Requests that are refused are logged where they are.
  base::process_log().debug({.code = engine::to_string(error.code())}, "call from {} refused: {}",
                            context.peer(), error.what());
  context.AddTrailingMetadata(kCodeMetadata, std::string(engine::to_string(error.code())));
  context.AddTrailingMetadata(kRetryableMetadata,
                              engine::is_retryable(error.code()) ? "true" : "false");
  return to_status(error);
}

// `answer` writes the answer and returns the status. The waiter goes away after the answer, so that
// an end by the client is told to the engine, and without the lock, which its callback takes.
template <class Answer>
void WaitingCall::end(Answer answer) {
  std::unique_ptr<EngineApi::Waiter> waiter;
  std::shared_ptr<grpc::Alarm> alarm;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
    waiter = std::move(waiter_);
    alarm = std::move(alarm_);
  }
  const grpc::Status status = answer();
  reactor_.Finish(status);
}

void WaitingCall::end_with(const engine::JobResult& result) {
  end([&] {
    fill(result, answer_);
    return grpc::Status::OK;
  });
}

void WaitingCall::end_with(const engine::EngineError& error) {
  end([&] { return refuse(context_, error); });
}

void WaitingCall::end_with(const grpc::Status& status) {
  end([&] { return status; });
}

bool WaitingCall::has_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void WaitingCall::wait_for(EngineApi& api, const std::string& job_id,
                           std::chrono::milliseconds timeout) {
  const auto self = shared_from_this();
  std::unique_ptr<EngineApi::Waiter> waiter;
  try {
    waiter = api.wait(job_id, [self](const EngineApi::WaitEnd& end) {
      std::visit([&](const auto& value) { self->end_with(value); }, end);
    });
  } catch (...) {
    end_with(to_engine_error(std::current_exception()));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) waiter_ = std::move(waiter);
  }
  if (timeout == std::chrono::milliseconds::zero()) return;
  constexpr std::chrono::hours kLongest{24 * 365};
  const auto limit = std::min<std::chrono::milliseconds>(timeout, kLongest);
  const auto alarm = std::make_shared<grpc::Alarm>();
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    alarm_ = alarm;
  }
  // Without the lock: a limit that has passed already calls back from inside Set.
  alarm->Set(std::chrono::system_clock::now() + limit, [self, job_id, timeout](bool expired) {
    if (!expired) return;
    self->end([&] {
      self->answer_.set_job_id(job_id);
      self->answer_.set_status(v1::AwaitProofResponse::TIMEOUT);
      self->answer_.set_error_message(fmt::format(
          "TIMEOUT: job {} has not ended within {} ms; it goes on", job_id, timeout.count()));
      return grpc::Status::OK;
    });
  });
}

void WaitingReactor::OnCancel() {
  call_->end_with(grpc::Status(grpc::StatusCode::CANCELLED, "the client went away"));
}

void WaitingCalls::add(const std::shared_ptr<WaitingCall>& call) {
  const std::lock_guard lock(mutex_);
  if (calls_.size() >= prune_at_) {
    std::erase_if(calls_, [](const auto& entry) {
      const auto alive = entry.lock();
      return !alive || alive->has_ended();
    });
    prune_at_ = std::max<std::size_t>(64, 2 * calls_.size());
  }
  calls_.push_back(call);
}

void WaitingCalls::end_all(const engine::EngineError& error) {
  std::vector<std::weak_ptr<WaitingCall>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
  }
  for (const auto& entry : calls) {
    if (const auto call = entry.lock()) call->end_with(error);
  }
}

std::size_t WaitingCalls::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(calls_.begin(), calls_.end(), [](const auto& entry) {
        const auto alive = entry.lock();
        return alive && !alive->has_ended();
      }));
}

}  // namespace cuzk::service
