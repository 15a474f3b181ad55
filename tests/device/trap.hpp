#pragma once

namespace cuzk::tests {

/// Runs a kernel on the device that leaves its context beyond use, and waits for it: throws
/// DeviceLost.
void trap(int ordinal);

}  // namespace cuzk::tests
