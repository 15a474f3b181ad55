#pragma once

#include "base/cuda/stream_ref.hpp"
#include "groth16/setup.hpp"
#include "r1cs/shape.hpp"

namespace cuzk::groth16::cuda {

/// groth16::write_keys() with the points made and encoded on the current device: the same bytes.
/// Takes about 1 GiB of device and pinned memory, and what query_logarithms() says. Throws as
/// groth16::write_keys(); ResourceExhausted and DeviceError where the device fails.
void write_keys(const r1cs::Shape& shape, const Trapdoor& trapdoor, const SetupFiles& files,
                base::cuda::StreamRef stream);

}  // namespace cuzk::groth16::cuda
