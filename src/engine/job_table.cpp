#include "engine/job_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace cuzk::engine {

std::string WaitReason::to_string(const CircuitId& circuit) const {
  const auto memory = [&](std::string_view what) {
    return fmt::format("{}: needs {}, {} free", what, format_bytes(needed),
                       format_bytes(available));
  };
  switch (kind) {
    case Kind::kNone:
      return {};
    case Kind::kSlot:
      return "its turn: the stages before the devices are full";
    case Kind::kHostMemory:
      return memory("host memory");
    case Kind::kKeyMemory:
      return memory("host memory for key " + circuit.to_string());
    case Kind::kDeviceMemory:
      return memory("device memory for key " + circuit.to_string());
    case Kind::kKeyLoading:
      return "key " + circuit.to_string() + " is loading";
    case Kind::kKeyCheck:
      return "the check of the files of " + circuit.to_string();
    case Kind::kDeviceClaimed:
      return "its turn: a job before it needs the device memory of key " + circuit.to_string();
    case Kind::kNoDevice:
      return "a device: all are being reset and tested";
  }
  return {};
}

bool is_transition(PartitionState from, PartitionState to) {
  using enum PartitionState;
  switch (from) {
    case kPending:
      return to == kWitness || to == kFailed;
    case kWitness:
      return to == kWitnessDone || to == kPending || to == kFailed;
    case kWitnessDone:
      return to == kDevice || to == kPending || to == kFailed;
    case kDevice:
      return to == kVerify || to == kPending || to == kFailed;
    case kVerify:
      return to == kDone || to == kPending || to == kFailed;
    case kDone:
    case kFailed:
      return false;
  }
  return false;
}

void Partition::enter(PartitionState next, Clock::time_point now) {
  if (!is_transition(state, next)) {
    throw std::logic_error(fmt::format("a partition cannot go from {} to {}",
                                       engine::to_string(state), engine::to_string(next)));
  }
  state = next;
  since = now;
  stall_reported = false;
  if (next == PartitionState::kPending || next == PartitionState::kFailed) {
    witness.reset();
    key.release();
    memory.release();
    unverified.reset();
  }
}

bool JobTable::Before::operator()(const std::shared_ptr<Job>& a,
                                  const std::shared_ptr<Job>& b) const {
  return std::tuple(b->priority, a->deadline, a->sequence) <
         std::tuple(a->priority, b->deadline, b->sequence);
}

void JobTable::add(const Lock&, const std::shared_ptr<Job>& job) {
  job->sequence = next_sequence_++;
  by_id_[job->id] = job;
  if (!job->request_id.empty()) by_request_[job->request_id] = job;
  order_.insert(job);
}

void JobTable::set_partitions(const Lock&, Job& job, std::vector<Partition> partitions) {
  job.partitions = std::move(partitions);
  for (const Partition& partition : job.partitions) {
    const auto state = static_cast<std::size_t>(partition.state);
    ++job.counts[state];
    ++counts_[static_cast<std::size_t>(job.lane())][state];
  }
}

void JobTable::enter(const Lock&, const std::shared_ptr<Job>& job, Partition& partition,
                     PartitionState next, Clock::time_point now) {
  const auto from = static_cast<std::size_t>(partition.state), to = static_cast<std::size_t>(next);
  partition.enter(next, now);
  auto& counts = counts_[static_cast<std::size_t>(job->lane())];
  --job->counts[from];
  --counts[from];
  ++job->counts[to];
  ++counts[to];
  if (next == PartitionState::kWitness && job->state == JobState::kQueued) {
    job->state = JobState::kRunning;
    running_.insert(job);
  }
}

std::shared_ptr<Job> JobTable::find(const Lock&, std::string_view job_id) const {
  const auto found = by_id_.find(job_id);
  return found != by_id_.end() ? found->second : nullptr;
}

std::shared_ptr<Job> JobTable::find_request(const Lock&, std::string_view request_id) const {
  const auto found = by_request_.find(request_id);
  return found != by_request_.end() ? found->second : nullptr;
}

void JobTable::visit_in_order(const Order& jobs, const Visit& visit) const {
  std::shared_ptr<Job> first;
  for (const auto& job : patient_) {
    if (jobs.contains(job) && (!first || job->sequence < first->sequence)) first = job;
  }
  bool visited = !first;
  for (const auto& job : jobs) {
    if (!visited && job->priority != Priority::kCritical) {
      visited = true;
      if (!visit(first)) return;
    }
    if (job != first && !visit(job)) return;
  }
}

