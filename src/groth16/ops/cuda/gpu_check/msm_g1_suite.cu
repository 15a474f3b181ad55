#include "groth16/ops/cuda/gpu_check/msm_suite.cuh"
#include "groth16/ops/cuda/instances/msm_templates.cuh"

namespace cuzk::groth16::cuda {
CUZK_MSM_TEMPLATES(extern, curve::device::G1)
}  // namespace cuzk::groth16::cuda

namespace cuzk::groth16::cuda::gpu_check {

using curve::device::G1;

void run_msm_g1_suite(const Context& context) {
  if (context.test) test_msm<G1>(context, "msm_g1");
  if (!context.time) return;
  const std::size_t most = std::size_t{1} << context.max_log;
  const auto bases = large_bases<G1>(most, context.stream);
  const base::cuda::DeviceBuffer<Fr> scalars(most, "scalars");
  fill_random_scalars(scalars.data(), most, 1, context.stream);
  const auto time = [&](std::size_t n, int windows, Accumulation way) {
    if (n <= most) time_msm<G1>(context, "msm_g1", n, bases.data(), scalars.data(), windows, way);
  };
  for (const int log : {10, 16, 18, 20, 22, 24})
    time(std::size_t{1} << log, 0, Accumulation::kXyzz);
  for (const int windows : {14, 15, 16, 17})
    time(std::size_t{1} << 20, windows, Accumulation::kXyzz);
  time(std::size_t{1} << 24, 0, Accumulation::kAffine);
  // 89.6 M: the scalars that are not zero in the derivative form of a 32 GiB PoRep partition.
  for (const std::size_t n : {std::size_t{89'600'000}, std::size_t{1} << 27}) {
    time(n, 12, Accumulation::kXyzz);
    time(n, 12, Accumulation::kAffine);
    time(n, 11, Accumulation::kAffine);
  }
}

}  // namespace cuzk::groth16::cuda::gpu_check
