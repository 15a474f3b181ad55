#pragma once

#include "base/cuda/launch.hpp"
#include "base/cuda/memory.hpp"
#include "base/cuda/span.hpp"
#include "base/cuda/stream.hpp"
#include "base/error.hpp"

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuzk::base::cuda {

/// Owner of `size` objects in device memory, not initialised. Moves, never copies; freeing waits
/// for no stream, so the last work that uses the memory must have completed. Allocation is not for
/// the hot path: see Arena.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  /// `purpose` names the memory in errors. Throws ResourceExhausted.
  DeviceBuffer(std::size_t size, const char* purpose)
      : data_(size == 0 ? nullptr
                        : static_cast<T*>(memory::allocate_device(size * sizeof(T), purpose))),
        size_(size) {}
  ~DeviceBuffer() { memory::free_device(data_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  DeviceSpan<T> span() const { return {data_, size_}; }
  DeviceSpan<const T> const_span() const { return {data_, size_}; }

  /// Copies `values` to the front and waits. Throws InvalidInput if they do not fit.
  void upload(std::span<const T> values, StreamRef stream) const {
    require(values.size() <= size_, "upload of {} objects into a buffer of {}", values.size(),
            size_);
    copy_bytes(data_, values.data(), values.size_bytes(), stream);
    synchronize(stream);
  }
  /// Waits for the stream and returns `count` objects from `first` on.
  std::vector<T> download(std::size_t first, std::size_t count, StreamRef stream) const {
    require(first <= size_ && count <= size_ - first, "download of [{}, {}+{}) from a buffer of {}",
            first, first, count, size_);
    std::vector<T> values(count);
    copy_bytes(values.data(), data_ + first, count * sizeof(T), stream);
    synchronize(stream);
    return values;
  }
  std::vector<T> download(StreamRef stream) const { return download(0, size_, stream); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Owner of `size` objects in pinned host memory: the host side of asynchronous copies. Moves,
/// never copies.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  PinnedBuffer(std::size_t size, const char* purpose)
      : data_(size == 0 ? nullptr
                        : static_cast<T*>(memory::allocate_pinned(size * sizeof(T), purpose))),
        size_(size) {}
  ~PinnedBuffer() { memory::free_pinned(data_); }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<T> span() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cuzk::base::cuda
