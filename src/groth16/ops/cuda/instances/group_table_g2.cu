#include "groth16/ops/cuda/instances/batch_add_templates.cuh"

namespace cuzk::groth16::cuda {

CUZK_GROUP_TABLE_TEMPLATES(, curve::device::G2)

}  // namespace cuzk::groth16::cuda
