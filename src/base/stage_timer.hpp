#pragma once

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

namespace cuzk::base {

/// Wall-clock time of named stages, in the order of their first use. What a stage's time includes
/// is said where the stage is measured. One thread uses the object at a time.
class StageTimer {
 public:
  struct Entry {
    std::string_view stage;
    std::chrono::nanoseconds time;
  };

  /// Calls `work` and adds its time to the stage's. `stage` must outlive the object: a string
  /// literal.
  template <class Work>
  auto measure(std::string_view stage, Work&& work) {
    const Stop stop{*this, stage, std::chrono::steady_clock::now()};
    return std::forward<Work>(work)();
  }

  /// Adds a time that was taken elsewhere, by a device's clock for example.
  void add(std::string_view stage, std::chrono::nanoseconds time) {
    for (Entry& entry : entries_) {
      if (entry.stage == stage) {
        entry.time += time;
        return;
      }
    }
    entries_.push_back({stage, time});
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  struct Stop {
    StageTimer& timer;
    std::string_view stage;
    std::chrono::steady_clock::time_point start;
    ~Stop() { timer.add(stage, std::chrono::steady_clock::now() - start); }
  };

  std::vector<Entry> entries_;
};

}  // namespace cuzk::base
