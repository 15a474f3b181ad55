#pragma once

#include "base/cuda/buffer.hpp"
#include "base/parallel.hpp"
#include "groth16/cuda/device_circuit.hpp"
#include "groth16/ops/cuda/completion.cuh"
#include "groth16/ops/cuda/evaluate.cuh"
#include "groth16/ops/cuda/query_inputs.cuh"
#include "r1cs/implied_fields.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

/// DeviceCircuit's definitions: in a header so that the CUDA compiler and, for tests of emulated
/// kernels, the C++ compiler take the same text. Only one translation unit of a program includes
/// it: device_circuit.cu, or a unit test.
namespace cuzk::groth16::cuda {

namespace device_circuit_detail {

using curve::device::Fr;

static_assert(sizeof(curve::Fr) == sizeof(Fr));

/// A query's bits and elements.
struct QuerySelections {
  Selection bits, elements;

  QuerySelections(const QueryLayout& query, const KeyLayout& layout)
      : bits(query.bit_mask), elements(element_mask(query, layout)) {}

 private:
  /// Of inputs and field elements, counted through.
  static std::vector<std::uint64_t> element_mask(const QueryLayout& query,
                                                 const KeyLayout& layout) {
    const std::size_t count = std::size_t{layout.num_inputs} + layout.variables.num_fields();
    std::vector<std::uint64_t> mask((count + 63) / 64);
    const auto set = [&](std::size_t i) { mask[i / 64] |= std::uint64_t{1} << i % 64; };
    for (const std::uint32_t input : query.inputs) set(input);
    for (const std::uint32_t field : query.fields) set(std::size_t{layout.num_inputs} + field);
    return mask;
  }
};
struct QueryViews {
  SelectionView bits, elements;

  static QueryViews carve(const QuerySelections& query, base::cuda::Carver& carver) {
    return {SelectionView::carve(query.bits, carver), SelectionView::carve(query.elements, carver)};
  }
  void upload(const QuerySelections& query, base::cuda::StreamRef stream) const {
    bits.upload(query.bits, stream);
    elements.upload(query.elements, stream);
  }
};

/// How witnesses are completed.
struct Completion {
  r1cs::Shape shape;
  r1cs::ImpliedFields implied;

  explicit Completion(const r1cs::Shape& completing) : shape(completing), implied(completing) {}
};

/// All that is uploaded, on the host.
struct HostCircuit {
  CircuitRows rows;
  std::array<QuerySelections, 3> queries;  // in the order of QueryName
  std::optional<CompletionRows> completion;

  HostCircuit(const r1cs::Shape& shape, const KeyLayout& layout, const Completion* completing)
      : rows(lay_out_rows(shape, layout.variables, layout.form == QuotientForm::kTextbook)),
        queries{QuerySelections(layout.l, layout), QuerySelections(layout.a, layout),
                QuerySelections(layout.b, layout)} {
    if (completing != nullptr)
      completion = lay_out_completion(completing->shape, layout.variables, completing->implied);
  }

  struct Memory {
    base::cuda::DeviceSpan<std::byte> rows, completion;
  };
  /// The rows' memory comes first, then the completion's, then the queries'.
  Memory carve(base::cuda::Carver& carver, std::array<QueryViews, 3>& views) const {
    Memory memory;
    memory.rows = carver.take<std::byte>(RowEvaluator::bytes(rows));
    if (completion)
      memory.completion = carver.take<std::byte>(WitnessCompletion::bytes(*completion));
    for (std::size_t q = 0; q < views.size(); ++q) views[q] = QueryViews::carve(queries[q], carver);
    return memory;
  }
  std::size_t bytes() const {
    base::cuda::Carver measure;
    std::array<QueryViews, 3> views;
    carve(measure, views);
    return measure.bytes_used();
  }
};

inline void copy_parallel(std::byte* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kGrain = std::size_t{1} << 20;
  const auto* source = static_cast<const std::byte*>(from);
  base::parallel_ranges(bytes, kGrain, [&](std::size_t first, std::size_t last) {
    std::memcpy(to + first, source + first, last - first);
  });
}

}  // namespace device_circuit_detail

struct DeviceCircuit::Parts {
  std::uint32_t num_inputs, num_fields, num_aux;
  unsigned domain_log2;
  std::optional<device_circuit_detail::Completion> completion;
  WitnessLayout upload, witness;
  base::cuda::DeviceBuffer<std::byte> memory;
  std::optional<RowEvaluator> rows;
  std::optional<WitnessCompletion> completer;
  std::array<device_circuit_detail::QueryViews, 3> queries;

