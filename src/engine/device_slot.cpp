#include "engine/device_slot.hpp"

#include "base/log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cuzk::engine {

namespace {

constexpr const char* kCheck = "Check its hardware and driver, then restart";

}  // namespace

DeviceSlot::DeviceSlot(std::unique_ptr<ProvingDevice> device, std::size_t index,
                       std::uint32_t quarantine_after, std::uint64_t memory, Signal& changed)
    : device_(std::move(device)),
      index_(index),
      quarantine_after_(std::max(quarantine_after, 1U)),
      memory_(memory, "device", changed),
      changed_(changed),
      workers_(std::max(device_->workers(), 1U)) {}

DeviceSlot::Health DeviceSlot::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

bool DeviceSlot::was_ready() const {
  const std::lock_guard lock(mutex_);
  return was_ready_;
}

bool DeviceSlot::begin(std::size_t worker, const std::string& job_id, ProofKind kind,
                       std::uint32_t partition) {
  const std::lock_guard lock(mutex_);
  if (health_ != Health::kReady) return false;
  workers_[worker] = {true, job_id, kind, partition, Clock::now()};
  return true;
}

void DeviceSlot::end(std::size_t worker) {
  {
    const std::lock_guard lock(mutex_);
    workers_[worker] = {};
  }
  changed_.raise();
}

unsigned DeviceSlot::active() const {
  const std::lock_guard lock(mutex_);
  return static_cast<unsigned>(std::ranges::count(workers_, true, &Worker::busy));
}

void DeviceSlot::record_good() {
  const std::lock_guard lock(mutex_);
  ++proofs_;
  failures_in_a_row_ = 0;
  suspects_.clear();
}

void DeviceSlot::record_bad(const std::string& what, const std::string& suspect) {
  {
    const std::lock_guard lock(mutex_);
    ++bad_;
    const bool again = !suspect.empty() && !suspects_.insert(suspect).second;
    if (!again && one_too_many(what)) quarantine(reason_, kCheck);
  }
  changed_.raise();
}

void DeviceSlot::record_fault(const std::string& what, bool lost) {
  {
    const std::lock_guard lock(mutex_);
    ++faults_;
    // Those of other workers, until it is reset, are the same failure seen again.
    if (health_ == Health::kReady) {
      health_ = Health::kRecovering;
      if (one_too_many(what) && !lost) quarantine(reason_, kCheck);
    }
  }
  changed_.raise();
}

void DeviceSlot::record_stall(const std::string& what) { record_fault(what); }

bool DeviceSlot::one_too_many(const std::string& what) {
  ++failures_in_a_row_;
  reason_ = fmt::format("{} failures in a row, the last: {}", failures_in_a_row_, what);
  return failures_in_a_row_ >= quarantine_after_;
}

void DeviceSlot::quarantine(const std::string& reason, const char* remedy) {
  if (health_ == Health::kQuarantined) return;
  health_ = Health::kQuarantined;
  base::process_log().error({.device = name(), .code = lost_ ? "GPU-LOST" : "GPU-BAD"},
                            "{} is taken out of service: {}. {}", name(), reason, remedy);
}

DeviceSlot::Trial DeviceSlot::attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const DeviceFault& error) {
    return {error.what(), error.kind() == DeviceFault::Kind::kLost};
  } catch (const std::exception& error) {
    return {error.what(), false};
  }
  return {};
}

bool DeviceSlot::begin_recovery() {
  const std::lock_guard lock(mutex_);
  const bool busy = std::ranges::count(workers_, true, &Worker::busy) != 0;
  if (health_ != Health::kRecovering || busy || recovery_running_) return false;
  recovery_running_ = true;
  return true;
}

void DeviceSlot::end_recovery(const Trial& trial) {
  {
    const std::lock_guard lock(mutex_);
    recovery_running_ = false;
    if (trial.fault.empty()) {
      if (health_ == Health::kRecovering) health_ = Health::kReady;
    } else {
      ++faults_;
      lost_ = trial.lost;
      const std::string before = reason_;
      const bool last = one_too_many(trial.fault);
      if (lost_) {
        reason_ = fmt::format("lost ({}); the reset: {}", before, trial.fault);
        quarantine(reason_, "This process cannot use it again; another one may");
      } else if (last) {
        quarantine(reason_, kCheck);
      }
    }
  }
  changed_.raise();
}

std::string DeviceSlot::lost_because() const {
  const std::lock_guard lock(mutex_);
  return lost_ ? reason_ : std::string();
}

void DeviceSlot::tested(const std::string& fault) {
  {
    const std::lock_guard lock(mutex_);
    if (fault.empty()) {
      health_ = Health::kReady;
      was_ready_ = true;
    } else {
      ++faults_;
      reason_ = "SELF-TEST: " + fault;
      quarantine(reason_, kCheck);
    }
  }
  changed_.raise();
}

DeviceStatus DeviceSlot::status() const {
  const ProvingDevice::Info& info = device_->info();
  DeviceStatus out;
  out.name = info.name;
  out.product = info.product;
  out.uuid = info.uuid;
  out.ordinal = info.ordinal;
  out.memory_total = device_->memory_total();
  out.memory_free = device_->memory_free();
  const std::lock_guard lock(mutex_);
  out.quarantined = health_ == Health::kQuarantined;
  if (health_ != Health::kReady) out.quarantine_reason = reason_;
  out.proofs = proofs_;
  out.bad_proofs = bad_;
  out.faults = faults_;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    DeviceStatus::Worker entry;
    entry.id = static_cast<std::uint32_t>(i);
    if (worker.busy) {
      entry.job_id = worker.job_id;
      entry.kind = worker.kind;
      entry.partition = worker.partition;
      entry.busy_secs = std::chrono::duration<double>(Clock::now() - worker.since).count();
    }
    out.workers.push_back(std::move(entry));
  }
  return out;
}

bool all_are_quarantined(const std::vector<std::unique_ptr<DeviceSlot>>& devices) {
  return std::ranges::all_of(devices, [](const auto& device) {
    return device->health() == DeviceSlot::Health::kQuarantined;
  });
}

}  // namespace cuzk::engine
