#include "groth16/ops/cuda/evaluate_check.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"
#include "groth16/ops/cuda/gpu_check/synthetic_rows.hpp"

#include <algorithm>
#include <string>

// Small circuits are compared with the definition in full; of the large one, tens of thousands of
// rows of every kind, and that every row was written.

namespace cuzk::groth16::cuda::gpu_check {
namespace {

using curve::device::Fr;
using curve::device::testing::mix;

/// No element has such a limb.
constexpr std::uint32_t kUnwritten = 0xffffffff;

__global__ void __launch_bounds__(256)
    count_unwritten(const Fr* rows, std::uint32_t n, std::uint32_t* count) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i < n && rows[i].limbs[7] == kUnwritten) atomicAdd(count, 1u);
}
__global__ void __launch_bounds__(256)
    gather(const Fr* rows, const std::uint32_t* indices, std::uint32_t count, Fr* out) {
  const std::uint32_t k = base::cuda::grid_thread();
  if (k < count) out[k] = rows[indices[k]];
}

class LargeCircuit {
 public:
  LargeCircuit(std::uint32_t rows, std::uint32_t copies, base::cuda::StreamRef stream)
      : stream_(stream),
        circuit_(rows, copies),
        rows_(lay_out_rows(circuit_.shape(), VariableMap(circuit_.shape()), true)),
        memory_(RowEvaluator::bytes(rows_), "rows of a circuit"),
        evaluator_(rows_, memory_.span(), stream),
        witness_(circuit_.witness(), stream) {
    for (std::uint32_t k = 0; k < 30000; ++k) samples_.push_back(sample(k));
  }

  const RowEvaluator& evaluator() const { return evaluator_; }
  const CircuitRows& rows() const { return rows_; }
  WitnessView witness() const { return witness_.view(); }
  std::size_t n() const { return std::size_t{1} << circuit_.shape().domain_log2(); }
  std::size_t num_rows() const { return circuit_.shape().num_rows(); }
  std::size_t device_bytes() const { return memory_.size(); }

  std::string check(unsigned m, const base::cuda::DeviceBuffer<Fr>& out) const {
    base::cuda::fill_bytes(out.data(), 0xff, out.size() * sizeof(Fr), stream_);
    evaluator_.run(m, witness(), out.span(), stream_);
    const base::cuda::DeviceBuffer<std::uint32_t> count(1, "count");
    base::cuda::fill_bytes(count.data(), 0, sizeof(std::uint32_t), stream_);
    const auto n = static_cast<std::uint32_t>(out.size());
    base::cuda::launch(count_unwritten, {base::cuda::blocks_for(n, 256), 256, 0}, stream_,
                       out.data(), n, count.data());
    if (const std::uint32_t left = count.download(stream_)[0]; left != 0)
      return std::to_string(left) + " rows were not written";
    const auto indices = checks::uploaded(samples_, "samples", stream_);
    const base::cuda::DeviceBuffer<Fr> gathered(samples_.size(), "samples");
    const auto sample_count = static_cast<std::uint32_t>(samples_.size());
    base::cuda::launch(gather, {base::cuda::blocks_for(sample_count, 256), 256, 0}, stream_,
                       out.data(), indices.data(), sample_count, gathered.data());
    const std::vector<Fr> got = gathered.download(stream_);
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (!equal(got[k], checks::plain(circuit_.value(m, samples_[k]))))
        return "row " + std::to_string(samples_[k]) + " is wrong";
    }
    return {};
  }

 private:
  /// A row; every third one over field elements, every third one of many bits.
  std::uint32_t sample(std::uint32_t k) const {
    const r1cs::Block& block = circuit_.shape().blocks()[0];
    const auto copy = static_cast<std::uint32_t>(mix(k) % block.copies);
    auto row = static_cast<std::uint32_t>(mix(k + 1000000) % block.constraints);
    const auto wanted = [&] {
      return k % 3 == 0 ? true : k % 3 == 1 ? circuit_.is_field(row) : circuit_.is_packing(row);
    };
    while (!wanted()) row = row + 1 < block.constraints ? row + 1 : 0;
    return copy * block.constraints + row;
  }

  base::cuda::StreamRef stream_;
  SyntheticRows circuit_;
  CircuitRows rows_;
  base::cuda::DeviceBuffer<std::byte> memory_;
  RowEvaluator evaluator_;
  checks::UploadedWitness witness_;
  std::vector<std::uint32_t> samples_;
};

