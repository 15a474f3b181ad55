#include "engine/scheduler.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace cuzk::engine {

namespace {

using Kind = WaitReason::Kind;

std::size_t lane_index(const Job& job) { return static_cast<std::size_t>(job.lane()); }

std::function<bool(const CircuitId&)> none_of(std::vector<CircuitId> wanted) {
  return [wanted = std::move(wanted)](const CircuitId& circuit) {
    return std::ranges::find(wanted, circuit) == wanted.end();
  };
}

/// The key is there: what the job waits for from now on is something else.
void end_key_wait(Job& job, Clock::time_point now) {
  if (!job.key_wait_since) return;
  job.timings.srs_load +=
      std::chrono::duration_cast<std::chrono::milliseconds>(now - *job.key_wait_since);
  job.key_wait_since.reset();
}

/// Ends the wait that an admission ends.
void note_admission(Job& job, Clock::time_point now) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  if (!job.first_start) {
    job.first_start = now;
    job.timings.queue_wait = duration_cast<milliseconds>(now - job.accepted) - job.timings.srs_load;
  }
  job.last_progress = now;
}

/// The first partition in that state that `may` accepts.
template <class May>
std::optional<std::uint32_t> first_partition(const Job& job, PartitionState state, May&& may) {
  for (std::uint32_t k = 0; k < job.partitions.size(); ++k) {
    if (job.partitions[k].state == state && may(job.partitions[k])) return k;
  }
  return std::nullopt;
}

}  // namespace

void Scheduler::set_mode(Mode mode) {
  mode_ = mode;
  changed_.raise();
}

std::size_t Scheduler::workers(bool usable_only) const {
  std::size_t sum = 0;
  for (const auto& slot : devices_) {
    if (!usable_only || slot->usable()) sum += slot->device().workers();
  }
  return std::max<std::size_t>(sum, 1);
}

bool Scheduler::is_avoided(const Partition& partition, std::size_t device) const {
  if (partition.avoid != device) return false;
  return std::ranges::any_of(
      devices_, [&](const auto& slot) { return slot->index() != device && slot->usable(); });
}

std::vector<std::size_t> Scheduler::candidates(const JobTable::Lock& lock,
                                               const std::shared_ptr<Job>& job,
                                               const Partition& partition) const {
  std::vector<std::size_t> out;
  for (const auto& slot : devices_) {
    const std::size_t device = slot->index();
    if (slot->usable() && !is_avoided(partition, device) && !must_leave(lock, job, device))
      out.push_back(device);
  }
  return out;
}

bool Scheduler::must_leave(const JobTable::Lock& lock, const std::shared_ptr<Job>& job,
                           std::size_t device) const {
  if (!device_claim_ || device_claim_->device != device) return false;
  const auto claimant = device_claim_->job.lock();
  return claimant && claimant != job && claimant->circuit != job->circuit &&
         table_.precedes(lock, claimant, job) && !keys_.is_resident(job->circuit);
}

