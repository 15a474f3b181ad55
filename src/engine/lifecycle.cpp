#include "engine/lifecycle.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace cuzk::engine {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

base::LogFields fields(const Job& job) { return {.job = job.id, .kind = label(job.kind)}; }

/// When the answer stops being of use: an epoch for WinningPoSt, the half hour of a deadline for
/// WindowPoSt. It orders jobs of one priority.
Clock::time_point deadline_of(ProofKind kind, Clock::time_point accepted) {
  if (kind == ProofKind::kWinningPost) return accepted + std::chrono::seconds(30);
  if (kind == ProofKind::kWindowPost) return accepted + std::chrono::minutes(30);
  return Clock::time_point::max();
}

/// The partitions of a fresh job, with what was finished before.
std::vector<Partition> make_partitions(Job& job, std::size_t count) {
  std::vector<Partition> out(count);
  const Clock::time_point now = Clock::now();
  for (Partition& partition : out) partition.since = now;
  for (auto& [index, proof] : job.recovered) {
    if (index >= count || proof.size() != groth16::Proof::kBytes) continue;
    out[index].state = PartitionState::kDone;
    out[index].proof = std::move(proof);
  }
  job.recovered.clear();
  return out;
}

std::string backend_of(const Job& job) {
  std::set<std::string> devices;
  for (const Partition& partition : job.partitions) {
    if (!partition.device.empty()) devices.insert(partition.device);
  }
  std::string out;
  for (const std::string& device : devices) out += (out.empty() ? "" : ",") + device;
  return out;
}

JobResult make_result(const Job& job, JobState state, ErrorCode code, const std::string& text) {
  JobResult result;
  result.job_id = job.id;
  result.state = state;
  result.code = code;
  if (code != ErrorCode::kNone)
    result.error = fmt::format("{}: {}: {}", to_string(code), job.id, text);
  result.timings = job.timings;
  const Clock::time_point now = Clock::now();
  result.timings.total = duration_cast<milliseconds>(now - job.accepted);
  if (job.key_wait_since)
    result.timings.srs_load += duration_cast<milliseconds>(now - *job.key_wait_since);
  if (!job.first_start) result.timings.queue_wait = result.timings.total - result.timings.srs_load;
  std::chrono::nanoseconds witness{0}, device{0};
  for (const Partition& partition : job.partitions) {
    witness += partition.witness_time;
    device += partition.device_time;
    result.attempts = std::max(result.attempts, partition.tried);
    if (state == JobState::kCompleted)
      result.proof.insert(result.proof.end(), partition.proof.begin(), partition.proof.end());
  }
  result.timings.synthesis = duration_cast<milliseconds>(witness);
  result.timings.gpu_compute = duration_cast<milliseconds>(device);
  result.backend = backend_of(job);
  return result;
}

}  // namespace

std::shared_ptr<Job> Lifecycle::make_job(const JobRequest& request, std::string id,
                                         std::string digest, const CircuitId& circuit) const {
  auto job = std::make_shared<Job>(circuit);
  job->id = std::move(id);
  job->request_id = request.request_id;
  job->digest = std::move(digest);
  job->kind = request.kind;
  job->priority = effective_priority(request.kind, request.priority);
  job->sector_number = request.sector_number;
  job->miner_id = request.miner_id;
  job->accepted = job->last_progress = Clock::now();
  job->deadline = deadline_of(request.kind, job->accepted);
  return job;
}

std::shared_ptr<Job> Lifecycle::accept(const JobRequest& request, NewJob made) {
  auto job = make_job(request, std::move(made.id), std::move(made.digest), made.circuit);
  const std::size_t partitions = made.prepared.partitions();
  if (made.memory.bytes() != 0) {
    job->prepared = std::make_shared<const PreparedJob>(std::move(made.prepared));
    job->prepared_memory = std::move(made.memory);
  }
  job->submits = 1;
  journal_result_of(job->id);  // of an earlier job, which would stand in this one's way
  journal_.add(job->id, request, job->digest);
  metrics_.accepted(job->kind);
  base::process_log().info(fields(*job), "accepted: {}, priority {}, {} partitions",
                           job->circuit.to_string(), to_string(job->priority), partitions);
  {
    const JobTable::Lock lock = table_.lock();
    table_.set_partitions(lock, *job, make_partitions(*job, partitions));
    table_.add(lock, job);
  }
  changed_.raise();
  return job;
}

