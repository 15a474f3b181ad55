#pragma once

#include "engine/engine.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cuzk::service {

/// What the service asks of the engine, so that it can be tested without one. The calls that
/// engine::Engine has too mean the same and throw the same. Any thread may call.
class EngineApi {
 public:
  /// Somebody who awaits a job. Destroying it before the end is that somebody's going away: a job
  /// that lives only as long as it is awaited is cancelled with its last waiter.
  class Waiter {
   public:
    virtual ~Waiter() = default;
  };
  /// How a wait ended: the job's result, or why there is none (no such job; the engine stops).
  using WaitEnd = std::variant<engine::JobResult, engine::EngineError>;

  virtual ~EngineApi() = default;
  virtual engine::Engine::Submitted submit(engine::JobRequest request) = 0;
  virtual void cancel_with_waiters(std::string_view job_id) = 0;
  /// Returns at once. `on_end` is called once, on another thread or before this returns; no more
  /// after the waiter is destroyed, except that a call under way goes on. It must not block.
  virtual std::unique_ptr<Waiter> wait(std::string_view job_id,
                                       std::function<void(WaitEnd)> on_end) = 0;
  virtual bool cancel(std::string_view job_id) = 0;
  virtual engine::Engine::Preloaded preload(std::string_view circuit_id) = 0;
  virtual engine::Engine::Evicted evict(std::string_view circuit_id) = 0;
  virtual engine::Status status() const = 0;
  virtual std::string trace_json() const = 0;
  virtual bool ready() const = 0;
  virtual void drain(std::chrono::milliseconds limit) = 0;
  virtual void stop_now() = 0;
  /// After the engine has stopped: returns when every job that ended was told to those who wait for
  /// it, or at the limit.
  virtual void settle(std::chrono::milliseconds limit) = 0;
};

}  // namespace cuzk::service
