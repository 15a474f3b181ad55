#pragma once

#include "groth16/ops/cuda/decode_points.cuh"
#include "groth16/ops/cuda/fixed_base.cuh"

/// What the program compiles of decode_points.cuh and fixed_base.cuh for one group. With an empty
/// first argument: the one place that compiles it; with `extern`: everywhere else that includes
/// them.
#define CUZK_DECODE_POINTS_TEMPLATES(PREFIX, G)                                                   \
  PREFIX template void decode_points<G>(                                                          \
      base::cuda::DeviceSpan<const std::byte>, std::size_t, IdentityRule, std::size_t,            \
      base::cuda::DeviceSpan<curve::device::StoredAffine<G>>, FaultWord*, base::cuda::StreamRef); \
  PREFIX template void encode_points<G>(                                                          \
      base::cuda::DeviceSpan<const curve::device::StoredAffine<G>>, std::size_t,                  \
      base::cuda::DeviceSpan<std::byte>, base::cuda::StreamRef);

#define CUZK_FIXED_BASE_TEMPLATES(PREFIX, G)                                              \
  PREFIX template std::vector<curve::device::StoredAffine<G>> window_bases<G>(            \
      const FixedBasePlan&, const curve::device::StoredAffine<G>&);                       \
  PREFIX template void make_fixed_base_table<G>(                                          \
      const FixedBasePlan&, base::cuda::DeviceSpan<const curve::device::StoredAffine<G>>, \
      base::cuda::DeviceSpan<curve::device::StoredAffine<G>>, base::cuda::StreamRef);     \
  PREFIX template void multiply_fixed_base<G>(                                            \
      const FixedBasePlan&, base::cuda::DeviceSpan<const curve::device::StoredAffine<G>>, \
      base::cuda::DeviceSpan<const curve::device::Fr>, std::size_t,                       \
      base::cuda::DeviceSpan<curve::device::StoredAffine<G>>, base::cuda::StreamRef);
