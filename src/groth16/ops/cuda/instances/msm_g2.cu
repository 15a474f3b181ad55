#include "groth16/ops/cuda/instances/msm_templates.cuh"

namespace cuzk::groth16::cuda {

CUZK_MSM_TEMPLATES(, curve::device::G2)

}  // namespace cuzk::groth16::cuda
