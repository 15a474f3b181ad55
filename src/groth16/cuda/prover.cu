#include "base/cuda/buffer.hpp"
#include "groth16/cuda/prover.hpp"
#include "groth16/cuda/site.hpp"

#include <optional>
#include <utility>

namespace cuzk::groth16::cuda {

namespace {

std::unique_ptr<CudaProver> make_prover(const r1cs::Shape& shape, const KeyLayout& layout,
                                        const CudaOptions& options, const MakeKey& make_key) {
  auto site = std::make_unique<Site>(shape, layout, options);
  const std::optional<Residency> residency =
      choose_residency(layout, site->lane_request(layout, options.overlap), site->circuit_bytes,
                       site->budget, options.lanes, options.group_tables);
  if (residency) return make_resident_prover(std::move(site), layout, *residency, make_key);
  const StreamedResidency streamed =
      choose_streaming(layout, site->lane_request(layout, false), site->circuit_bytes, site->budget,
                       options.partitions_a_pass, options.prestage);
  return make_streamed_prover(std::move(site), layout, streamed, make_key);
}

}  // namespace

std::unique_ptr<CudaProver> load_cuda_prover(const r1cs::Shape& shape, const KeyLayout& layout,
                                             const KeyFile& file, const DerivedKeyFile* derived,
                                             const CudaOptions& options) {
  return make_prover(shape, layout, options,
                     [&](const KeyPlacement& placement, base::cuda::StreamRef stream) {
                       return DeviceKey::load(file, derived, layout, placement, stream);
                     });
}

std::unique_ptr<CudaProver> make_cuda_prover(const CircuitKey& circuit,
                                             const CudaOptions& options) {
  return make_prover(circuit.shape, circuit.layout, options,
                     [&](const KeyPlacement& placement, base::cuda::StreamRef stream) {
                       return DeviceKey::upload(circuit.key, circuit.layout, placement, stream);
                     });
}

std::unique_ptr<CudaProver> make_development_cuda_prover(const r1cs::Shape& shape,
                                                         const KeyLayout& layout,
                                                         const Trapdoor& trapdoor,
                                                         const CudaOptions& options) {
  return make_prover(shape, layout, options,
                     [&](const KeyPlacement& placement, base::cuda::StreamRef stream) {
                       return DeviceKey::make(shape, layout, trapdoor, placement, stream);
                     });
}

}  // namespace cuzk::groth16::cuda
