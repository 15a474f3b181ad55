#include "cli/devices.hpp"

#include "base/error.hpp"
#ifdef CUZK_HAS_CUDA
#include "cli/cuda_device.hpp"
#endif

namespace cuzk::cli {

std::vector<std::unique_ptr<engine::ProvingDevice>> make_devices(const engine::Config& config) {
  std::vector<std::unique_ptr<engine::ProvingDevice>> devices;
#ifdef CUZK_HAS_CUDA
  devices = make_cuda_devices(config);
  base::require(!devices.empty() || config.gpus.allow_cpu,
                "NO-GPU: there is no CUDA device: `nvidia-smi` should list one. Or set "
                "gpus.allow_cpu = true to prove slowly on the CPU");
#else
  base::require(config.gpus.allow_cpu,
                "NO-GPU: this build has no CUDA backend. Use one that has, or set gpus.allow_cpu = "
                "true to prove slowly on the CPU");
#endif
  if (devices.empty()) devices.push_back(engine::make_cpu_device(config.pipeline));
  return devices;
}

}  // namespace cuzk::cli
