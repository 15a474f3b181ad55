#pragma once

#ifdef __CUDACC__
#error "emulated_runtime.hpp stands in for the CUDA runtime; link runtime.cu"
#endif

#include "base/cuda/device.hpp"
#include "base/cuda/memory.hpp"
#include "base/cuda/stream.hpp"
#include "base/error.hpp"

#include <cstdlib>

/// The runtime behind emulated kernels: device memory is host memory, work runs when it is
/// enqueued, events are always reached, and there is one device with one multiprocessor. Included
/// by launch.hpp in translation units without the CUDA compiler, which are tests; everything else
/// links runtime.cu.
namespace cuzk::base::cuda {

namespace memory {

inline void* allocate_emulated(std::size_t bytes, const char* purpose) {
  constexpr std::size_t kAlignment = 256;
  void* p = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (p == nullptr)
    fail<ResourceExhausted>("{} bytes of memory for {} are not to be had", bytes, purpose);
  return p;
}
inline void* allocate_device(std::size_t bytes, const char* purpose) {
  return allocate_emulated(bytes, purpose);
}
inline void free_device(void* p) noexcept { std::free(p); }
inline void* allocate_pinned(std::size_t bytes, const char* purpose) {
  return allocate_emulated(bytes, purpose);
}
inline void free_pinned(void* p) noexcept { std::free(p); }
inline void register_pinned(void*, std::size_t, const char*) {}
inline void unregister_pinned(void*) noexcept {}

}  // namespace memory

inline void synchronize(StreamRef) {}

inline Stream::Stream(bool) {}
inline Stream::~Stream() = default;
inline Stream::Stream(Stream&&) noexcept = default;
inline Stream& Stream::operator=(Stream&&) noexcept = default;

inline Event::Event() = default;
inline Event::~Event() = default;
inline Event::Event(Event&&) noexcept = default;
inline Event& Event::operator=(Event&&) noexcept = default;
inline void Event::record(StreamRef) {}
inline void Event::block(StreamRef) const {}
inline void Event::synchronize() const {}
inline bool Event::reached() const { return true; }
inline double Event::milliseconds_since(const Event&) const { return 0; }

inline std::vector<DeviceInfo> list_devices() {
  DeviceInfo info;
  info.name = "emulated";
  info.sm_count = 1;
  info.total_bytes = std::size_t{4} << 30;
  return {info};
}
inline Device::Device(int ordinal) {
  require(ordinal == 0, "CUDA device {}: only number 0 is emulated", ordinal);
  info_ = list_devices().front();
}
inline void Device::make_current() const {}
inline std::size_t Device::free_bytes() const { return info_.total_bytes; }

}  // namespace cuzk::base::cuda
