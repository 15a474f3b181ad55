#pragma once

#include "service/engine_api.hpp"

#include <functional>
#include <memory>
#include <string>

namespace cuzk::service {

/// Turns the engine's blocking wait into callbacks: one thread for each job that is awaited,
/// however many await it, so that callers cost no thread each. The engine bounds its jobs, and so
/// the threads; theirs have small stacks.
class JobWaits {
 public:
  /// As engine::Engine::await without a time limit: empty once `abandoned` returned true.
  using Await = std::function<std::optional<engine::JobResult>(
      const std::string& job_id, const std::function<bool()>& abandoned)>;

  explicit JobWaits(Await await);
  /// Blocks until the last wait has returned: the engine has stopped, or all waiters are gone.
  ~JobWaits();
  /// The same, but no longer than so.
  void settle(std::chrono::milliseconds limit);
  JobWaits(const JobWaits&) = delete;
  JobWaits& operator=(const JobWaits&) = delete;

  /// As EngineApi::wait.
  std::unique_ptr<EngineApi::Waiter> wait(std::string job_id,
                                          std::function<void(EngineApi::WaitEnd)> on_end);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace cuzk::service
