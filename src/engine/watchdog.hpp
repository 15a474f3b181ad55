#pragma once

#include "engine/lifecycle.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace cuzk::engine {

/// Looks for partitions that stand still in a stage, and for keys that do not get loaded: says so
/// after a while, and fails the job at a limit. A device whose call does not come back gets no more
/// work until it has.
class Watchdog {
 public:
  struct Options {
    std::chrono::milliseconds warning{30'000}, limit{1'800'000};
  };
  Watchdog(JobTable& table, Lifecycle& lifecycle, KeyCache& keys,
           std::vector<std::unique_ptr<DeviceSlot>>& devices)
      : table_(table), lifecycle_(lifecycle), keys_(keys), devices_(devices) {}

  /// To be called every now and then, by one thread.
  void look(const Options& options, Clock::time_point now = Clock::now());

 private:
  struct Stall {
    std::shared_ptr<Job> job;  ///< that cannot go on; empty if it can
    std::string text;
    std::optional<std::size_t> device;  ///< that is to be reset
  };
  void look_at(const std::shared_ptr<Job>& job, const Options& options, Clock::time_point now,
               std::vector<Stall>& warnings, std::vector<Stall>& failures) const;

  JobTable& table_;
  Lifecycle& lifecycle_;
  KeyCache& keys_;
  std::vector<std::unique_ptr<DeviceSlot>>& devices_;
};

}  // namespace cuzk::engine