enum class Part { kShort, kElement, kLong };

/// The same rows with those of one kind only.
CircuitRows part_of(CircuitRows rows, Part part) {
  for (MatrixRows& matrix : rows.matrices) {
    for (MatrixRows::Block& block : matrix.blocks) {
      if (part != Part::kShort) block.short_slices.count = 0;
      if (part != Part::kElement) block.element_slices.count = 0;
      if (part != Part::kLong) block.long_rows.count = 0;
    }
  }
  return rows;
}

Timing timing_of(const std::string& name, const LargeCircuit& circuit, std::string failure) {
  Timing t;
  t.suite = "evaluate";
  t.name = name;
  t.parameters = {{"log_n", std::bit_width(circuit.n()) - 1},
                  {"device_mb", static_cast<double>(circuit.device_bytes()) * 1e-6}};
  t.amount = static_cast<double>(circuit.num_rows());
  t.unit = "row";
  t.failure = std::move(failure);
  return t;
}

void time_parts(const Context& context, const LargeCircuit& circuit,
                const base::cuda::DeviceBuffer<Fr>& out) {
  for (const auto& [part, name] :
       {std::pair(Part::kShort, "short"), {Part::kElement, "element"}, {Part::kLong, "long"}}) {
    const CircuitRows rows = part_of(circuit.rows(), part);
    const base::cuda::DeviceBuffer<std::byte> memory(RowEvaluator::bytes(rows), "rows");
    const RowEvaluator evaluator(rows, memory.span(), context.stream);
    for (unsigned m = 0; m < 2; ++m) {
      measure(context,
              timing_of(std::string(1, "AB"[m]) + " w, " + name + " rows only", circuit, {}),
              [&] { evaluator.run(m, circuit.witness(), out.span(), context.stream); });
    }
  }
}

void time_large(const Context& context) {
  const std::size_t room = std::size_t{1} << context.max_log;
  const auto rows = static_cast<std::uint32_t>(std::min<std::size_t>(
      SyntheticRows::kPorepRows, (room - 1000) / SyntheticRows::kPorepCopies));
  const LargeCircuit circuit(rows, SyntheticRows::kPorepCopies, context.stream);
  const std::size_t n = circuit.n();
  const base::cuda::DeviceBuffer<Fr> a(n, "A w"), b(n, "B w");
  for (unsigned m = 0; m < 3; ++m) {
    measure(context, timing_of(std::string(1, "ABC"[m]) + " w", circuit, circuit.check(m, a)),
            [&] { circuit.evaluator().run(m, circuit.witness(), a.span(), context.stream); });
  }
  measure(context, timing_of("A w and B w", circuit, {}), [&] {
    circuit.evaluator().run(0, circuit.witness(), a.span(), context.stream);
    circuit.evaluator().run(1, circuit.witness(), b.span(), context.stream);
  });
  const base::cuda::DeviceBuffer<std::int8_t> code_a(n, "codes"), code_b(n, "codes");
  const base::cuda::DeviceBuffer<WideRow> wide(circuit.evaluator().wide_row_count(), "wide rows");
  measure(context, timing_of("A w and B w as codes", circuit, {}), [&] {
    circuit.evaluator().run_codes(circuit.witness(), a.span(), b.span(), code_a.span(),
                                  code_b.span(), wide.span(), context.stream);
  });
  time_parts(context, circuit, a);
}

}  // namespace

void run_evaluate_suite(const Context& context) {
  if (context.test) {
    std::vector<checks::EvaluateCase> cases = checks::evaluate_cases();
    cases.push_back({static_cast<std::uint32_t>(200 * context.test_scale), 7, 11});
    cases.push_back({100, static_cast<std::uint32_t>(70 * context.test_scale), 12});
    for (const checks::EvaluateCase& c : cases) {
      context.on_test({"evaluate",
                       std::to_string(c.rows) + " rows, " + std::to_string(c.copies) + " copies",
                       checks::check_evaluate(c, context.stream)});
    }
  }
  if (context.time && context.max_log >= 20) time_large(context);
}

}  // namespace cuzk::groth16::cuda::gpu_check
