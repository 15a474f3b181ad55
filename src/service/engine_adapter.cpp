#include "service/engine_adapter.hpp"

#include <chrono>
#include <utility>

namespace cuzk::service {

EngineAdapter::EngineAdapter(engine::Engine& engine)
    : engine_(engine),
      waits_([&engine](const std::string& job_id, const std::function<bool()>& abandoned) {
        return engine.await(job_id, std::chrono::milliseconds::zero(), abandoned);
      }) {}

engine::Engine::Submitted EngineAdapter::submit(engine::JobRequest request) {
  return engine_.submit(std::move(request));
}

void EngineAdapter::cancel_with_waiters(std::string_view job_id) {
  engine_.cancel_with_waiters(job_id);
}

std::unique_ptr<EngineApi::Waiter> EngineAdapter::wait(std::string_view job_id,
                                                       std::function<void(WaitEnd)> on_end) {
  return waits_.wait(std::string(job_id), std::move(on_end));
}

bool EngineAdapter::cancel(std::string_view job_id) { return engine_.cancel(job_id); }

engine::Engine::Preloaded EngineAdapter::preload(std::string_view circuit_id) {
  return engine_.preload(circuit_id);
}

engine::Engine::Evicted EngineAdapter::evict(std::string_view circuit_id) {
  return engine_.evict(circuit_id);
}

engine::Status EngineAdapter::status() const { return engine_.status(); }

std::string EngineAdapter::trace_json() const { return engine_.trace_json(); }

bool EngineAdapter::ready() const { return engine_.ready(); }

void EngineAdapter::drain(std::chrono::milliseconds limit) { engine_.drain(limit); }

void EngineAdapter::stop_now() { engine_.stop_now(); }

}  // namespace cuzk::service
