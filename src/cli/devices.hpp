#pragma once

#include "engine/config.hpp"
#include "engine/proving_device.hpp"

#include <memory>
#include <vector>

namespace cuzk::cli {

/// The devices that the configuration names, as far as this build can use them; the CPU if there
/// are none and it is allowed. Throws base::InvalidInput "NO-GPU: ..." if that leaves none.
std::vector<std::unique_ptr<engine::ProvingDevice>> make_devices(const engine::Config& config);

}  // namespace cuzk::cli
