#pragma once

#include "engine/budget.hpp"
#include "engine/device_slot.hpp"
#include "engine/job_table.hpp"
#include "engine/key_cache.hpp"
#include "engine/lifecycle.hpp"
#include "engine/parameter_store.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace cuzk::engine {

/// A witness slot, given back by the destructor.
class SlotToken {
 public:
  SlotToken() = default;
  SlotToken(std::atomic<std::uint32_t>& count, Signal& changed)
      : count_(&count), changed_(&changed) {
    ++count;
  }
  ~SlotToken() {
    if (count_ == nullptr) return;
    --*count_;
    changed_->raise();
  }
  SlotToken(SlotToken&& other) noexcept
      : count_(std::exchange(other.count_, nullptr)), changed_(other.changed_) {}
  SlotToken& operator=(SlotToken&& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(changed_, other.changed_);
    return *this;
  }

 private:
  std::atomic<std::uint32_t>* count_ = nullptr;
  Signal* changed_ = nullptr;
};

/// To decode a job's payload from the journal.
struct DecodeTask {
  std::shared_ptr<Job> job;
  SlotToken slot;
};
/// To make a partition's witness.
struct WitnessTask {
  Attempt attempt;
  std::shared_ptr<const PreparedJob> prepared;
  KeyLease key;
  Reservation memory;
  SlotToken slot;
};
/// A job that cannot go on.
struct FailTask {
  std::shared_ptr<Job> job;
  ErrorCode code;
  std::string text;
};
using HostTask = std::variant<DecodeTask, WitnessTask, FailTask>;

/// To prove a partition on a device.
struct DeviceTask {
  Attempt attempt;
  std::shared_ptr<const r1cs::Witness> witness;
  KeyLease key;
  Reservation memory;
};
/// To verify a partition's proof.
struct VerifyTask {
  Attempt attempt;
  std::shared_ptr<const PreparedJob> prepared;
  groth16::Proof proof;
  KeyLease key;
  std::size_t device;
};

/// Decides what is done next. Workers of a stage ask for a task and get the first in the table's
/// order that can be done: partitions of all jobs are in one line, so that an urgent one waits for
/// at most the one that a worker has in hand. What cannot go on says why in its job.
///
/// Admission to the first stage takes everything that a partition needs until its device work is
/// done, at once: a slot, the key, host memory. The first job of a lane that lacks memory holds a
/// ticket for it, so that none behind it takes what becomes free. A key that is missing is loaded,
/// in the background, once its files have been checked; others are dropped for it if no job before
/// this one wants them. Where those are in use, the first job that needs their place on a device
/// claims the device: jobs behind it that would keep them there get none of it until its own key is
/// there. What can never fit fails its job. The bulk lane leaves one slot and a share of memory to
/// PoSt. The stages between are bounded: witnesses wait for devices in the number of queue_depth a
/// worker; those of WinningPoSt are not counted.
///
/// Any thread may call.
class Scheduler {
 public:
  struct Options {
    std::uint32_t witness_slots = 2;
    std::uint32_t queue_depth = 2;
    bool overlap = true;
    bool reserved_lane = true;
    std::chrono::seconds eviction_min_idle{300};
  };
  Scheduler(JobTable& table, std::vector<std::unique_ptr<DeviceSlot>>& devices, KeyCache& keys,
            const ParameterStore& parameters, MemoryBudget& host, Signal& changed, Options options)
      : table_(table),
        devices_(devices),
        keys_(keys),
        parameters_(parameters),
        host_(host),
        changed_(changed),
        options_(options) {}

  std::optional<HostTask> take_host_task();
  /// Claims the worker's place on the device with the task.
  std::optional<DeviceTask> take_device_task(std::size_t device, std::size_t worker);
  std::optional<VerifyTask> take_verify_task();

  enum class Mode : std::uint8_t {
    kRunning,
    kDraining,  ///< only jobs that have begun go on
    kStopped    ///< no more tasks
  };
  void set_mode(Mode mode);
  Mode mode() const { return mode_; }

  /// As Status::restart_because.
  std::string restart_because() const;
  /// Whether no unfinished job wants the circuit.
  bool is_unwanted(const CircuitId& circuit) const;
  /// The same as it is now, for any circuit; takes no lock.
  std::function<bool(const CircuitId&)> unwanted() const;
  std::uint32_t witness_active() const { return bulk_slots_ + urgent_slots_; }
  const Options& options() const { return options_; }

 private:
  void renew_leases(const JobTable::Lock& lock);
  /// Whether another job has claimed the device, and this one's key has to leave it.
  bool must_leave(const JobTable::Lock& lock, const std::shared_ptr<Job>& job,
                  std::size_t device) const;
  /// Claims one of the devices for the job, if the keys that may go from there would make room.
  void claim_device(const JobTable::Lock& lock, const std::shared_ptr<Job>& job,
                    const std::vector<std::size_t>& candidates);
  /// Empty where the device cannot say: its files changed, or are gone.
  std::optional<ProvingDevice::Needs> needs_of(const CircuitId& circuit, std::size_t device);
  /// That the job would not fit if nothing else were under way.
  std::optional<HostTask> never_fits(const std::shared_ptr<Job>& job);
  bool may_take_slot(Lane lane) const;
  bool stages_are_full(const JobTable::Lock& lock, const Job& job) const;
  std::optional<HostTask> admit(const JobTable::Lock& lock, const std::shared_ptr<Job>& job);
  std::optional<HostTask> want_key(const JobTable::Lock& lock, const std::shared_ptr<Job>& job,
                                   const std::vector<std::size_t>& candidates);
  /// Another device with nothing to do gets the key, too, where memory for it is free.
  void spread_key(const JobTable::Lock& lock, const Job& job);
  std::vector<std::size_t> candidates(const JobTable::Lock& lock, const std::shared_ptr<Job>& job,
                                      const Partition& partition) const;
  bool is_avoided(const Partition& partition, std::size_t device) const;
  std::optional<Reservation> reserve(const JobTable::Lock& lock, const std::shared_ptr<Job>& job,
                                     std::uint64_t bytes);
  /// Keys that no job before this one wants.
  std::function<bool(const CircuitId&)> droppable(const JobTable::Lock& lock, const Job& job) const;
  std::size_t workers(bool usable_only) const;

  // Constant after construction.
  JobTable& table_;
  std::vector<std::unique_ptr<DeviceSlot>>& devices_;
  KeyCache& keys_;
  const ParameterStore& parameters_;
  MemoryBudget& host_;
  Signal& changed_;
  const Options options_;

  std::atomic<Mode> mode_ = Mode::kRunning;
  std::atomic<std::uint32_t> bulk_slots_ = 0, urgent_slots_ = 0;

  // Guarded by the table's lock: who waits first for memory, by lane.
  struct Claim {
    std::weak_ptr<Job> job;
    MemoryBudget::Ticket ticket;
    bool renewed = false;  ///< in this round
  };
  std::array<Claim, 2> claims_;
  /// Guarded likewise: who waits first for room on a device.
  struct DeviceClaim {
    std::weak_ptr<Job> job;
    std::size_t device = 0;
    bool renewed = false;  ///< in this round
  };
  std::optional<DeviceClaim> device_claim_;
};

}  // namespace cuzk::engine
