#include "groth16/ops/cuda/gpu_check/key_points_suite.cuh"

namespace cuzk::groth16::cuda::gpu_check {

void run_key_points_g2_suite(const Context& context) {
  run_key_points_suite<curve::device::G2>(context, "key_points_g2", 24);
}

}  // namespace cuzk::groth16::cuda::gpu_check
