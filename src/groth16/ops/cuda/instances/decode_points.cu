#include "groth16/ops/cuda/instances/key_points_templates.cuh"

namespace cuzk::groth16::cuda {

CUZK_DECODE_POINTS_TEMPLATES(, curve::device::G1)
CUZK_DECODE_POINTS_TEMPLATES(, curve::device::G2)

}  // namespace cuzk::groth16::cuda
