#include "base/cuda/error.hpp"
#include "base/error.hpp"

namespace cuzk::base::cuda {

void throw_device_error(cudaError_t status, const char* what) {
  // Clears an error that belongs to one call. If the context is beyond use, the next call that
  // touches it fails again.
  static_cast<void>(cudaGetLastError());
  const char* name = cudaGetErrorName(status);
  const char* text = cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) {
    fail<DeviceMemoryExhausted>(
        "device memory is exhausted ({}: {}): lower --vram-budget or free the device", what, text);
  }
  std::size_t free_bytes = 0, total_bytes = 0;
  const bool lost = cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess;
  static_cast<void>(cudaGetLastError());  // or the thread's next launch would report it
  if (lost) fail<DeviceLost>("device is lost to this process ({}: {}, {})", what, name, text);
  fail<DeviceError>("device error ({}: {}, {})", what, name, text);
}

}  // namespace cuzk::base::cuda
