#include "groth16/ops/cuda/completion_check.cuh"
#include "groth16/ops/cuda/gpu_check/inputs.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace cuzk::groth16::cuda::gpu_check {

namespace {

/// As many chains as a WindowPoSt of 32 GiB has, each a little longer than one of its hashes.
constexpr checks::CompletionCase kLarge = {2349, 10, 600, 9};

void time_large(const Context& context) {
  const checks::ChainCircuit circuit(kLarge);
  const r1cs::ImpliedFields implied(circuit.shape);
  const CompletionRows rows =
      lay_out_completion(circuit.shape, VariableMap(circuit.shape), implied);
  const base::cuda::DeviceBuffer<std::byte> memory(WitnessCompletion::bytes(rows), "steps");
  const WitnessCompletion completion(rows, memory.span(), context.stream);
  base::cuda::synchronize(context.stream);
  const std::size_t elements = circuit.shape.num_inputs() + circuit.shape.num_fields();
  const base::cuda::DeviceBuffer<Fr> given(implied.num_given(), "given fields"),
      out(elements, "elements");
  const base::cuda::DeviceBuffer<std::uint32_t> bits(2 * circuit.witness.bits.size() + 2, "bits");
  fill_random_scalars(given.data(), given.size(), 3, context.stream);
  fill_random_scalars(out.data(), circuit.shape.num_inputs(), 4, context.stream);
  base::cuda::fill_bytes(bits.data(), 0x55, bits.size() * sizeof(std::uint32_t), context.stream);
  Timing t;
  t.suite = "completion";
  t.name = kLarge.name();
  t.parameters = {{"terms", static_cast<double>(rows.refs.size()) * kLarge.copies}};
  t.amount = static_cast<double>(rows.steps.size()) * kLarge.copies;
  t.unit = "step";
  measure(context, t,
          [&] { completion.run(given.data(), bits.data(), out.data(), context.stream); });
}

}  // namespace

void run_completion_suite(const Context& context) {
  if (context.test) {
    std::vector<checks::CompletionCase> cases = checks::completion_cases();
    cases.push_back({static_cast<std::uint32_t>(40 * context.test_scale), 3, 50, 8});
    for (const checks::CompletionCase& c : cases)
      context.on_test({"completion", c.name(), checks::check_completion(c, context.stream)});
  }
  if (context.time) time_large(context);
}

}  // namespace cuzk::groth16::cuda::gpu_check
