#pragma once

#include "service/engine_api.hpp"
#include "service/job_waits.hpp"

namespace cuzk::service {

/// The engine itself behind the service's seam.
class EngineAdapter final : public EngineApi {
 public:
  /// `engine` outlives the adapter, but has stopped before the adapter goes.
  explicit EngineAdapter(engine::Engine& engine);

  engine::Engine::Submitted submit(engine::JobRequest request) override;
  void cancel_with_waiters(std::string_view job_id) override;
  std::unique_ptr<Waiter> wait(std::string_view job_id,
                               std::function<void(WaitEnd)> on_end) override;
  bool cancel(std::string_view job_id) override;
  engine::Engine::Preloaded preload(std::string_view circuit_id) override;
  engine::Engine::Evicted evict(std::string_view circuit_id) override;
  engine::Status status() const override;
  std::string trace_json() const override;
  bool ready() const override;
  void drain(std::chrono::milliseconds limit) override;
  void stop_now() override;
  void settle(std::chrono::milliseconds limit) override { waits_.settle(limit); }

 private:
  engine::Engine& engine_;
  JobWaits waits_;
};

}  // namespace cuzk::service
