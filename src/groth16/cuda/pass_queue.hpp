#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuzk::groth16::cuda {

/// Which proofs share a pass over a streamed key, and when it begins. A pass takes the proofs of at
/// most so many jobs, in the order of the jobs' arrival. It begins
///   at once      when it is full, when every place is taken, or when one of them is urgent;
///   else         when none has come for a moment and none is being started, and either no further
///                job may join or the oldest has waited for others for as long as is allowed.
/// Places are numbers below options.places. One thread at a time.
class PassQueue {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::size_t places = 1;  ///< proofs at a time, in one pass or waiting for the next
    std::size_t jobs = 1;    ///< that may share a pass
    std::chrono::milliseconds wait{0};
  };
  struct Entry {
    std::size_t place = 0;
    std::uint64_t job = 0;
    bool urgent = false;
    Clock::time_point since;
  };
  /// How long none may have come: proofs of one job follow one another within this.
  static constexpr std::chrono::milliseconds kMoment{300};

  explicit PassQueue(Options options);

  /// One is being started; add() or give_up() follows.
  void announce(Clock::time_point now);
  void give_up();
  void add(const Entry& entry);
  void remove(std::size_t place);

  /// Whether a pass is to begin.
  bool is_due(Clock::time_point now) const;
  /// The places of the pass that begins now; empty if none is due.
  std::vector<std::size_t> take(Clock::time_point now);

 private:
  std::vector<Entry> next() const;

  Options options_;
  std::vector<Entry> open_;  // in the order of arrival
  std::size_t starting_ = 0;
  Clock::time_point last_arrival_;
};

}  // namespace cuzk::groth16::cuda
