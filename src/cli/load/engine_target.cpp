#include "cli/load/engine_target.hpp"

#include "base/error.hpp"
#include "engine/config_settings.hpp"
#include "engine/engine.hpp"
#include "service/metrics.hpp"

#include <charconv>
#include <thread>
#include <utility>

namespace cuzk::cli::load {

namespace {

class EngineTarget final : public Target {
 public:
  EngineTarget(std::string name, const engine::Config& config,
               std::vector<std::unique_ptr<engine::ProvingDevice>> devices)
      : name_(std::move(name)),
        engine_(config, std::move(devices),
                std::make_unique<engine::Journal>(":memory:", engine::Journal::Options())) {
    while (!engine_.ready()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  std::string name() const override { return name_; }

  Answer prove(const engine::JobRequest& request, std::chrono::milliseconds limit) override {
    Answer answer;
    try {
      const std::string job = engine_.submit(request).job_id;
      engine_.cancel_with_waiters(job);
      const auto is_over = [&] {
        answer.error = engine_.status().restart_because;
        return !answer.error.empty();
      };
      if (auto result = engine_.await(job, limit, is_over)) return to_answer(std::move(*result));
      answer.outcome = Answer::Outcome::kGaveUp;
    } catch (const engine::EngineError& error) {
      answer.outcome = Answer::Outcome::kRefused;
      answer.code = engine::to_string(error.code());
      answer.error = error.what();
    }
    return answer;
  }

  MetricsText metrics() override { return MetricsText(service::prometheus_text(engine_.status())); }

 private:
  static Answer to_answer(engine::JobResult result) {
    using Outcome = Answer::Outcome;
    Answer answer;
    answer.outcome = result.state == engine::JobState::kCompleted   ? Outcome::kCompleted
                     : result.state == engine::JobState::kCancelled ? Outcome::kCancelled
                                                                    : Outcome::kFailed;
    answer.proof = std::move(result.proof);
    if (result.code != engine::ErrorCode::kNone) answer.code = engine::to_string(result.code);
    answer.error = std::move(result.error);
    answer.timings = result.timings;
    answer.attempts = result.attempts;
    answer.backend = std::move(result.backend);
    return answer;
  }

  const std::string name_;
  engine::Engine engine_;
};

/// What `text` would be in a file: true, false, a number, else a text.
engine::ConfigValue parse_value(const std::string& text) {
  if (text == "true" || text == "false") return {.value = text == "true"};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return {.value = number};
  return {.value = text};
}

}  // namespace

std::unique_ptr<Target> make_engine_target(
    std::string name, const engine::Config& config,
    std::vector<std::unique_ptr<engine::ProvingDevice>> devices) {
  return std::make_unique<EngineTarget>(std::move(name), config, std::move(devices));
}

void set(engine::Config& config, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  base::require(equals != std::string::npos, "'{}': a setting is given as section.key=value",
                assignment);
  const std::string name = assignment.substr(0, equals);
  const engine::Setting* setting = engine::find_setting(name);
  base::require(setting != nullptr,
                "'{}': there is no such setting; `cuzk daemon --print-config` shows all", name);
  try {
    setting->read(config, parse_value(assignment.substr(equals + 1)));
  } catch (const base::InvalidInput& error) {
    base::fail<base::InvalidInput>("{}: {}", name, error.what());
  }
}

}  // namespace cuzk::cli::load