std::shared_ptr<Job> Lifecycle::resume(Journal::UnfinishedJob unfinished,
                                       const CircuitId& circuit) {
  auto job = make_job(unfinished.request, std::move(unfinished.job_id),
                      std::move(unfinished.payload_digest), circuit);
  // It goes on with the age it has, unless the system's clock was set back meanwhile.
  const auto now = std::chrono::system_clock::now();
  if (unfinished.accepted < now) {
    job->accepted -= duration_cast<Clock::duration>(now - unfinished.accepted);
    job->deadline = deadline_of(job->kind, job->accepted);
  }
  job->recovered = std::move(unfinished.partitions);
  job->submits = 1;
  metrics_.accepted(job->kind);
  base::process_log().info(fields(*job), "resumed from the journal with {} partitions finished",
                           job->recovered.size());
  {
    const JobTable::Lock lock = table_.lock();
    table_.add(lock, job);
  }
  changed_.raise();
  return job;
}

void Lifecycle::decoded(const std::shared_ptr<Job>& job, PreparedJob prepared, Reservation memory) {
  bool complete = false;
  {
    const JobTable::Lock lock = table_.lock();
    job->decoding = false;
    if (job->ending) return;
    if (job->partitions.empty())
      table_.set_partitions(lock, *job, make_partitions(*job, prepared.partitions()));
    job->prepared = std::make_shared<const PreparedJob>(std::move(prepared));
    job->prepared_memory = std::move(memory);
    job->last_progress = Clock::now();
    complete = job->count(PartitionState::kDone) == job->partitions.size();
  }
  // The process died between the last partition and the result.
  if (complete) end(job, JobState::kCompleted, ErrorCode::kNone, {});
  changed_.raise();
}

bool Lifecycle::is_current(const Attempt& attempt, PartitionState state) {
  if (attempt.job->ending) return false;
  const Partition& partition = attempt.job->partitions[attempt.index];
  return partition.attempt == attempt.number && partition.state == state;
}

void Lifecycle::witness_done(const Attempt& attempt, std::shared_ptr<const r1cs::Witness> witness,
                             KeyLease key, Reservation memory, std::chrono::nanoseconds time) {
  Job& job = *attempt.job;
  metrics_.stage(job.kind, "witness", time);
  {
    const JobTable::Lock lock = table_.lock();
    if (!is_current(attempt, PartitionState::kWitness)) return;
    Partition& partition = job.partitions[attempt.index];
    const Clock::time_point now = Clock::now();
    table_.enter(lock, attempt.job, partition, PartitionState::kWitnessDone, now);
    partition.witness_time += time;
    partition.witness = std::move(witness);
    partition.key = std::move(key);
    partition.memory = std::move(memory);
    job.last_progress = now;
  }
  changed_.raise();
}

void Lifecycle::device_done(const Attempt& attempt, const groth16::Proof& proof, KeyLease key,
                            std::chrono::nanoseconds time) {
  Job& job = *attempt.job;
  {
    const JobTable::Lock lock = table_.lock();
    if (!is_current(attempt, PartitionState::kDevice)) return;
    Partition& partition = job.partitions[attempt.index];
    const Clock::time_point now = Clock::now();
    table_.enter(lock, attempt.job, partition, PartitionState::kVerify, now);
    partition.device_time += time;
    partition.unverified = proof;
    partition.key = std::move(key);
    job.last_progress = now;
  }
  changed_.raise();
}

void Lifecycle::verified(const Attempt& attempt, const groth16::Proof& proof) {
  Job& job = *attempt.job;
  const auto bytes = proof.to_bytes();
  {
    const JobTable::Lock lock = table_.lock();
    if (!is_current(attempt, PartitionState::kVerify)) return;
  }
  try {
    journal_.add_partition(job.id, attempt.index, bytes);
  } catch (const std::exception& error) {
    // The proof is as good without; after a crash the partition is proved again.
    base::process_log().error(fields(job), "partition {} was not journalled: {}", attempt.index,
                              error.what());
  }
  bool complete = false;
  {
    const JobTable::Lock lock = table_.lock();
    if (!is_current(attempt, PartitionState::kVerify)) return;
    Partition& partition = job.partitions[attempt.index];
    const Clock::time_point now = Clock::now();
    table_.enter(lock, attempt.job, partition, PartitionState::kDone, now);
    partition.key.release();
    partition.proof.assign(bytes.begin(), bytes.end());
    job.last_progress = now;
    complete = job.count(PartitionState::kDone) == job.partitions.size();
  }
  if (complete) end(attempt.job, JobState::kCompleted, ErrorCode::kNone, {});
  changed_.raise();
}

bool Lifecycle::has_verified(const Job& job) const {
  const JobTable::Lock lock = table_.lock();
  return job.has(PartitionState::kDone);
}

