#include "base/cuda/device_control.hpp"
#include "base/cuda/error.hpp"

#include <cuda_runtime.h>

namespace cuzk::base::cuda {

void reset_device(int ordinal) {
  // Each of these may report what failed before, which is why it is reset. Whether it helped is
  // what the calls after them say.
  static_cast<void>(cudaSetDevice(ordinal));
  static_cast<void>(cudaDeviceReset());
  static_cast<void>(cudaGetLastError());
  check(cudaSetDevice(ordinal), "choice of a device");
  check(cudaFree(nullptr), "a fresh context");
}

}  // namespace cuzk::base::cuda
