#include "groth16/ops/cuda/gpu_check/batch_add_suite.cuh"
#include "groth16/ops/cuda/instances/batch_add_templates.cuh"

namespace cuzk::groth16::cuda {
CUZK_BATCH_ADD_TEMPLATES(extern, curve::device::G2)
CUZK_GROUP_TABLE_TEMPLATES(extern, curve::device::G2)
}  // namespace cuzk::groth16::cuda

namespace cuzk::groth16::cuda::gpu_check {

void run_batch_add_g2_suite(const Context& context) {
  run_batch_add_suite<curve::device::G2>(context, "batch_add_g2", 25);
}

}  // namespace cuzk::groth16::cuda::gpu_check
