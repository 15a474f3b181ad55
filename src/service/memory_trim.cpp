#include "service/memory_trim.hpp"

#include <malloc.h>

#include <chrono>

namespace cuzk::service {

namespace {

/// Smaller ones find their place in what is there.
constexpr std::uint64_t kLarge = std::uint64_t{4} << 20;
/// For gRPC to let go of its buffers too.
constexpr std::chrono::seconds kDelay(1);

}  // namespace

void trim_memory() { ::malloc_trim(0); }

MemoryTrimmer::MemoryTrimmer() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

MemoryTrimmer::~MemoryTrimmer() = default;

void MemoryTrimmer::let_go(std::uint64_t bytes) {
  if (bytes < kLarge) return;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  changed_.notify_all();
}

void MemoryTrimmer::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return wanted_; })) {
    changed_.wait_for(lock, stop, kDelay, [] { return false; });
    if (stop.stop_requested()) return;
    wanted_ = false;
    lock.unlock();
    trim_memory();
    lock.lock();
  }
}

}  // namespace cuzk::service
