#pragma once

#include <string>

namespace cuzk::base::cuda {

/// The device's UUID as nvidia-smi writes it: "GPU-" and 32 hexadecimal digits in five groups.
/// Throws DeviceError if there is no such device.
std::string device_uuid(int ordinal);

/// Gives back everything that the process has on the device and starts over, also where the context
/// was beyond use (DeviceLost). All that was made there is dangling: destroy it before. Throws
/// DeviceError if the device does not come back.
void reset_device(int ordinal);

}  // namespace cuzk::base::cuda