  Parts(const KeyLayout& layout, const r1cs::Shape* completing)
      : num_inputs(layout.num_inputs),
        num_fields(layout.variables.num_fields()),
        num_aux(layout.variables.num_aux()),
        domain_log2(layout.domain_log2) {
    if (completing != nullptr) completion.emplace(*completing);
    upload = layout_for(uploaded_fields());
    witness = layout_for(num_fields);
  }

  std::size_t uploaded_fields() const {
    return completion ? completion->implied.num_given() : num_fields;
  }
  WitnessLayout layout_for(std::size_t fields) const {
    using device_circuit_detail::Fr;
    WitnessLayout layout{};
    layout.fields_offset = sizeof(Fr) * num_inputs;
    layout.bits_offset = (layout.fields_offset + sizeof(Fr) * fields + 255) / 256 * 256;
    layout.bytes = layout.bits_offset + bit_bytes();
    return layout;
  }
  /// One more word for the bit that is one.
  std::size_t bit_bytes() const { return one_bit_index(num_aux) / 8 + sizeof(std::uint64_t); }
  std::size_t n() const { return std::size_t{1} << domain_log2; }
  std::size_t bit_words() const { return one_bit_index(num_aux) / 64; }  // of 64 bits
  const device_circuit_detail::QueryViews& query(QueryName name) const {
    return queries[static_cast<std::size_t>(name)];
  }
  WitnessView view(base::cuda::DeviceSpan<const std::byte> block) const {
    base::require(block.size == witness.bytes, "witness on the device: {} bytes instead of {}",
                  block.size, witness.bytes);
    return {reinterpret_cast<const device_circuit_detail::Fr*>(block.data),
            reinterpret_cast<const std::uint32_t*>(block.data + witness.bits_offset)};
  }
};

DeviceCircuit::DeviceCircuit(const r1cs::Shape& shape, const KeyLayout& layout,
                             base::cuda::StreamRef stream, const r1cs::Shape* completing)
    : parts_(std::make_unique<Parts>(layout, completing)) {
  base::require(layout.num_rows == shape.num_rows() && layout.num_inputs == shape.num_inputs() &&
                    layout.variables.num_aux() == shape.num_aux(),
                "circuit of {} rows, {} inputs, {} aux variables with the key layout of another "
                "({}, {}, {})",
                shape.num_rows(), shape.num_inputs(), shape.num_aux(), layout.num_rows,
                layout.num_inputs, layout.variables.num_aux());
  const device_circuit_detail::HostCircuit host(
      shape, layout, parts_->completion ? &*parts_->completion : nullptr);
  parts_->memory = base::cuda::DeviceBuffer<std::byte>(host.bytes(), "rows of a circuit");
  base::cuda::Carver carver(parts_->memory.span());
  const auto memory = host.carve(carver, parts_->queries);
  parts_->rows.emplace(host.rows, memory.rows, stream);
  if (host.completion) parts_->completer.emplace(*host.completion, memory.completion, stream);
  for (std::size_t q = 0; q < parts_->queries.size(); ++q)
    parts_->queries[q].upload(host.queries[q], stream);
  base::cuda::synchronize(stream);
}
DeviceCircuit::~DeviceCircuit() = default;
DeviceCircuit::DeviceCircuit(DeviceCircuit&&) noexcept = default;
DeviceCircuit& DeviceCircuit::operator=(DeviceCircuit&&) noexcept = default;

std::size_t DeviceCircuit::device_bytes(const r1cs::Shape& shape, const KeyLayout& layout,
                                        const r1cs::Shape* completing) {
  using namespace device_circuit_detail;
  if (completing == nullptr) return HostCircuit(shape, layout, nullptr).bytes();
  const Completion completion(*completing);
  return HostCircuit(shape, layout, &completion).bytes();
}

bool DeviceCircuit::completes() const { return parts_->completion.has_value(); }
const DeviceCircuit::WitnessLayout& DeviceCircuit::upload_layout() const { return parts_->upload; }
const DeviceCircuit::WitnessLayout& DeviceCircuit::witness_layout() const {
  return parts_->witness;
}
std::size_t DeviceCircuit::uploaded_fields() const { return parts_->uploaded_fields(); }

void DeviceCircuit::stage(const r1cs::Witness& witness, std::span<std::byte> staging) const {
  const Parts& parts = *parts_;
  if (parts.completion && witness.fields.size() == parts.num_fields &&
      parts.uploaded_fields() != parts.num_fields) {
    stage(r1cs::leave_out_implied(parts.completion->shape, parts.completion->implied, witness),
          staging);
    return;
  }
  base::require(witness.inputs.size() == parts.num_inputs &&
                    witness.fields.size() == parts.uploaded_fields() &&
                    witness.bits.size() == parts.bit_words(),
                "witness of {} inputs, {} field elements and {} words of bits: the circuit has {}, "
                "{} and {}",
                witness.inputs.size(), witness.fields.size(), witness.bits.size(), parts.num_inputs,
                parts.uploaded_fields(), parts.bit_words());
  base::require(witness.inputs[0].is_one(), "witness: input 0 must be one");
  base::require(staging.size() == parts.upload.bytes, "witness of {} bytes: given room for {}",
                parts.upload.bytes, staging.size());
  std::byte* const to = staging.data();
  std::memcpy(to, witness.inputs.data(), parts.upload.fields_offset);
  device_circuit_detail::copy_parallel(to + parts.upload.fields_offset, witness.fields.data(),
                                       sizeof(curve::Fr) * witness.fields.size());
  const std::size_t bit_bytes = sizeof(std::uint64_t) * witness.bits.size();
  device_circuit_detail::copy_parallel(to + parts.upload.bits_offset, witness.bits.data(),
                                       bit_bytes);
  const std::uint64_t one = 1;
  std::memcpy(to + parts.upload.bits_offset + bit_bytes, &one, sizeof(one));
}

void DeviceCircuit::unpack(base::cuda::DeviceSpan<std::byte> uploaded,
                           base::cuda::DeviceSpan<std::byte> witness,
                           base::cuda::StreamRef stream) const {
  using device_circuit_detail::Fr;
  const Parts& parts = *parts_;
  const WitnessView view = parts.view(witness);
  Fr* const elements = reinterpret_cast<Fr*>(witness.data);
  if (!completes()) {
    base::require(uploaded.data == witness.data, "a whole witness is unpacked in place");
    montgomery_to_plain({elements, std::size_t{parts.num_inputs} + parts.num_fields}, stream);
    return;
  }
  base::require(uploaded.size == parts.upload.bytes, "uploaded witness: {} bytes instead of {}",
                uploaded.size, parts.upload.bytes);
  base::cuda::copy_bytes(elements, uploaded.data, parts.upload.fields_offset, stream);
  montgomery_to_plain({elements, parts.num_inputs}, stream);
  base::cuda::copy_bytes(witness.data + parts.witness.bits_offset,
                         uploaded.data + parts.upload.bits_offset, parts.bit_bytes(), stream);
  parts.completer->run(reinterpret_cast<const Fr*>(uploaded.data + parts.upload.fields_offset),
                       view.bits, elements, stream);
}

void DeviceCircuit::evaluate(unsigned matrix, base::cuda::DeviceSpan<const std::byte> witness,
                             base::cuda::DeviceSpan<curve::device::Fr> out,
                             base::cuda::StreamRef stream) const {
  base::require(out.size == parts_->n(), "evaluation over a domain of {}: given room for {}",
                parts_->n(), out.size);
  parts_->rows->run(matrix, parts_->view(witness), out, stream);
}

std::size_t DeviceCircuit::wide_row_count() const { return parts_->rows->wide_row_count(); }

void DeviceCircuit::evaluate_codes(base::cuda::DeviceSpan<const std::byte> witness,
                                   base::cuda::DeviceSpan<curve::device::Fr> a,
                                   base::cuda::DeviceSpan<curve::device::Fr> b,
                                   base::cuda::DeviceSpan<std::int8_t> code_a,
                                   base::cuda::DeviceSpan<std::int8_t> code_b,
                                   base::cuda::DeviceSpan<WideRow> wide,
                                   base::cuda::StreamRef stream) const {
  base::require(a.size == parts_->n(), "evaluation over a domain of {}: given room for {}",
                parts_->n(), a.size);
  parts_->rows->run_codes(parts_->view(witness), a, b, code_a, code_b, wide, stream);
}

std::size_t DeviceCircuit::query_bit_words(QueryName query) const {
  return parts_->query(query).bits.words();
}
void DeviceCircuit::query_bits(QueryName query, base::cuda::DeviceSpan<const std::byte> witness,
                               base::cuda::DeviceSpan<std::uint32_t> out,
                               base::cuda::StreamRef stream) const {
  select_bits(parts_->query(query).bits, {parts_->view(witness).bits, 2 * parts_->bit_words()}, out,
              stream);
}
std::size_t DeviceCircuit::query_scalar_count(QueryName query) const {
  return parts_->query(query).elements.count;
}
void DeviceCircuit::query_scalars(QueryName query, base::cuda::DeviceSpan<const std::byte> witness,
                                  base::cuda::DeviceSpan<curve::device::Fr> out,
                                  base::cuda::StreamRef stream) const {
  select_elements(parts_->query(query).elements, parts_->view(witness).elements, out, stream);
}

}  // namespace cuzk::groth16::cuda
