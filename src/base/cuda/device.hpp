#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cuzk::base::cuda {

/// What a device is, as its driver says.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  std::string uuid;  // as nvidia-smi writes it: "GPU-" and 32 hexadecimal digits in five groups
  int capability_major = 0, capability_minor = 0;
  unsigned sm_count = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes_a_block = 0;  // with opt-in
  std::size_t total_bytes = 0;
  int driver_version = 0, runtime_version = 0;  // 1000·major + 10·minor
};

/// All devices of this machine; none where there is no driver. Asks the driver only, so that a
/// device that is broken or another program's alone stands in nobody's way. Throws DeviceError if
/// the driver is older than the runtime that this program was built with.
std::vector<DeviceInfo> list_devices();

/// A device that the kernels of this program can run on. Constant after construction; any number of
/// threads may use it.
class Device {
 public:
  /// Touches no other device. Throws InvalidInput if there is no such device or its capability is
  /// not one that the program has code for.
  explicit Device(int ordinal);

  const DeviceInfo& info() const { return info_; }
  /// Makes it the calling thread's current device, and forgets what failed in this thread before:
  /// every thread that allocates or launches calls this first.
  void make_current() const;
  /// Throws DeviceError.
  std::size_t free_bytes() const;

 private:
  DeviceInfo info_;
};

}  // namespace cuzk::base::cuda
