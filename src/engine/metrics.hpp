#pragma once

#include "base/stage_timer.hpp"
#include "engine/job.hpp"
#include "engine/status.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace cuzk::engine {

/// What has been counted since the start. Any thread may call.
class Metrics {
 public:
  Metrics();

  void accepted(ProofKind kind);
  void refused(ProofKind kind, ErrorCode code);
  void ended(ProofKind kind, const JobResult& result);
  void joined();
  void replayed();
  void superseded();
  void partition_retried();
  void self_check_failed();
  /// "hit", "skip_vram", "skip_pin".
  void prestaged(std::string_view outcome);

  void stage(ProofKind kind, std::string_view stage, std::chrono::nanoseconds time);
  /// Every entry of the timer.
  void stages(ProofKind kind, const base::StageTimer& timer);

  /// Jobs pending and in progress are the table's to fill in.
  Counters counters() const;

 private:
  Counters::ByKind& of(ProofKind kind) { return counters_.kinds[kind]; }

  mutable std::mutex mutex_;
  Counters counters_;  // guarded by mutex_
};

}  // namespace cuzk::engine
