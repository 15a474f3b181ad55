#pragma once

#include "base/cuda/device.hpp"
#include "base/cuda/stream.hpp"
#include "groth16/cuda/device_circuit.hpp"
#include "groth16/cuda/device_key.hpp"
#include "groth16/cuda/plan.hpp"
#include "groth16/cuda/prover.hpp"
#include "groth16/cuda/streamed_plan.hpp"

#include <cstddef>
#include <functional>
#include <memory>

/// What the provers on a device, resident and streamed, are made of.
namespace cuzk::groth16::cuda {

/// A device and a circuit on it. Constant after construction.
struct Site {
  /// Throws as the functions of prover.hpp say.
  Site(const r1cs::Shape& shape, const KeyLayout& layout, const CudaOptions& cuda_options);

  /// What a lane of this circuit asks for, without tables.
  LaneRequest lane_request(const KeyLayout& layout, bool overlap) const;

  CudaOptions options;
  base::cuda::Device device;
  base::cuda::Stream setup_stream;
  std::size_t budget;  // bytes that may be used
  std::size_t circuit_bytes;
  DeviceCircuit circuit;  // in the derivative form, less its row offsets

 private:
  struct Evaluated {
    r1cs::Shape shape;
    const r1cs::Shape* completing;
  };
  Site(const Evaluated& evaluated, const KeyLayout& layout, const CudaOptions& cuda_options);
};

/// Puts a key where `placement` says.
using MakeKey = std::function<DeviceKey(const KeyPlacement& placement, base::cuda::StreamRef)>;

/// A witness with `fields` field elements that has the shape of a circuit's, no more: proving it
/// once loads every kernel, so that the first proof is as fast as the others.
r1cs::Witness made_up_witness(const KeyLayout& layout, std::size_t fields);

/// With everything in device memory. Throws ResourceExhausted if that does not fit.
std::unique_ptr<CudaProver> make_resident_prover(std::unique_ptr<Site> site,
                                                 const KeyLayout& layout,
                                                 const Residency& residency,
                                                 const MakeKey& make_key);

/// With most of the key in pinned host memory.
std::unique_ptr<CudaProver> make_streamed_prover(std::unique_ptr<Site> site,
                                                 const KeyLayout& layout,
                                                 const StreamedResidency& residency,
                                                 const MakeKey& make_key);

}  // namespace cuzk::groth16::cuda
