#pragma once

#include "engine/config.hpp"
#include "engine/proving_device.hpp"

#include <memory>
#include <vector>

namespace cuzk::cli {

/// The CUDA devices that the configuration names, all that the driver lists if it names none; none
/// where there is no driver. Throws base::InvalidInput for a name that no device has.
std::vector<std::unique_ptr<engine::ProvingDevice>> make_cuda_devices(const engine::Config& config);

}  // namespace cuzk::cli
