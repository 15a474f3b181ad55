#include "base/cuda/device.hpp"
#include "base/cuda/error.hpp"
#include "base/error.hpp"

#include <cuda_runtime.h>

namespace cuzk::base::cuda {

namespace {

__global__ void probe() {}

DeviceInfo describe(int ordinal) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, ordinal), "device properties");
  DeviceInfo info;
  info.ordinal = ordinal;
  info.name = properties.name;
  info.capability_major = properties.major;
  info.capability_minor = properties.minor;
  info.sm_count = static_cast<unsigned>(properties.multiProcessorCount);
  info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  info.shared_bytes_a_block = properties.sharedMemPerBlockOptin;
  check(cudaDriverGetVersion(&info.driver_version), "driver version");
  check(cudaRuntimeGetVersion(&info.runtime_version), "runtime version");
  check(cudaSetDevice(ordinal), "choice of a device");
  check(cudaMemGetInfo(&info.free_bytes, &info.total_bytes), "device memory");
  return info;
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice) return {};
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0, runtime = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    if (driver == 0) return {};
    fail<DeviceError>("the driver supports CUDA {}.{}, this program needs {}.{}: update the driver",
                      driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  }
  check(status, "number of devices");
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) devices.push_back(describe(i));
  return devices;
}

Device::Device(int ordinal) {
  const std::vector<DeviceInfo> devices = list_devices();
  require(ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices.size(),
          "CUDA device {}: this machine has {}", ordinal, devices.size());
  info_ = devices[static_cast<std::size_t>(ordinal)];
  make_current();
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, probe);
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction) {
    static_cast<void>(cudaGetLastError());
    fail<InvalidInput>(
        "CUDA device {} ({}) has compute capability {}.{}, for which this program has no code",
        ordinal, info_.name, info_.capability_major, info_.capability_minor);
  }
  check(status, "a kernel's attributes");
}

void Device::make_current() const { check(cudaSetDevice(info_.ordinal), "choice of a device"); }

std::size_t Device::free_bytes() const {
  make_current();
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "device memory");
  return free_bytes;
}

}  // namespace cuzk::base::cuda
