#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace cuzk::engine {

/// "Something has changed, look again", for threads that wait for more than one thing. No wake-up
/// is lost: whoever takes generation() before looking is not kept asleep if raise() came after.
/// raise() may be called with any other lock held: this one is always the last.
class Signal {
 public:
  std::uint64_t generation() const {
    const std::lock_guard lock(mutex_);
    return generation_;
  }

  void raise() {
    {
      const std::lock_guard lock(mutex_);
      ++generation_;
    }
    changed_.notify_all();
  }

  /// Returns at once if the generation is no longer `seen`, else at the next raise() or when
  /// `longest` has passed.
  void wait(std::uint64_t seen, std::chrono::milliseconds longest) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest, [&] { return generation_ != seen; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t generation_ = 0;
};

}  // namespace cuzk::engine
