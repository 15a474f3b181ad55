#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace cuzk::groth16::cuda {

/// One proof's device time after the other: whoever asks first has the next turn. Any thread may
/// call; a thread that has a turn must not wait for another one of the same object.
class DeviceTurn {
 public:
  /// Gives the turn back on destruction.
  class Holder {
   public:
    Holder() = default;
    ~Holder() { end(); }
    Holder(Holder&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Holder& operator=(Holder&& other) noexcept {
      std::swap(turn_, other.turn_);
      return *this;
    }
    void end() {
      if (turn_ != nullptr) std::exchange(turn_, nullptr)->pass_on();
    }

   private:
    friend class DeviceTurn;
    explicit Holder(DeviceTurn& turn) : turn_(&turn) {}
    DeviceTurn* turn_ = nullptr;
  };

  /// Waits.
  Holder take() {
    std::unique_lock lock(mutex_);
    const std::uint64_t mine = next_++;
    changed_.wait(lock, [&] { return serving_ == mine; });
    return Holder(*this);
  }
  /// Turns that are asked for and not over.
  std::uint64_t waiting() const {
    const std::lock_guard lock(mutex_);
    return next_ - serving_;
  }

 private:
  void pass_on() {
    {
      const std::lock_guard lock(mutex_);
      ++serving_;
    }
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0, serving_ = 0;  // guarded by mutex_
};

}  // namespace cuzk::groth16::cuda
