#include "groth16/ops/cuda/gpu_check/inputs.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"
#include "groth16/ops/cuda/query_inputs_check.cuh"

#include <string>

namespace cuzk::groth16::cuda::gpu_check {
namespace {

/// A selection in memory of its own.
struct DeviceSelection {
  DeviceSelection(const checks::SelectionCase& c, base::cuda::StreamRef stream)
      : selection(checks::selection_mask(c)) {
    base::cuda::Carver measure;
    SelectionView::carve(selection, measure);
    memory = base::cuda::DeviceBuffer<std::byte>(measure.bytes_used(), "selection");
    base::cuda::Carver carver(memory.span());
    view = SelectionView::carve(selection, carver);
    view.upload(selection, stream);
    base::cuda::synchronize(stream);
  }

  Selection selection;
  base::cuda::DeviceBuffer<std::byte> memory;
  SelectionView view;
};

Timing timing_of(const std::string& name, const checks::SelectionCase& c) {
  Timing t;
  t.suite = "query_inputs";
  t.name = name;
  t.parameters = {{"size", static_cast<double>(c.size)}, {"selected", c.of_1024 / 1024.0}};
  t.amount = static_cast<double>(c.size);
  t.unit = "entry";
  return t;
}

/// Dense as the query a, sparse as b, and as the bits of a circuit of field elements.
void time_bits(const Context& context) {
  const std::size_t n = std::size_t{1} << context.max_log;
  const base::cuda::DeviceBuffer<std::uint32_t> bits(n / 32, "bits");
  base::cuda::fill_bytes(bits.data(), 0x5a, n / 8, context.stream);
  for (const checks::SelectionCase& c :
       {checks::SelectionCase{n, 1010, 500}, {n, 256}, {n, 256, 40}, {n, 10, 100}}) {
    const DeviceSelection selection(c, context.stream);
    const base::cuda::DeviceBuffer<std::uint32_t> out(selection.view.words(), "selected bits");
    measure(context, timing_of("select_bits, runs of " + std::to_string(c.run), c),
            [&] { select_bits(selection.view, bits.const_span(), out.span(), context.stream); });
  }
}

void time_elements(const Context& context) {
  const std::size_t n = std::size_t{1} << (context.max_log > 3 ? context.max_log - 3 : 0);
  const base::cuda::DeviceBuffer<Fr> elements(n, "elements"), out(n, "selected elements");
  fill_random_scalars(elements.data(), n, 5, context.stream);
  for (const checks::SelectionCase& c : {checks::SelectionCase{n, 1010, 500}, {n, 256}}) {
    const DeviceSelection selection(c, context.stream);
    measure(context, timing_of("select_elements, runs of " + std::to_string(c.run), c), [&] {
      select_elements(selection.view, elements.data(), out.span().first(selection.view.count),
                      context.stream);
    });
  }
  measure(context, timing_of("montgomery_to_plain", {n, 1024}),
          [&] { montgomery_to_plain(elements.span(), context.stream); });
}

}  // namespace

void run_query_inputs_suite(const Context& context) {
  if (context.test) {
    for (const checks::SelectionCase& c : checks::selection_cases(100 * context.test_scale)) {
      context.on_test({"query_inputs",
                       "selection of " + std::to_string(c.of_1024) + "/1024 of " +
                           std::to_string(c.size) + ", runs of " + std::to_string(c.run),
                       checks::check_selection(c, context.stream)});
    }
    for (const std::size_t count : {std::size_t{1}, std::size_t{257}, 5000 * context.test_scale}) {
      context.on_test({"query_inputs", "montgomery_to_plain of " + std::to_string(count),
                       checks::check_montgomery_to_plain(count, context.stream)});
    }
  }
  if (!context.time) return;
  time_bits(context);
  time_elements(context);
}

}  // namespace cuzk::groth16::cuda::gpu_check
