#pragma once

#include "base/cuda/memory.hpp"
#include "base/large_array.hpp"
#include "base/parallel.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace cuzk::base::cuda {

/// Owner of `size` objects, at first zero, in host memory of any size that the device reads and
/// writes directly. Ordinary memory, touched by all cores and then registered: letting the driver
/// allocate gigabytes (PinnedBuffer) was measured to take seven times as long. Moves, never copies.
template <class T>
class RegisteredArray {
 public:
  RegisteredArray() = default;
  /// Throws ResourceExhausted, naming the purpose.
  RegisteredArray(std::size_t size, const char* purpose) : array_(size) {
    if (size == 0) return;
    auto* bytes = reinterpret_cast<std::byte*>(array_.data());
    constexpr std::size_t kPage = 4096, kPiece = std::size_t{1} << 21;
    const std::size_t count = size * sizeof(T);
    parallel_ranges(count, kPiece, [&](std::size_t first, std::size_t last) {
      for (std::size_t at = first; at < last; at += kPage) bytes[at] = std::byte{0};
    });
    memory::register_pinned(bytes, count, purpose);
  }
  ~RegisteredArray() { memory::unregister_pinned(array_.data()); }
  RegisteredArray(RegisteredArray&& other) noexcept = default;
  RegisteredArray& operator=(RegisteredArray&& other) noexcept = default;

  T* data() { return array_.data(); }
  std::size_t size() const { return array_.size(); }
  std::span<const T> span() const { return {array_.data(), array_.size()}; }

 private:
  LargeArray<T> array_;
};

}  // namespace cuzk::base::cuda
