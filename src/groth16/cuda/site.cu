#include "base/cuda/buffer.hpp"
#include "base/cuda/error.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/cuda/site.hpp"
#include "groth16/row_offsets.hpp"

#include <array>

namespace cuzk::groth16::cuda {

namespace {

/// Left to the driver and to what others do on the device, unless the caller sets a budget.
constexpr std::size_t kMargin = std::size_t{1} << 30;

std::size_t usable_bytes(const base::cuda::Device& device, std::size_t wanted) {
  const std::size_t free_bytes = device.free_bytes();
  if (wanted == 0) return free_bytes > kMargin ? free_bytes - kMargin : 0;
  if (wanted > free_bytes) {
    base::fail<base::cuda::DeviceMemoryExhausted>(
        "CUDA device {} ({}): {} of memory were to be used, {} are free: free memory on the device "
        "or lower --vram-budget",
        device.info().ordinal, device.info().name, gibibytes(wanted), gibibytes(free_bytes));
  }
  return wanted;
}

std::size_t require_room(const base::cuda::Device& device, std::size_t budget, std::size_t bytes) {
  if (bytes > budget) {
    base::fail<base::cuda::DeviceMemoryExhausted>(
        "CUDA device {} ({}): the circuit alone takes {} of memory, {} may be used",
        device.info().ordinal, device.info().name, gibibytes(bytes), gibibytes(budget));
  }
  return bytes;
}

}  // namespace

Site::Site(const r1cs::Shape& shape, const KeyLayout& layout, const CudaOptions& cuda_options)
    : Site(Evaluated{layout.form == QuotientForm::kDerivative ? less_row_offsets(shape) : shape,
                     cuda_options.complete_witnesses ? &shape : nullptr},
           layout, cuda_options) {}

Site::Site(const Evaluated& evaluated, const KeyLayout& layout, const CudaOptions& cuda_options)
    : options(cuda_options),
      device(options.ordinal),
      budget(usable_bytes(device, options.vram_budget)),
      circuit_bytes(
          require_room(device, budget,
                       DeviceCircuit::device_bytes(evaluated.shape, layout, evaluated.completing))),
      circuit(evaluated.shape, layout, setup_stream.ref(), evaluated.completing) {}

LaneRequest Site::lane_request(const KeyLayout& layout, bool overlap) const {
  LaneRequest request(layout, circuit.wide_row_count(), circuit.witness_layout().bytes,
                      circuit.completes() ? circuit.upload_layout().bytes : 0);
  request.sm_count = device.info().sm_count;
  request.overlap = overlap;
  request.window_bits = options.window_bits;
  return request;
}

r1cs::Witness made_up_witness(const KeyLayout& layout, std::size_t fields) {
  std::array<curve::Fr, 256> values;
  curve::Fr value = curve::Fr::from_u64(3);
  for (curve::Fr& v : values) v = value = value.square() + curve::Fr::power_of_two(200);
  r1cs::Witness witness;
  witness.inputs.assign(layout.num_inputs, curve::Fr::from_u64(5));
  witness.inputs[0] = curve::Fr::one();
  witness.fields.resize(fields);
  base::parallel_ranges(witness.fields.size(), 4096, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) witness.fields[i] = values[i % values.size()];
  });
  constexpr std::uint64_t kEveryOther = 0x5555555555555555;
  witness.bits.assign(layout.variables.bit_mask().begin(), layout.variables.bit_mask().end());
  for (std::uint64_t& word : witness.bits) word &= kEveryOther;
  return witness;
}

}  // namespace cuzk::groth16::cuda
