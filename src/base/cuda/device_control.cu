#include "base/cuda/device_control.hpp"
#include "base/cuda/error.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

namespace cuzk::base::cuda {

std::string device_uuid(int ordinal) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, ordinal), "device properties");
  std::string out = "GPU";
  for (int i = 0; i < 16; ++i) {
    const bool group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    out += fmt::format("{}{:02x}", group ? "-" : "",
                       static_cast<unsigned char>(properties.uuid.bytes[i]));
  }
  return out;
}

void reset_device(int ordinal) {
  check(cudaSetDevice(ordinal), "choice of a device");
  check(cudaDeviceReset(), "reset of a device");
  // What failed before is not to be reported again.
  static_cast<void>(cudaGetLastError());
  check(cudaFree(nullptr), "a fresh context");
}

}  // namespace cuzk::base::cuda
