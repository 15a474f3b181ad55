#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace cuzk::service {

/// Gives the system back what the C library keeps of freed memory: after requests of hundreds of
/// megabytes it would keep a hundred or more for good. Takes some tens of milliseconds then.
void trim_memory();

/// Calls trim_memory() a second after large requests were let go, and so at most once a second. Any
/// thread may call.
class MemoryTrimmer {
 public:
  MemoryTrimmer();
  ~MemoryTrimmer();
  MemoryTrimmer(const MemoryTrimmer&) = delete;
  MemoryTrimmer& operator=(const MemoryTrimmer&) = delete;

  /// A request of that size is about to be let go. Nothing happens for small ones.
  void let_go(std::uint64_t bytes);

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ = false;  // guarded by mutex_
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace cuzk::service
