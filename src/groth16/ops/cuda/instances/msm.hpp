#pragma once

#include "base/cuda/span.hpp"
#include "base/cuda/stream_ref.hpp"
#include "curve/device/fr.hpp"
#include "curve/device/points.hpp"
#include "groth16/ops/cuda/msm_plan.hpp"

/// The dense sums of msm.cuh, which says what each does, for whoever only calls them: msm_g1.cu and
/// msm_g2.cu compile them, once for the whole program.
namespace cuzk::groth16::cuda {

template <class G>
MsmPlan make_msm_plan(std::size_t n, unsigned sm_count);
template <class G>
std::size_t msm_buckets_at_once(unsigned sm_count);
template <class G>
std::size_t msm_workspace(const MsmPlan& plan);
template <class G>
void msm(const MsmPlan& plan, base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> bases,
         base::cuda::DeviceSpan<const curve::device::Fr> scalars, const std::uint32_t* list,
         base::cuda::DeviceSpan<std::byte> workspace,
         base::cuda::DeviceSpan<curve::device::StoredXyzz<G>> out, base::cuda::StreamRef stream);

}  // namespace cuzk::groth16::cuda
