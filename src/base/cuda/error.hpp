#pragma once

#include "base/error.hpp"

#include <stdexcept>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

namespace cuzk::base::cuda {

/// The device refused or failed one piece of work; the context is intact: retry the partition.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The context is beyond use (an illegal access, an ECC error, a device off the bus): every later
/// call on it fails, after a reset too, until the process ends.
class DeviceLost : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The device's own memory is exhausted, not the host's.
class DeviceMemoryExhausted : public ResourceExhausted {
 public:
  using ResourceExhausted::ResourceExhausted;
};

#ifdef __CUDACC__
/// Throws for any `status` but success: DeviceMemoryExhausted where memory ran out, DeviceLost
/// where the context is beyond use, else DeviceError. `what` names the work in the text.
void throw_device_error(cudaError_t status, const char* what);
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw_device_error(status, what);
}
#endif

}  // namespace cuzk::base::cuda
