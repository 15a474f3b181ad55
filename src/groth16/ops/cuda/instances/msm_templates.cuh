#pragma once

#include "groth16/ops/cuda/instances/msm.hpp"
#include "groth16/ops/cuda/msm.cuh"

/// What the program compiles of msm.cuh for one group. With an empty first argument: the one place
/// that compiles it; with `extern`: everywhere else that includes msm.cuh.
#define CUZK_MSM_TEMPLATES(PREFIX, G)                                                           \
  PREFIX template MsmPlan make_msm_plan<G>(std::size_t, unsigned);                              \
  PREFIX template std::size_t msm_buckets_at_once<G>(unsigned);                                 \
  PREFIX template std::size_t msm_workspace<G>(const MsmPlan&);                                 \
  PREFIX template void msm<G>(const MsmPlan&, base::cuda::DeviceSpan<const StoredAffine<G>>,    \
                              base::cuda::DeviceSpan<const curve::device::Fr>,                  \
                              const std::uint32_t*, base::cuda::DeviceSpan<std::byte>,          \
                              base::cuda::DeviceSpan<StoredXyzz<G>>, base::cuda::StreamRef);    \
  PREFIX template void msm_detail::accumulate<G>(const MsmPlan&, const StoredAffine<G>*,        \
                                                 const msm_detail::Buffers<G>&,                 \
                                                 base::cuda::StreamRef);                        \
  PREFIX template void msm_detail::reduce<G, StoredXyzz<G>>(                                    \
      const MsmPlan&, const StoredXyzz<G>*, const msm_detail::SumBuffers<G>&, StoredXyzz<G>*,   \
      base::cuda::StreamRef);                                                                   \
  PREFIX template void msm_detail::reduce<G, StoredAffine<G>>(                                  \
      const MsmPlan&, const StoredAffine<G>*, const msm_detail::SumBuffers<G>&, StoredXyzz<G>*, \
      base::cuda::StreamRef);