void JobTable::count_overtaking(const Lock&, const std::shared_ptr<Job>& job) {
  job->overtaken = 0;
  patient_.erase(job);
  // Those of lower priority stand behind it.
  for (auto it = order_.rbegin(); it != order_.rend() && (*it)->priority < job->priority; ++it) {
    const std::shared_ptr<Job>& other = *it;
    if (other->sequence > job->sequence || other->priority == Priority::kLow) continue;
    const bool waits = other->partitions.empty() || other->has(PartitionState::kPending) ||
                       other->has(PartitionState::kWitnessDone);
    if (waits && ++other->overtaken >= kOvertakenLimit) patient_.insert(other);
  }
}

std::size_t JobTable::unfinished(const Lock&, const std::function<bool(const Job&)>& which) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(order_, [&](const auto& job) { return which(*job); }));
}

std::size_t JobTable::position(const Lock&, const Job& job) const {
  std::size_t before = 0;
  for (const auto& other : order_) {
    if (other.get() == &job) break;
    ++before;
  }
  return before;
}

bool JobTable::begin_end(const Lock&, const std::shared_ptr<Job>& job) {
  if (job->ending) return false;
  job->ending = true;
  order_.erase(job);
  running_.erase(job);
  patient_.erase(job);
  for (std::size_t state = 0; state < kPartitionStates; ++state)
    counts_[static_cast<std::size_t>(job->lane())][state] -= job->counts[state];
  ending_.push_back(job);
  return true;
}

void JobTable::end(const Lock&, const std::shared_ptr<Job>& job, JobResult result) {
  const Clock::time_point now = Clock::now();
  job->state = result.state;
  job->result = std::move(result);
  job->prepared.reset();
  job->prepared_memory.release();
  job->waiting_for = {};
  for (Partition& partition : job->partitions) {
    if (partition.state != PartitionState::kDone) partition.enter(PartitionState::kFailed, now);
    partition.proof.clear();
  }
  std::erase(ending_, job);
  finished_.push_back({job, now});
  while (!finished_.empty() &&
         (finished_.size() > retention_.count || now - finished_.front().at > retention_.keep)) {
    forget(finished_.front().job);
    finished_.pop_front();
  }
  job->ended.notify_all();
}

void JobTable::forget(const std::shared_ptr<Job>& job) {
  by_id_.erase(job->id);
  const auto found = by_request_.find(job->request_id);
  if (found != by_request_.end() && found->second == job) by_request_.erase(found);
}

std::vector<JobStatus> JobTable::snapshot(const Lock& lock, std::size_t finished) const {
  const Clock::time_point now = Clock::now();
  const auto seconds = [&](Clock::time_point since) {
    return std::chrono::duration<double>(now - since).count();
  };
  const auto milliseconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  std::vector<JobStatus> out;
  std::size_t before = 0;
  const auto add = [&](const std::shared_ptr<Job>& job) {
    JobStatus status;
    status.job_id = job->id;
    status.kind = job->kind;
    status.priority = job->priority;
    status.state = job->state;
    status.circuit_id = job->circuit.to_string();
    status.sector_number = job->sector_number;
    status.miner_id = job->miner_id;
    status.accepted_secs_ago = seconds(job->accepted);
    status.last_progress_secs_ago = seconds(job->last_progress);
    status.waiting_for = job->waiting_for.to_string(job->circuit);
    if (status.waiting_for.empty() && job->state == JobState::kQueued && !job->ending)
      status.waiting_for = fmt::format("its turn: {} jobs go first", before);
    ++before;
    status.waiters = job->waiters;
    status.code = job->result.code;
    status.error = job->result.error;
    status.timings = job->result.timings;
    for (std::size_t k = 0; k < job->partitions.size(); ++k) {
      const Partition& partition = job->partitions[k];
      const bool witness = partition.state == PartitionState::kWitness;
      const bool device = partition.state == PartitionState::kDevice;
      const auto so_far = std::chrono::nanoseconds(now - partition.since);
      PartitionStatus entry;
      entry.index = static_cast<std::uint32_t>(k);
      entry.state = partition.state;
      entry.witness_ms = milliseconds(witness ? so_far : partition.witness_time);
      entry.device_ms = milliseconds(device ? so_far : partition.device_time);
      entry.attempts = partition.tried;
      entry.device = partition.device;
      status.partitions.push_back(std::move(entry));
    }
    out.push_back(std::move(status));
    return true;
  };
  for_each_in_order(lock, add);
  for (const auto& job : ending_) add(job);
  for (auto it = finished_.rbegin(); it != finished_.rend() && finished > 0; ++it, --finished)
    add(it->job);
  return out;
}

}  // namespace cuzk::engine
