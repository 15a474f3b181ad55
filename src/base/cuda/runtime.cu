#include "base/cuda/error.hpp"
#include "base/cuda/memory.hpp"
#include "base/cuda/stream.hpp"
#include "base/error.hpp"

#include <cuda_runtime.h>

#include <utility>

namespace cuzk::base::cuda {

namespace memory {

namespace {

/// `Exhausted`: whose memory it is.
template <class Exhausted>
[[noreturn]] void fail_allocation(std::size_t bytes, const char* kind, const char* purpose,
                                  cudaError_t status) {
  static_cast<void>(cudaGetLastError());
  if (status != cudaErrorMemoryAllocation) throw_device_error(status, purpose);
  std::size_t free_bytes = 0, total_bytes = 0;
  static_cast<void>(cudaMemGetInfo(&free_bytes, &total_bytes));
  static_cast<void>(cudaGetLastError());
  fail<Exhausted>(
      "{} bytes of {} memory for {} are not to be had ({} of {} bytes of device memory are free)",
      bytes, kind, purpose, free_bytes, total_bytes);
}

}  // namespace

void* allocate_device(std::size_t bytes, const char* purpose) {
  void* p = nullptr;
  const cudaError_t status = cudaMalloc(&p, bytes);
  if (status != cudaSuccess)
    fail_allocation<DeviceMemoryExhausted>(bytes, "device", purpose, status);
  return p;
}
void free_device(void* p) noexcept {
  if (p != nullptr) static_cast<void>(cudaFree(p));
}
void* allocate_pinned(std::size_t bytes, const char* purpose) {
  void* p = nullptr;
  const cudaError_t status = cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
  if (status != cudaSuccess)
    fail_allocation<ResourceExhausted>(bytes, "pinned host", purpose, status);
  return p;
}
void free_pinned(void* p) noexcept {
  if (p != nullptr) static_cast<void>(cudaFreeHost(p));
}
void register_pinned(void* p, std::size_t bytes, const char* purpose) {
  const cudaError_t status = cudaHostRegister(p, bytes, cudaHostRegisterPortable);
  if (status != cudaSuccess)
    fail_allocation<ResourceExhausted>(bytes, "pinned host", purpose, status);
}
void unregister_pinned(void* p) noexcept {
  if (p != nullptr) static_cast<void>(cudaHostUnregister(p));
}

}  // namespace memory

void synchronize(StreamRef stream) {
  check(cudaStreamSynchronize(stream.handle), "work on a stream");
}

Stream::Stream(bool high_priority) {
  int lowest = 0, highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "stream priorities");
  check(cudaStreamCreateWithPriority(&stream_.handle, cudaStreamNonBlocking,
                                     high_priority ? highest : lowest),
        "stream creation");
}
Stream::~Stream() {
  if (stream_.handle != nullptr) static_cast<void>(cudaStreamDestroy(stream_.handle));
}
Stream::Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, {})) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(stream_, other.stream_);
  return *this;
}

// A thread that waits sleeps: with a thread a lane, spinning would take the witnesses' cores.
Event::Event() {
  check(cudaEventCreateWithFlags(&event_, cudaEventBlockingSync), "event creation");
}
Event::~Event() {
  if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
}
Event::Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  std::swap(event_, other.event_);
  return *this;
}
void Event::record(StreamRef stream) {
  check(cudaEventRecord(event_, stream.handle), "event record");
}
void Event::block(StreamRef stream) const {
  check(cudaStreamWaitEvent(stream.handle, event_, 0), "wait for an event");
}
void Event::synchronize() const { check(cudaEventSynchronize(event_), "work before an event"); }
bool Event::reached() const {
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  check(status, "work before an event");
  return true;
}
double Event::milliseconds_since(const Event& start) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "time between events");
  return milliseconds;
}

}  // namespace cuzk::base::cuda