std::optional<ProvingDevice::Needs> Scheduler::needs_of(const CircuitId& circuit,
                                                        std::size_t device) {
  try {
    return keys_.needs(circuit, device);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void Scheduler::claim_device(const JobTable::Lock& lock, const std::shared_ptr<Job>& job,
                             const std::vector<std::size_t>& candidates) {
  if (device_claim_) {
    const auto claimant = device_claim_->job.lock();
    if (claimant && claimant != job && table_.precedes(lock, claimant, job)) return;
  }
  const auto may_drop = droppable(lock, *job);
  for (const std::size_t device : candidates) {
    const std::uint64_t room =
        devices_[device]->memory().available(job->lane()) + keys_.droppable_bytes(device, may_drop);
    const auto needs = needs_of(job->circuit, device);
    if (!needs || needs->device > room) continue;
    device_claim_ = DeviceClaim{job, device, true};
    changed_.raise();
    return;
  }
}

std::optional<HostTask> Scheduler::never_fits(const std::shared_ptr<Job>& job) {
  std::optional<HostTask> why;
  for (const auto& slot : devices_) {
    if (slot->health() == DeviceSlot::Health::kQuarantined) continue;
    const auto needs = needs_of(job->circuit, slot->index());
    if (!needs) continue;
    const KeyCache::Kept kept = keys_.kept(job->circuit, slot->index());
    const std::uint64_t host = needs->host_key + needs->host_partition;
    const std::uint64_t total = slot->memory().status().total;
    if (needs->device + kept.device > total) {
      why = FailTask{
          job, ErrorCode::kGpuMemory,
          fmt::format("{} needs {} of device memory beside {} of keys that always stay; {} has {} "
                      "for it (gpus.vram_budget, srs.resident_keys)",
                      job->circuit.to_string(), format_bytes(needs->device),
                      format_bytes(kept.device), slot->name(), format_bytes(total))};
    } else if (!host_.can_ever(host + kept.host, job->lane())) {
      const BudgetStatus budget = host_.status();
      why = FailTask{
          job, ErrorCode::kHostMemory,
          fmt::format("{} needs {} of host memory beside {} of keys that always stay; the budget "
                      "is {} (from {}), of which a share is kept for PoSt",
                      job->circuit.to_string(), format_bytes(host), format_bytes(kept.host),
                      format_bytes(budget.total), budget.source)};
    } else {
      return std::nullopt;
    }
  }
  return why;
}

// A witness that waits keeps a key loaded. If that key was discarded, has to leave its device, or
// the device is out of service, it would keep the memory of a key that nobody may use, or the
// device's reset, waiting: it goes over to another device's key, or is made again later.
void Scheduler::renew_leases(const JobTable::Lock& lock) {
  if (!keys_.has_discarded() && !device_claim_ &&
      std::ranges::all_of(devices_, [](const auto& slot) { return slot->usable(); })) {
    return;
  }
  table_.for_each_running(lock, [&](const std::shared_ptr<Job>& job) {
    for (Partition& partition : job->partitions) {
      if (partition.state != PartitionState::kWitnessDone) continue;
      if (partition.key && devices_[partition.key.device()]->usable() &&
          keys_.is_current(partition.key) && !must_leave(lock, job, partition.key.device())) {
        continue;
      }
      KeyLease other;
      for (const std::size_t device : candidates(lock, job, partition)) {
        if (!other) other = keys_.lease(job->circuit, device);
      }
      if (other) {
        partition.key = std::move(other);
      } else {
        table_.enter(lock, job, partition, PartitionState::kPending);
      }
    }
    return true;
  });
}

bool Scheduler::may_take_slot(Lane lane) const {
  const std::uint32_t slots = options_.witness_slots;
  if (bulk_slots_ + urgent_slots_ >= slots) return false;
  const bool reserved = options_.reserved_lane && slots > 1;
  return lane == Lane::kUrgent || bulk_slots_ < slots - (reserved ? 1 : 0);
}

bool Scheduler::stages_are_full(const JobTable::Lock& lock, const Job& job) const {
  if (job.priority == Priority::kCritical) return false;
  const Lane lane = job.lane();
  const std::size_t places = workers(true);
  const std::size_t waiting = table_.count(lock, PartitionState::kWitness, lane) +
                              table_.count(lock, PartitionState::kWitnessDone, lane);
  if (lane == Lane::kUrgent) return waiting > places * options_.queue_depth;
  if (options_.overlap) return waiting >= places * options_.queue_depth;
  return waiting + table_.count(lock, PartitionState::kDevice) >= places;
}

std::function<bool(const CircuitId&)> Scheduler::droppable(const JobTable::Lock& lock,
                                                           const Job& job) const {
  std::vector<CircuitId> wanted;
  table_.for_each_in_order(lock, [&](const std::shared_ptr<Job>& other) {
    wanted.push_back(other->circuit);
    return other.get() != &job;
  });
  return none_of(std::move(wanted));
}

std::optional<Reservation> Scheduler::reserve(const JobTable::Lock& lock,
                                              const std::shared_ptr<Job>& job,
                                              std::uint64_t bytes) {
  Claim& claim = claims_[lane_index(*job)];
  const auto has_claim = [&] {
    return claim.ticket && claim.job.lock() == job && claim.ticket.bytes() == bytes;
  };
  const auto take_claim = [&] {
    claim.job = job;
    claim.ticket = host_.enqueue(bytes, job->lane());
  };
  // Who stands in line comes later in the table's order, or is this job with another wish.
  if (claim.ticket && !claim.renewed && !has_claim()) take_claim();
  for (;;) {
    auto taken = has_claim() ? host_.try_take(claim.ticket) : host_.try_reserve(bytes, job->lane());
    if (taken) return taken;
    if (bytes <= host_.available(job->lane())) break;  // others wait before it
    if (!keys_.drop_one(std::nullopt, droppable(lock, *job), std::chrono::seconds(0))) break;
  }
  if (!claim.renewed) {
    claim.renewed = true;
    if (!has_claim()) take_claim();
  }
  return std::nullopt;
}

std::optional<HostTask> Scheduler::want_key(const JobTable::Lock& lock,
                                            const std::shared_ptr<Job>& job,
                                            const std::vector<std::size_t>& candidates) {
  if (!job->key_wait_since) job->key_wait_since = Clock::now();
  if (device_claim_ && device_claim_->job.lock() == job) device_claim_->renewed = true;
  using Readiness = CircuitStatus::Readiness;
  const ParameterStore::State files = parameters_.known(job->circuit);
  if (files.readiness == Readiness::kChecking) {
    job->waiting_for = {Kind::kKeyCheck, 0, 0};
    return std::nullopt;
  }
  if (files.readiness == Readiness::kCorrupt)
    return FailTask{job, ErrorCode::kParamsCorrupt, files.detail};
  for (const std::size_t device : candidates) {
    if (keys_.loading_since(job->circuit, device)) {
      job->waiting_for = {Kind::kKeyLoading, 0, 0};
      return std::nullopt;
    }
  }
  for (const std::size_t device : candidates) {
    ProvingDevice::Needs needs;
    try {
      needs = keys_.needs(job->circuit, device);
    } catch (const base::InvalidInput& error) {
      return FailTask{job, ErrorCode::kParamsMissing, error.what()};
    } catch (const std::exception& error) {
      return FailTask{job, ErrorCode::kParamsCorrupt, error.what()};
    }
    MemoryBudget& memory = devices_[device]->memory();
    if (!keys_.make_device_room(device, needs.device, job->lane(), droppable(lock, *job),
                                std::chrono::seconds(0))) {
      job->waiting_for = {Kind::kDeviceMemory, needs.device, memory.available(job->lane())};
      continue;
    }
    auto host = reserve(lock, job, needs.host_key);
    if (!host) {
      job->waiting_for = {Kind::kKeyMemory, needs.host_key, host_.available(job->lane())};
      return never_fits(job);
    }
    if (keys_.start_load(job->circuit, device, job->lane(), std::move(*host))) {
      job->waiting_for = {Kind::kKeyLoading, 0, 0};
      if (device_claim_ && device_claim_->job.lock() == job) device_claim_.reset();
      return std::nullopt;
    }
  }
  if (job->waiting_for.kind != Kind::kDeviceMemory) return std::nullopt;
  if (auto task = never_fits(job)) return task;
  claim_device(lock, job, candidates);
  return std::nullopt;
}

void Scheduler::spread_key(const JobTable::Lock&, const Job& job) {
  if (devices_.size() < 2) return;
  // Files that have changed since are for the next check.
  if (parameters_.known(job.circuit).readiness != CircuitStatus::Readiness::kReady) return;
  for (const auto& slot : devices_) {
    const std::size_t device = slot->index();
    if (!slot->usable() || slot->active() != 0) continue;
    if (device_claim_ && device_claim_->device == device) continue;
    if (keys_.is_loaded(job.circuit, device) || keys_.loading_since(job.circuit, device)) continue;
    try {
      const ProvingDevice::Needs needs = keys_.needs(job.circuit, device);
      const auto may_drop = [](const CircuitId&) { return true; };
      if (!keys_.make_device_room(device, needs.device, Lane::kNormal, may_drop,
                                  options_.eviction_min_idle)) {
        continue;
      }
      if (auto host = host_.try_reserve(needs.host_key, Lane::kNormal))
        keys_.start_load(job.circuit, device, Lane::kNormal, std::move(*host));
    } catch (const std::exception&) {
      continue;  // the device that has the key goes on alone
    }
  }
}

std::optional<HostTask> Scheduler::admit(const JobTable::Lock& lock,
                                         const std::shared_ptr<Job>& job) {
  const auto slot = [&] {
    return SlotToken(job->is_urgent() ? urgent_slots_ : bulk_slots_, changed_);
  };
  if (job->decoding) return std::nullopt;
  if (!job->prepared) {
    if (!may_take_slot(job->lane())) {
      job->waiting_for = {Kind::kSlot, 0, 0};
      return std::nullopt;
    }
    job->decoding = true;
    return DecodeTask{job, slot()};
  }
  job->waiting_for = {};
  const auto k = first_partition(*job, PartitionState::kPending, [](const auto&) { return true; });
  if (!k) return std::nullopt;
  Partition& partition = job->partitions[*k];
  const std::vector<std::size_t> devices = candidates(lock, job, partition);
  if (devices.empty()) {
    const bool any =
        std::ranges::any_of(devices_, [](const auto& place) { return place->usable(); });
    job->waiting_for = {any ? Kind::kDeviceClaimed : Kind::kNoDevice, 0, 0};
    return std::nullopt;
  }
  const auto loaded = std::ranges::find_if(
      devices, [&](std::size_t device) { return keys_.is_loaded(job->circuit, device); });
  if (loaded == devices.end()) {
    auto task = want_key(lock, job, devices);
    // Better the device that failed once than none.
    const bool lacks_memory =
        job->waiting_for.kind == Kind::kDeviceMemory || job->waiting_for.kind == Kind::kKeyMemory;
    if (!task && lacks_memory && partition.avoid) {
      partition.avoid.reset();
      changed_.raise();
    }
    return task;
  }
  end_key_wait(*job, Clock::now());
  if (!may_take_slot(job->lane()) || stages_are_full(lock, *job)) {
    job->waiting_for = {Kind::kSlot, 0, 0};
    spread_key(lock, *job);
    return std::nullopt;
  }
  const std::uint64_t bytes = keys_.needs(job->circuit, *loaded).host_partition;
  auto memory = reserve(lock, job, bytes);
  if (!memory) {
    job->waiting_for = {Kind::kHostMemory, bytes, host_.available(job->lane())};
    return never_fits(job);
  }
  KeyLease key = keys_.lease(job->circuit, *loaded);
  if (!key) return std::nullopt;  // dropped this moment; the next round wants it again
  const Clock::time_point now = Clock::now();
  note_admission(*job, now);
  table_.enter(lock, job, partition, PartitionState::kWitness, now);
  ++partition.attempt;
  return WitnessTask{
      {job, *k, partition.attempt}, job->prepared, std::move(key), std::move(*memory), slot()};
}

std::optional<HostTask> Scheduler::take_host_task() {
  const JobTable::Lock lock = table_.lock();
  const Mode mode = mode_;  // once: it may change meanwhile
  if (mode == Mode::kStopped) return std::nullopt;
  if (device_claim_) {
    const auto claimant = device_claim_->job.lock();
    if (!claimant || claimant->ending) device_claim_.reset();
  }
  if (device_claim_) device_claim_->renewed = false;
  renew_leases(lock);
  for (Claim& claim : claims_) {
    claim.renewed = false;
    const auto job = claim.job.lock();
    if (claim.ticket && (!job || job->ending || !job->has(PartitionState::kPending)))
      claim.ticket.leave();
  }
  // What was accepted before a start on which no device works is kept for the next start, and so is
  // what a start may find a device for again.
  const bool hopeless =
      all_are_quarantined(devices_) &&
      std::ranges::any_of(devices_, [](const auto& device) { return device->was_ready(); }) &&
      restart_because().empty();
  // Where there is no room, the first job of each circuit is looked at all the same, for the sake
  // of its key.
  const auto is_full = [&](const Job& job) {
    return !may_take_slot(job.lane()) || stages_are_full(lock, job);
  };
  std::vector<CircuitId> seen;
  std::optional<HostTask> found;
  table_.for_each_in_order(lock, [&](const std::shared_ptr<Job>& job) {
    if (hopeless) {
      // Proofs that are there need no device.
      const std::size_t made =
          job->count(PartitionState::kVerify) + job->count(PartitionState::kDone);
      if (!job->partitions.empty() && made == job->partitions.size()) return true;
      found = FailTask{job, ErrorCode::kNoGpu, "every device has been taken out of service"};
      return false;
    }
    if (job->key_wait_since && std::ranges::any_of(devices_, [&](const auto& device) {
          return device->usable() && keys_.is_loaded(job->circuit, device->index());
        })) {
      end_key_wait(*job, Clock::now());
    }
    if (mode == Mode::kDraining && job->state == JobState::kQueued) return true;
    if (is_full(*job)) {
      if (std::ranges::find(seen, job->circuit) != seen.end()) return true;
      seen.push_back(job->circuit);
    }
    found = admit(lock, job);
    return !found;
  });
  if (!found) {
    for (Claim& claim : claims_) {
      if (!claim.renewed) claim.ticket.leave();
    }
    if (device_claim_ && !device_claim_->renewed) device_claim_.reset();
  }
  return found;
}

std::string Scheduler::restart_because() const {
  std::string reasons;
  if (!all_are_quarantined(devices_)) return reasons;
  for (const auto& device : devices_) {
    const std::string reason = device->lost_because();
    if (!reason.empty())
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", device->name(), reason);
  }
  return reasons;
}

std::optional<DeviceTask> Scheduler::take_device_task(std::size_t device, std::size_t worker) {
  DeviceSlot& place = *devices_[device];
  const JobTable::Lock lock = table_.lock();
  if (mode_ == Mode::kStopped || !place.usable()) return std::nullopt;
  if (table_.count(lock, PartitionState::kWitnessDone) == 0) return std::nullopt;
  if (table_.count(lock, PartitionState::kVerify) >= 4 * workers(false)) return std::nullopt;
  const bool for_urgent = options_.reserved_lane && worker >= place.device().bulk_workers();
  std::optional<DeviceTask> found;
  table_.for_each_running(lock, [&](const std::shared_ptr<Job>& job) {
    if (for_urgent && job->lane() != Lane::kUrgent) return true;
    if (!job->has(PartitionState::kWitnessDone) || must_leave(lock, job, device)) return true;
    const auto k =
        first_partition(*job, PartitionState::kWitnessDone, [&](const Partition& partition) {
          // Whoever was admitted to a device, for want of a better one, goes there.
          const bool admitted = partition.key && partition.key.device() == device;
          return admitted || !is_avoided(partition, device);
        });
    if (!k) return true;
    Partition& partition = job->partitions[*k];
    KeyLease key = keys_.lease(job->circuit, device);
    if (!key) return true;
    if (!place.begin(worker, job->id, job->kind, *k)) return false;
    const Clock::time_point now = Clock::now();
    table_.enter(lock, job, partition, PartitionState::kDevice, now);
    table_.count_overtaking(lock, job);
    partition.device = place.name();
    partition.proved_on = device;
    ++partition.tried;
    partition.key.release();
    job->last_progress = now;
    found.emplace(DeviceTask{{job, *k, partition.attempt},
                             std::move(partition.witness),
                             std::move(key),
                             std::move(partition.memory)});
    return false;
  });
  if (found) changed_.raise();  // there is room for another witness
  return found;
}

std::optional<VerifyTask> Scheduler::take_verify_task() {
  const JobTable::Lock lock = table_.lock();
  if (mode_ == Mode::kStopped) return std::nullopt;
  if (table_.count(lock, PartitionState::kVerify) == 0) return std::nullopt;
  std::optional<VerifyTask> found;
  table_.for_each_running(lock, [&](const std::shared_ptr<Job>& job) {
    if (!job->has(PartitionState::kVerify)) return true;
    const auto k = first_partition(*job, PartitionState::kVerify, [](const Partition& partition) {
      return partition.unverified.has_value();
    });
    if (!k) return true;
    Partition& partition = job->partitions[*k];
    found.emplace(VerifyTask{{job, *k, partition.attempt},
                             job->prepared,
                             *partition.unverified,
                             std::move(partition.key),
                             partition.proved_on});
    partition.unverified.reset();
    return false;
  });
  return found;
}

std::function<bool(const CircuitId&)> Scheduler::unwanted() const {
  std::vector<CircuitId> wanted;
  {
    const JobTable::Lock lock = table_.lock();
    table_.for_each_in_order(lock, [&](const std::shared_ptr<Job>& job) {
      wanted.push_back(job->circuit);
      return true;
    });
  }
  return none_of(std::move(wanted));
}

bool Scheduler::is_unwanted(const CircuitId& circuit) const {
  const JobTable::Lock lock = table_.lock();
  return table_.unfinished(lock, [&](const Job& job) { return job.circuit == circuit; }) == 0;
}

}  // namespace cuzk::engine