void Lifecycle::attempt_failed(const Attempt& attempt, ErrorCode code, const std::string& text,
                               std::optional<std::size_t> device) {
  Job& job = *attempt.job;
  bool last = false;
  std::uint32_t tried = 0;
  {
    const JobTable::Lock lock = table_.lock();
    if (job.ending || job.partitions[attempt.index].attempt != attempt.number) return;
    Partition& partition = job.partitions[attempt.index];
    tried = partition.tried;
    last = tried >= options_.partition_attempts;
    if (!last) {
      table_.enter(lock, attempt.job, partition, PartitionState::kPending);
      partition.avoid = device;
    }
  }
  base::process_log().warn({.job = job.id,
                            .partition = attempt.index,
                            .device = {},
                            .kind = label(job.kind),
                            .code = to_string(code)},
                           "attempt {} of {}: {}{}", tried, options_.partition_attempts, text,
                           last ? "" : "; it is tried again");
  if (last) {
    fail(attempt.job, code,
         fmt::format("partition {} of {}, attempt {}: {}", attempt.index, job.partitions.size(),
                     tried, text));
  } else {
    metrics_.partition_retried();
  }
  changed_.raise();
}

bool Lifecycle::fail(const std::shared_ptr<Job>& job, ErrorCode code, const std::string& text) {
  return end(job, JobState::kFailed, code, text);
}

bool Lifecycle::cancel(const std::shared_ptr<Job>& job, ErrorCode code, const std::string& text,
                       const std::function<bool()>& still) {
  return end(job, JobState::kCancelled, code, text, still);
}

bool Lifecycle::end(const std::shared_ptr<Job>& job, JobState state, ErrorCode code,
                    const std::string& text, const std::function<bool()>& still) {
  JobResult result;
  {
    const JobTable::Lock lock = table_.lock();
    if (still && !still()) return false;
    if (!table_.begin_end(lock, job)) return false;
    result = make_result(*job, state, code, text);
  }
  journal_result(*job, result);
  metrics_.ended(job->kind, result);
  base::LogFields about = fields(*job);
  if (code != ErrorCode::kNone) about.code = to_string(code);
  const double seconds = std::chrono::duration<double>(result.timings.total).count();
  if (state == JobState::kCompleted) {
    base::process_log().info(about, "completed in {:.3f} s by {}", seconds, result.backend);
  } else {
    base::process_log().warn(about, "{} after {:.3f} s: {}", to_string(state), seconds, text);
  }
  {
    const JobTable::Lock lock = table_.lock();
    table_.end(lock, job, std::move(result));
  }
  changed_.raise();
  return true;
}

void Lifecycle::journal_result(const Job& job, const JobResult& result) {
  try {
    journal_.finish(result);
  } catch (const base::InvalidInput& error) {
    base::process_log().error(fields(job), "the result was not journalled: {}", error.what());
  } catch (const std::exception& error) {
    // Whoever waits gets the result. Were the process to die now, the job would be proved again.
    base::process_log().error(fields(job),
                              "the result was not journalled: {}; it is kept and written later",
                              error.what());
    const std::lock_guard lock(results_mutex_);
    results_.insert_or_assign(result.job_id, result);
  }
}

void Lifecycle::write_late(Results::const_iterator result) {
  try {
    journal_.finish(result->second);
    base::process_log().info({.job = result->first}, "the result is journalled now");
  } catch (const base::InvalidInput& error) {
    base::process_log().error({.job = result->first}, "the result was not journalled: {}",
                              error.what());
  }
  results_.erase(result);
}

void Lifecycle::journal_results() {
  const std::lock_guard lock(results_mutex_);
  try {
    while (!results_.empty()) write_late(results_.begin());
  } catch (const std::exception&) {
    // Said when the job ended.
  }
}

void Lifecycle::journal_result_of(const std::string& job_id) {
  const std::lock_guard lock(results_mutex_);
  const auto result = results_.find(job_id);
  if (result != results_.end()) write_late(result);
}

void Lifecycle::mark(const std::shared_ptr<Job>& job, bool begins) {
  const std::lock_guard lock(job->mark_mutex);
  const bool changes = begins ? job->in_work++ == 0 : --job->in_work == 0;
  if (!changes) return;
  try {
    begins ? journal_.mark_started(job->id) : journal_.mark_stopped(job->id);
  } catch (const std::exception&) {
    // The job has ended, or the disk is full: then a crash is not put down to it.
  }
}

Lifecycle::WorkMark::WorkMark(Lifecycle& lifecycle, std::shared_ptr<Job> job)
    : lifecycle_(lifecycle), job_(std::move(job)) {
  lifecycle_.mark(job_, true);
}

Lifecycle::WorkMark::~WorkMark() {
  if (!is_kept_) lifecycle_.mark(job_, false);
}

}  // namespace cuzk::engine
