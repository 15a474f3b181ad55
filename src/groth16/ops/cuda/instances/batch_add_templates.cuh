#pragma once

#include "groth16/ops/cuda/group_table.cuh"
#include "groth16/ops/cuda/instances/batch_add.hpp"

/// What the program compiles of batch_add.cuh and group_table.cuh for one group. With an empty
/// first argument: the one place that compiles it; with `extern`: everywhere else that includes
/// them.
#define CUZK_BATCH_ADD_TEMPLATES(PREFIX, G)                                           \
  PREFIX template std::size_t batch_add_workspace<G>(const BatchAddPlan&);            \
  PREFIX template void batch_add<G>(                                                  \
      const BatchAddPlan&, base::cuda::DeviceSpan<const StoredAffine<G>>,             \
      base::cuda::DeviceSpan<const std::uint32_t>, base::cuda::DeviceSpan<std::byte>, \
      StoredXyzz<G>*, base::cuda::StreamRef);                                         \
  PREFIX template std::size_t grouped_workspace<G>(const BatchAddPlan&);              \
  PREFIX template void batch_add_grouped<G>(                                          \
      const BatchAddPlan&, base::cuda::DeviceSpan<const StoredAffine<G>>,             \
      base::cuda::DeviceSpan<const std::uint32_t>, base::cuda::DeviceSpan<std::byte>, \
      StoredXyzz<G>*, base::cuda::StreamRef);

#define CUZK_GROUP_TABLE_TEMPLATES(PREFIX, G)                                                    \
  PREFIX template void make_group_table<G>(base::cuda::DeviceSpan<const StoredAffine<G>>,        \
                                           std::size_t, base::cuda::DeviceSpan<StoredAffine<G>>, \
                                           base::cuda::StreamRef);
