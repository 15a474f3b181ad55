#pragma once

#include "base/cuda/qualifiers.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cuzk::base::cuda {

/// A view of `size` objects in device memory: host code passes it around, only kernels look behind
/// it. Owns nothing.
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  std::size_t size = 0;

  DeviceSpan() = default;
  CUZK_HD DeviceSpan(T* first, std::size_t count) : data(first), size(count) {}
  /// A view of T is a view of const T.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  CUZK_HD DeviceSpan(const DeviceSpan<U>& other) : data(other.data), size(other.size) {}

  std::size_t size_bytes() const { return size * sizeof(T); }
  DeviceSpan first(std::size_t count) const { return {data, count}; }
  DeviceSpan subspan(std::size_t offset, std::size_t count) const { return {data + offset, count}; }
};

/// Cuts a workspace into typed arrays, each aligned to 256 bytes. Run on no memory it only adds up,
/// so that the size of a workspace and its use come from the same text:
///
///   struct Buffers { DeviceSpan<u32> keys; static Buffers carve(Carver& carver, size_t n) { return
///   {carver.take<u32>(n)}; } }; Carver measure;  Buffers::carve(measure, n);  size_t bytes =
///   measure.bytes_used();
class Carver {
 public:
  static constexpr std::size_t kAlignment = 256;

  Carver() = default;
  explicit Carver(DeviceSpan<std::byte> workspace)
      : base_(workspace.data), capacity_(workspace.size) {}

  template <class T>
  DeviceSpan<T> take(std::size_t count) {
    const std::size_t offset = used_;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    if (used_ > peak_) peak_ = used_;
    return {base_ != nullptr ? reinterpret_cast<T*>(base_ + offset) : nullptr, count};
  }
  /// The most that was taken at any time.
  std::size_t bytes_used() const { return peak_; }
  /// Whether everything taken lies inside the workspace given.
  bool fits() const { return peak_ <= capacity_; }
  /// Position to return to with rewind(), for arrays that are not needed at the same time.
  std::size_t mark() const { return used_; }
  void rewind(std::size_t mark) { used_ = mark; }

 private:
  std::byte* base_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace cuzk::base::cuda
