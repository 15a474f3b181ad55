#pragma once

#include "base/cuda/span.hpp"
#include "base/cuda/stream_ref.hpp"
#include "groth16/ops/cuda/batch_add_plan.hpp"

/// The 0/1 sums of batch_add.cuh and group_table.cuh, which say what each does, for whoever only
/// calls them: batch_add_g1.cu, batch_add_g2.cu, group_table_g1.cu and group_table_g2.cu compile
/// them, once for the whole program.
namespace cuzk::groth16::cuda {

template <class G>
std::size_t batch_add_workspace(const BatchAddPlan& plan);
template <class G>
void batch_add(const BatchAddPlan& plan,
               base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> bases,
               base::cuda::DeviceSpan<const std::uint32_t> bits,
               base::cuda::DeviceSpan<std::byte> workspace, curve::device::StoredXyzz<G>* result,
               base::cuda::StreamRef stream);

template <class G>
std::size_t grouped_workspace(const BatchAddPlan& plan);
template <class G>
void batch_add_grouped(const BatchAddPlan& plan,
                       base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> table,
                       base::cuda::DeviceSpan<const std::uint32_t> bits,
                       base::cuda::DeviceSpan<std::byte> workspace,
                       curve::device::StoredXyzz<G>* result, base::cuda::StreamRef stream);
template <class G>
void make_group_table(base::cuda::DeviceSpan<const curve::device::StoredAffine<G>> bases,
                      std::size_t n, base::cuda::DeviceSpan<curve::device::StoredAffine<G>> table,
                      base::cuda::StreamRef stream);

}  // namespace cuzk::groth16::cuda
