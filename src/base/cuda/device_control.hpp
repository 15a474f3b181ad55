#pragma once

namespace cuzk::base::cuda {

/// Gives back everything that the process has on the device and starts over, also where the context
/// was beyond use (DeviceLost). All that was made there is dangling: destroy it before. Throws
/// DeviceError if the device does not come back.
void reset_device(int ordinal);

}  // namespace cuzk::base::cuda
