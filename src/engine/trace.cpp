#include "engine/trace.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <utility>

namespace cuzk::engine {

void Trace::push(Span span) {
  spans_.push_back(std::move(span));
  if (spans_.size() > capacity_) spans_.pop_front();
}

void Trace::add(Span span) {
  const std::lock_guard lock(mutex_);
  push(std::move(span));
}

void Trace::add(const Span& whole, const base::StageTimer& timer) {
  const std::lock_guard lock(mutex_);
  push(whole);
  Clock::time_point at = whole.begin;
  for (const base::StageTimer::Entry& entry : timer.entries()) {
    Span part = whole;
    part.stage = entry.stage;
    part.begin = at;
    part.length = entry.time;
    at += entry.time;
    push(std::move(part));
  }
}

std::string Trace::json() const {
  std::deque<Span> spans;
  {
    const std::lock_guard lock(mutex_);
    spans = spans_;
  }
  const auto microseconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  std::map<std::string, int> rows;
  nlohmann::json events = nlohmann::json::array();
  for (const Span& span : spans) {
    const int row = rows.try_emplace(span.track, static_cast<int>(rows.size()) + 1).first->second;
    nlohmann::json arguments = {{"job", span.job}};
    if (span.partition) arguments["partition"] = *span.partition;
    if (!span.device.empty()) arguments["device"] = span.device;
    events.push_back({{"name", span.stage},
                      {"cat", "stage"},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", row},
                      {"ts", microseconds(span.begin - origin_)},
                      {"dur", microseconds(span.length)},
                      {"args", std::move(arguments)}});
  }
  for (const auto& [name, row] : rows) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", row},
                      {"args", {{"name", name}}}});
  }
  const nlohmann::json out = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  // Ids come from clients and need not be UTF-8.
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace cuzk::engine
