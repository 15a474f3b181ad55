#pragma once

#include "engine/budget.hpp"
#include "engine/proving_device.hpp"
#include "engine/signal.hpp"
#include "engine/status.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cuzk::engine {

/// A device as the scheduler sees it: whether it may get work, who works on it, what it has done.
/// Any thread may call.
class DeviceSlot {
 public:
  enum class Health : std::uint8_t {
    kTesting,     ///< not tested yet
    kReady,       ///< gets work
    kRecovering,  ///< failed; gets no work until it is reset and tested
    kQuarantined  ///< failed too often; gets no work any more
  };

  /// `quarantine_after`: bad proofs or faults in a row. `memory`: bytes of the device that may be
  /// used.
  DeviceSlot(std::unique_ptr<ProvingDevice> device, std::size_t index,
             std::uint32_t quarantine_after, std::uint64_t memory, Signal& changed);
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;

  ProvingDevice& device() const { return *device_; }
  std::size_t index() const { return index_; }
  const std::string& name() const { return device_->info().name; }
  MemoryBudget& memory() { return memory_; }

  Health health() const;
  bool usable() const { return health() == Health::kReady; }
  /// It has passed a test since the start.
  bool was_ready() const;

  /// Claims a worker's place for a partition. False if the device may not get work.
  bool begin(std::size_t worker, const std::string& job_id, ProofKind kind,
             std::uint32_t partition);
  void end(std::size_t worker);
  unsigned active() const;

  void record_good();
  /// A proof that did not verify, a fault of the device: each may put it into quarantine; a fault
  /// otherwise makes it kRecovering, as it does if the device may be lost. Of a job that may itself
  /// be the cause, `suspect`, bad proofs count once in a row.
  void record_bad(const std::string& what, const std::string& suspect);
  void record_fault(const std::string& what, bool lost = false);
  /// A call that does not come back: no work until it has, and the device is reset.
  void record_stall(const std::string& what);

  /// What came of a reset or a test.
  struct Trial {
    std::string fault;  ///< empty: none
    bool lost = false;  ///< DeviceFault::Kind::kLost
  };
  static Trial attempt(const std::function<void()>& work);
  /// True for one thread, once nobody works on a device that is to be recovered; end_recovery()
  /// follows.
  bool begin_recovery();
  /// Without a fault the device is ready again. One counts as another fault in a row; a device that
  /// is lost is quarantined at once.
  void end_recovery(const Trial& trial);
  /// Result of the test at start: any fault is quarantine.
  void tested(const std::string& fault);
  /// It worked, and will not again in this process; the reason. Empty: not so.
  std::string lost_because() const;

  DeviceStatus status() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker {
    bool busy = false;
    std::string job_id;
    ProofKind kind = ProofKind::kPorep;
    std::uint32_t partition = 0;
    Clock::time_point since;
  };
  void quarantine(const std::string& reason, const char* remedy);
  // Counts a failure in a row; true if it was one too many.
  bool one_too_many(const std::string& what);

  // Constant after construction.
  std::unique_ptr<ProvingDevice> device_;
  std::size_t index_;
  std::uint32_t quarantine_after_;
  MemoryBudget memory_;
  Signal& changed_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Health health_ = Health::kTesting;
  std::vector<Worker> workers_;
  bool recovery_running_ = false, was_ready_ = false, lost_ = false;
  std::uint32_t failures_in_a_row_ = 0;
  std::uint64_t proofs_ = 0, bad_ = 0, faults_ = 0;
  std::string reason_;
  std::set<std::string> suspects_;  // jobs of bad proofs since the last good one
};

/// None gets work any more.
bool all_are_quarantined(const std::vector<std::unique_ptr<DeviceSlot>>& devices);

}  // namespace cuzk::engine
