#pragma once

namespace cuzk::base::cuda {

/// Gives back everything that the process has on the device and starts over. All that was made
/// there is dangling: destroy it before. Throws DeviceError if the device does not come back, which
/// a DeviceLost never does (docs/decisions/0014-lost-devices.md).
void reset_device(int ordinal);

}  // namespace cuzk::base::cuda
