#include "groth16/ops/cuda/gpu_check/batch_add_suite.cuh"

namespace cuzk::groth16::cuda::gpu_check {

void run_batch_add_g2_suite(const Context& context) {
  run_batch_add_suite<curve::device::G2>(context, "batch_add_g2", 25);
}

}  // namespace cuzk::groth16::cuda::gpu_check
