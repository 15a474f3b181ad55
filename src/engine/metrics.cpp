#include "engine/metrics.hpp"

namespace cuzk::engine {

namespace {

constexpr ProofKind kKinds[] = {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindowPost,
                                ProofKind::kWinningPost};

bool is_kind(ProofKind kind) {
  return kind >= ProofKind::kPorep && kind <= ProofKind::kWinningPost;
}

}  // namespace

Metrics::Metrics() {
  for (const ProofKind kind : kKinds) counters_.kinds[kind];
}

void Metrics::accepted(ProofKind kind) {
  const std::lock_guard lock(mutex_);
  ++of(kind).accepted;
}

void Metrics::refused(ProofKind kind, ErrorCode code) {
  // A kind that does not exist is counted with the first one, so that no refusal is lost.
  const std::lock_guard lock(mutex_);
  ++of(is_kind(kind) ? kind : ProofKind::kPorep).refused[std::string(to_string(code))];
}

void Metrics::ended(ProofKind kind, const JobResult& result) {
  const std::lock_guard lock(mutex_);
  Counters::ByKind& counts = of(kind);
  if (result.state == JobState::kCompleted) {
    ++counts.completed;
    counts.stages["total"].add(std::chrono::duration<double>(result.timings.total).count());
  } else if (result.state == JobState::kCancelled) {
    ++counts.cancelled;
  } else {
    ++counts.failed;
    ++counts.failed_with[std::string(to_string(result.code))];
  }
  counts.stages["queue_wait"].add(std::chrono::duration<double>(result.timings.queue_wait).count());
  counts.stages["srs_load"].add(std::chrono::duration<double>(result.timings.srs_load).count());
}

void Metrics::joined() {
  const std::lock_guard lock(mutex_);
  ++counters_.joined;
}
void Metrics::replayed() {
  const std::lock_guard lock(mutex_);
  ++counters_.replayed;
}
void Metrics::superseded() {
  const std::lock_guard lock(mutex_);
  ++counters_.superseded;
}
void Metrics::partition_retried() {
  const std::lock_guard lock(mutex_);
  ++counters_.partition_retries;
}
void Metrics::self_check_failed() {
  const std::lock_guard lock(mutex_);
  ++counters_.self_check_failures;
}

void Metrics::prestaged(std::string_view outcome) {
  const std::lock_guard lock(mutex_);
  ++counters_.prestage[std::string(outcome)];
}

void Metrics::stage(ProofKind kind, std::string_view stage, std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex_);
  of(kind).stages[std::string(stage)].add(std::chrono::duration<double>(time).count());
}

void Metrics::stages(ProofKind kind, const base::StageTimer& timer) {
  const std::lock_guard lock(mutex_);
  for (const base::StageTimer::Entry& entry : timer.entries()) {
    of(kind).stages[std::string(entry.stage)].add(
        std::chrono::duration<double>(entry.time).count());
  }
}

Counters Metrics::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace cuzk::engine
