#pragma once

#include "base/stage_timer.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace cuzk::engine {

/// What happened when, on which thread or device: the spans of the latest partitions, in memory.
/// Any thread may call.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  struct Span {
    std::string track;  ///< the row it is drawn in: "cuda:0 worker 1", "witness 3"
    std::string stage;
    std::string job;
    std::optional<std::uint32_t> partition;
    std::string device;
    Clock::time_point begin;
    std::chrono::nanoseconds length{0};
  };

  /// Keeps that many spans; older ones are forgotten.
  explicit Trace(std::size_t capacity = 100'000) : capacity_(capacity) {}

  void add(Span span);
  /// A span, and within it the timer's stages one after the other in the order of their first use.
  /// Their lengths are measured; where stages overlap, their places are not.
  void add(const Span& whole, const base::StageTimer& timer);

  /// Chrome's trace-event format: {"traceEvents": [...]}, complete events in microseconds since the
  /// start of this object, with job, partition and device as arguments, and a name for each row.
  std::string json() const;

 private:
  void push(Span span);

  const std::size_t capacity_;
  const Clock::time_point origin_ = Clock::now();
  mutable std::mutex mutex_;
  std::deque<Span> spans_;  // guarded by mutex_
};

}  // namespace cuzk::engine
