#pragma once

#include "engine/lifecycle.hpp"
#include "engine/metrics.hpp"
#include "engine/preparation.hpp"
#include "engine/scheduler.hpp"
#include "engine/trace.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cuzk::engine {

/// The threads that do the work: for the stages decode and witness as many as there are witness
/// slots; for each device its workers; two for verification. Each asks the scheduler for a task,
/// does it, and tells the lifecycle. Heavy work runs in TBB's pool from these threads; nothing
/// waits for a lock, a device or a budget inside the pool, so that one thread of it is enough.
class Pipeline {
 public:
  struct Parts {
    Scheduler& scheduler;
    Lifecycle& lifecycle;
    KeyCache& keys;
    Journal& journal;
    Preparation& preparation;
    MemoryBudget& decoded;  ///< for decoded payloads
    Metrics& metrics;
    Trace& trace;
    Signal& changed;
    std::vector<std::unique_ptr<DeviceSlot>>& devices;
    unsigned gpu_threads = 0;  ///< for the host's part of a proof on a GPU; 0: all
  };
  /// Nothing runs before start().
  explicit Pipeline(const Parts& parts) : parts_(parts) {}
  ~Pipeline() { stop(); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void start();
  /// Waits for what the threads have in hand. The scheduler gives no more.
  void stop();

 private:
  void host_worker(std::size_t number);
  void device_worker(DeviceSlot& slot, std::size_t worker);
  void verify_worker(std::size_t number);

  void decode(const std::shared_ptr<Job>& job);
  void make_witness(WitnessTask task, const std::string& track);
  void prove(DeviceSlot& slot, std::size_t worker, DeviceTask task);
  void verify(VerifyTask task, const std::string& track);
  /// Resets a device after a fault and tests it.
  void recover(DeviceSlot& slot);

  const Parts parts_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::jthread> threads_;
};

/// The text of an error without its code.
std::string text_without_code(const EngineError& error);

}  // namespace cuzk::engine
