#include "groth16/ops/cuda/gpu_check/key_points_suite.cuh"

namespace cuzk::groth16::cuda::gpu_check {

void run_key_points_g1_suite(const Context& context) {
  run_key_points_suite<curve::device::G1>(context, "key_points_g1", 24);
}

}  // namespace cuzk::groth16::cuda::gpu_check
