#include "cli/devices.hpp"

#include "base/error.hpp"

namespace cuzk::cli {

std::vector<std::unique_ptr<engine::ProvingDevice>> make_devices(const engine::Config& config) {
  std::vector<std::unique_ptr<engine::ProvingDevice>> devices;
  if (config.gpus.allow_cpu) devices.push_back(engine::make_cpu_device());
  base::require(!devices.empty(),
                "NO-GPU: this build has no CUDA backend. Use one that has, or set gpus.allow_cpu = "
                "true to prove slowly on the CPU");
  return devices;
}

}  // namespace cuzk::cli
