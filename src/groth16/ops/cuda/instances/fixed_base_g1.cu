#include "groth16/ops/cuda/instances/key_points_templates.cuh"

namespace cuzk::groth16::cuda {

CUZK_FIXED_BASE_TEMPLATES(, curve::device::G1)

}  // namespace cuzk::groth16::cuda
