#include "groth16/ops/cuda/gpu_check/msm_suite.cuh"
#include "groth16/ops/cuda/instances/msm_templates.cuh"

namespace cuzk::groth16::cuda {
CUZK_MSM_TEMPLATES(extern, curve::device::G2)
}  // namespace cuzk::groth16::cuda

namespace cuzk::groth16::cuda::gpu_check {

using curve::device::G2;

void run_msm_g2_suite(const Context& context) {
  if (context.test) test_msm<G2>(context, "msm_g2");
  if (!context.time) return;
  const std::size_t most = std::size_t{1} << std::min(context.max_log, 24);
  const auto bases = large_bases<G2>(most, context.stream);
  const base::cuda::DeviceBuffer<Fr> scalars(most, "scalars");
  fill_random_scalars(scalars.data(), most, 1, context.stream);
  for (const std::size_t n :
       {std::size_t{1} << 16, std::size_t{330'000}, std::size_t{1} << 20, std::size_t{1} << 24}) {
    if (n <= most)
      time_msm<G2>(context, "msm_g2", n, bases.data(), scalars.data(), 0, Accumulation::kXyzz);
  }
}

}  // namespace cuzk::groth16::cuda::gpu_check
