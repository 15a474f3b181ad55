#include "groth16/ops/cuda/instances/batch_add_templates.cuh"

namespace cuzk::groth16::cuda {

CUZK_BATCH_ADD_TEMPLATES(, curve::device::G1)

}  // namespace cuzk::groth16::cuda
