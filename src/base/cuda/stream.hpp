#pragma once

#include "base/cuda/stream_ref.hpp"

struct CUevent_st;

namespace cuzk::base::cuda {

/// Waits until all work enqueued on the stream so far has run, and throws what it failed with.
/// Other streams go on.
void synchronize(StreamRef stream);

/// Owner of a stream that does not wait for the default stream. Its destruction waits for nothing;
/// pending work still runs.
class Stream {
 public:
  /// Higher priority: its kernels' blocks go before those of other streams.
  explicit Stream(bool high_priority = false);
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

  StreamRef ref() const { return stream_; }
  void synchronize() const { cuda::synchronize(stream_); }

 private:
  StreamRef stream_;
};

/// Owner of a point in a stream's work: for other streams and the host to wait for, and to take
/// times between.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  /// Moves the event to the present end of the stream.
  void record(StreamRef stream);
  /// Work enqueued on `stream` from now on waits for the event.
  void block(StreamRef stream) const;
  /// The host waits for the event.
  void synchronize() const;
  /// Whether everything before the event has run.
  bool reached() const;
  /// Milliseconds from `start` to this event, both reached.
  double milliseconds_since(const Event& start) const;

 private:
  CUevent_st* event_ = nullptr;
};

}  // namespace cuzk::base::cuda
