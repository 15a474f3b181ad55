#include "base/cuda/device.hpp"
#include "base/cuda/error.hpp"
#include "base/error.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

namespace cuzk::base::cuda {

namespace {

__global__ void probe() {}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string out = "GPU";
  for (int i = 0; i < 16; ++i) {
    const bool group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    out += fmt::format("{}{:02x}", group ? "-" : "", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return out;
}

DeviceInfo describe(int ordinal) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, ordinal), "device properties");
  DeviceInfo info;
  info.ordinal = ordinal;
  info.name = properties.name;
  info.uuid = uuid_text(properties.uuid);
  info.capability_major = properties.major;
  info.capability_minor = properties.minor;
  info.sm_count = static_cast<unsigned>(properties.multiProcessorCount);
  info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  info.shared_bytes_a_block = properties.sharedMemPerBlockOptin;
  info.total_bytes = properties.totalGlobalMem;
  check(cudaDriverGetVersion(&info.driver_version), "driver version");
  check(cudaRuntimeGetVersion(&info.runtime_version), "runtime version");
  return info;
}

int device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice) return 0;
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0, runtime = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    if (driver == 0) return 0;
    fail<DeviceError>("the driver supports CUDA {}.{}, this program needs {}.{}: update the driver",
                      driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  }
  check(status, "number of devices");
  return count;
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices;
  const int count = device_count();
  for (int i = 0; i < count; ++i) devices.push_back(describe(i));
  return devices;
}

Device::Device(int ordinal) {
  const int count = device_count();
  require(ordinal >= 0 && ordinal < count, "CUDA device {}: this machine has {}", ordinal, count);
  info_ = describe(ordinal);
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

void Device::make_current() const {
  check(cudaSetDevice(info_.ordinal), "choice of a device");
  static_cast<void>(cudaGetLastError());
}

std::size_t Device::free_bytes() const {
  make_current();
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "device memory");
  return free_bytes;
}

}  // namespace cuzk::base::cuda
