#pragma once

#include "base/cuda/buffer.hpp"
#include "base/cuda/stream.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace cuzk::groth16::cuda {

/// Host data on its way into kernels, a chunk at a time, through two pinned buffers and a copy
/// stream of its own: while the kernels work on one chunk, the next is copied and the one after it
/// is written by the host. One thread.
class ChunkPipe {
 public:
  /// Kernels run on `stream`. Twice `capacity` bytes of pinned and of device memory.
  ChunkPipe(std::size_t capacity, base::cuda::StreamRef stream)
      : capacity_(capacity), stream_(stream) {
    for (Slot& slot : slots_) {
      slot.host = base::cuda::PinnedBuffer<std::byte>(capacity, "a chunk of the key");
      slot.device = base::cuda::DeviceBuffer<std::byte>(capacity, "a chunk of the key");
    }
  }
  ~ChunkPipe() {
    try {
      copies_.synchronize();
      base::cuda::synchronize(stream_);
    } catch (...) {
      // The work has failed; whoever waits for its result learns of it.
    }
  }
  ChunkPipe(const ChunkPipe&) = delete;
  ChunkPipe& operator=(const ChunkPipe&) = delete;

  std::size_t capacity() const { return capacity_; }
  base::cuda::StreamRef stream() const { return stream_; }

  /// fill(bytes) writes the chunk on the host, then use(device bytes) enqueues on stream() what
  /// reads it. bytes <= capacity().
  template <class Fill, class Use>
  void pass(std::size_t bytes, Fill&& fill, Use&& use) {
    base::require(bytes <= capacity_, "a chunk of {} bytes: {} are possible", bytes, capacity_);
    Slot& slot = slots_[next_];
    next_ = 1 - next_;
    slot.used.synchronize();
    fill(slot.host.span().first(bytes));
    base::cuda::copy_bytes(slot.device.data(), slot.host.data(), bytes, copies_.ref());
    slot.copied.record(copies_.ref());
    slot.copied.block(stream_);
    use(slot.device.const_span().first(bytes));
    slot.used.record(stream_);
  }

 private:
  struct Slot {
    base::cuda::PinnedBuffer<std::byte> host;
    base::cuda::DeviceBuffer<std::byte> device;
    base::cuda::Event copied, used;
  };

  std::size_t capacity_;
  base::cuda::StreamRef stream_;
  base::cuda::Stream copies_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;
};

}  // namespace cuzk::groth16::cuda
