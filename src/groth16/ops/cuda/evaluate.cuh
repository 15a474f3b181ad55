#pragma once

#include "base/cuda/launch.hpp"
#include "base/cuda/span.hpp"
#include "base/error.hpp"
#include "groth16/ops/cuda/evaluate_kernels.cuh"

#include <cstdint>
#include <vector>

/// A·w, B·w and C·w on the device, from the rows laid out by circuit_rows.hpp.
namespace cuzk::groth16::cuda {

namespace evaluate_detail {

template <class T>
base::cuda::DeviceSpan<T> take(base::cuda::Carver& carver, const std::vector<T>& values) {
  return carver.take<T>(values.size());
}
template <class T>
void upload(const base::cuda::DeviceSpan<T>& to, const std::vector<T>& values,
            base::cuda::StreamRef stream) {
  base::cuda::copy_bytes(to.data, values.data(), to.size_bytes(), stream);
}

}  // namespace evaluate_detail

/// A circuit's rows in device memory, and the evaluation of a witness.
class RowEvaluator {
 public:
  static std::size_t bytes(const CircuitRows& rows) {
    base::cuda::Carver measure;
    carve(rows, measure);
    return measure.bytes_used();
  }
  /// Enqueues the copy of `rows` to `memory`, bytes() of it, which must outlive this object; `rows`
  /// must stay until the stream has come so far.
  RowEvaluator(const CircuitRows& rows, base::cuda::DeviceSpan<std::byte> memory,
               base::cuda::StreamRef stream)
      : blocks_(rows.blocks),
        num_inputs_(rows.num_inputs),
        num_constraints_(rows.num_constraints),
        wide_row_count_(rows.wide_row_count()) {
    base::cuda::Carver carver(memory);
    arrays_ = carve(rows, carver);
    base::require(carver.fits(), "rows of a circuit need {} bytes of device memory, given {}",
                  carver.bytes_used(), memory.size);
    evaluate_detail::upload(arrays_.palette, rows.palette, stream);
    evaluate_detail::upload(arrays_.port_refs, rows.port_refs, stream);
    evaluate_detail::upload(arrays_.wide_rows, rows.wide_rows, stream);
    for (unsigned m = 0; m < 3; ++m) {
      ranges_[m] = rows.matrices[m].blocks;
      upload(arrays_.matrices[m], rows.matrices[m], stream);
    }
  }

  std::uint64_t num_rows() const { return std::uint64_t{num_constraints_} + num_inputs_; }
  std::size_t wide_row_count() const { return wide_row_count_; }
  /// Whether matrix m was laid out.
  bool has(unsigned m) const { return m < 3 && (blocks_.empty() || !ranges_[m].empty()); }

  /// Rows of A·w, B·w or C·w (m = 0, 1, 2): the constraints, then the consistency rows (input i in
  /// A, zero in B and C), then zeros up to out.size. Canonical plain residues.
  ///
  /// The output's bytes bound it: 4.3 GB a matrix at 2^27 rows.
  void run(unsigned m, const WitnessView& witness, base::cuda::DeviceSpan<curve::device::Fr> out,
           base::cuda::StreamRef stream) const {
    require_room(m, out.size);
    evaluate_blocks(m, witness, {out.data, nullptr}, stream);
    finish(m, witness, out, stream);
  }

  /// A·w and B·w as derivative_scalars() takes them: see DeviceCircuit::evaluate_codes().
  void run_codes(const WitnessView& witness, base::cuda::DeviceSpan<curve::device::Fr> a,
                 base::cuda::DeviceSpan<curve::device::Fr> b,
                 base::cuda::DeviceSpan<std::int8_t> code_a,
                 base::cuda::DeviceSpan<std::int8_t> code_b, base::cuda::DeviceSpan<WideRow> wide,
                 base::cuda::StreamRef stream) const {
    base::require(b.size == a.size && code_a.size == a.size && code_b.size == a.size &&
                      wide.size == wide_row_count_,
                  "codes of a circuit: given {} and {} elements, {} and {} codes, {} wide rows "
                  "instead of {}",
                  a.size, b.size, code_a.size, code_b.size, wide.size, wide_row_count_);
    const RowOutputs outputs[2] = {{a.data, code_a.data}, {b.data, code_b.data}};
    for (unsigned m = 0; m < 2; ++m) {
      require_room(m, a.size);
      evaluate_blocks(m, witness, outputs[m], stream);
      const base::cuda::DeviceSpan<curve::device::Fr> values = m == 0 ? a : b;
      finish(m, witness, values.first(num_rows()), stream);
      base::cuda::fill_bytes(outputs[m].codes + num_constraints_, kWideCode, num_inputs_, stream);
      base::cuda::fill_bytes(outputs[m].codes + num_rows(), 0, a.size - num_rows(), stream);
    }
    WideRow* next = wide.data;
    for (const CircuitRows::Block& block : blocks_) {
      collect(view(block), arrays_.wide_rows.data + block.wide_rows.first, block.wide_rows.count,
              outputs, next, stream);
      next += std::size_t{block.copies} * block.wide_rows.count;
    }
    evaluate_detail::BlockView consistency{};
    consistency.copies = 1;
    consistency.first_row = num_constraints_;
    collect(consistency, nullptr, num_inputs_, outputs, next, stream);
  }

 private:
  template <class T>
  using Span = base::cuda::DeviceSpan<T>;
  struct MatrixArrays {
    Span<ShortSlice> short_slices;
    Span<std::uint32_t> short_terms;
    Span<ElementSlice> element_slices;
    Span<std::uint32_t> element_rows, element_refs;
    Span<std::uint16_t> element_coefficients;
    Span<LongRow> long_rows;
    Span<std::uint32_t> long_refs;
    Span<std::uint16_t> long_coefficients;
  };
  struct Arrays {
    Span<curve::device::FrFactor> palette;
    Span<std::uint32_t> port_refs, wide_rows;
    MatrixArrays matrices[3];
  };

  static Arrays carve(const CircuitRows& rows, base::cuda::Carver& carver) {
    using evaluate_detail::take;
    Arrays arrays;
    arrays.palette = take(carver, rows.palette);
    arrays.port_refs = take(carver, rows.port_refs);
    arrays.wide_rows = take(carver, rows.wide_rows);
    for (unsigned m = 0; m < 3; ++m) {
      const MatrixRows& from = rows.matrices[m];
      arrays.matrices[m] = {
          take(carver, from.short_slices),     take(carver, from.short_terms),
          take(carver, from.element_slices),   take(carver, from.element_rows),
          take(carver, from.element_refs),     take(carver, from.element_coefficients),
          take(carver, from.long_rows),        take(carver, from.long_refs),
          take(carver, from.long_coefficients)};
    }
    return arrays;
  }
  static void upload(const MatrixArrays& to, const MatrixRows& from, base::cuda::StreamRef stream) {
    using evaluate_detail::upload;
    upload(to.short_slices, from.short_slices, stream);
    upload(to.short_terms, from.short_terms, stream);
    upload(to.element_slices, from.element_slices, stream);
    upload(to.element_rows, from.element_rows, stream);
    upload(to.element_refs, from.element_refs, stream);
    upload(to.element_coefficients, from.element_coefficients, stream);
    upload(to.long_rows, from.long_rows, stream);
    upload(to.long_refs, from.long_refs, stream);
    upload(to.long_coefficients, from.long_coefficients, stream);
  }

  void require_room(unsigned m, std::size_t size) const {
    base::require(has(m), "evaluation of matrix {}: the circuit was prepared without it", m);
    base::require(size >= num_rows(), "evaluation of {} rows: given room for {}", num_rows(), size);
  }
  evaluate_detail::BlockView view(const CircuitRows::Block& block) const {
    return {block.copies, block.rows,  block.bits,      block.inputs,
            block.fields, block.ports, block.first_row, arrays_.port_refs.data + block.first_port};
  }

  void evaluate_blocks(unsigned m, const WitnessView& witness, const RowOutputs& out,
                       base::cuda::StreamRef stream) const {
    using namespace evaluate_detail;
    const MatrixArrays& arrays = arrays_.matrices[m];
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const BlockView block = view(blocks_[i]);
      const MatrixRows::Block& ranges = ranges_[m][i];
      launch_short_rows(block, arrays, ranges.short_slices, witness, out, stream);
      const IndexRange& slices = ranges.element_slices;
      base::cuda::launch(element_rows, warps_shape(std::size_t{slices.count} * block.copies),
                         stream, block, arrays.element_slices.data + slices.first, slices.count,
                         arrays.element_rows.data + std::size_t{slices.first} * kSliceRows,
                         TermSource{arrays.element_refs.data, arrays.element_coefficients.data,
                                    arrays_.palette.data, witness},
                         out);
      const IndexRange& rows = ranges.long_rows;
      base::cuda::launch(long_rows, warps_shape(std::size_t{rows.count} * block.copies), stream,
                         block, arrays.long_rows.data + rows.first, rows.count,
                         TermSource{arrays.long_refs.data, arrays.long_coefficients.data,
                                    arrays_.palette.data, witness},
                         out);
    }
  }
  static base::cuda::LaunchShape warps_shape(std::size_t warps) {
    return {base::cuda::blocks_for(warps, evaluate_detail::kWarps), evaluate_detail::kThreads, 0};
  }
  static void launch_short_rows(const evaluate_detail::BlockView& block, const MatrixArrays& arrays,
                                const IndexRange& slices, const WitnessView& witness,
                                const RowOutputs& out, base::cuda::StreamRef stream) {
    using namespace evaluate_detail;
    const std::uint32_t passes = (block.copies + kCopiesAPass - 1) / kCopiesAPass;
    const std::uint32_t copies_a_pass = (block.copies + passes - 1) / passes;
    const base::cuda::LaunchShape shape{passes * base::cuda::blocks_for(slices.count, kWarps),
                                        kThreads, 0};
    base::cuda::launch(out.codes != nullptr ? short_rows<true> : short_rows<false>, shape, stream,
                       block, arrays.short_slices.data + slices.first, slices.count,
                       arrays.short_terms.data, copies_a_pass, witness.bits, out);
  }

  /// The consistency rows and the zeros behind them.
  void finish(unsigned m, const WitnessView& witness, const Span<curve::device::Fr>& out,
              base::cuda::StreamRef stream) const {
    using curve::device::Fr;
    std::size_t next = num_constraints_;
    if (m == 0) {
      base::cuda::copy_bytes(out.data + next, witness.elements, num_inputs_ * sizeof(Fr), stream);
      next += num_inputs_;
    }
    base::cuda::fill_bytes(out.data + next, 0, (out.size - next) * sizeof(Fr), stream);
  }
  static void collect(const evaluate_detail::BlockView& block, const std::uint32_t* rows,
                      std::uint32_t count, const RowOutputs (&outputs)[2], WideRow* wide,
                      base::cuda::StreamRef stream) {
    using namespace evaluate_detail;
    base::cuda::launch(
        collect_wide_rows,
        {base::cuda::blocks_for(std::size_t{count} * block.copies, kThreads), kThreads, 0}, stream,
        block, rows, count, outputs[0], outputs[1], wide);
  }

  std::vector<CircuitRows::Block> blocks_;
  std::vector<MatrixRows::Block> ranges_[3];
  Arrays arrays_;
  std::uint32_t num_inputs_, num_constraints_;
  std::size_t wide_row_count_;
};

}  // namespace cuzk::groth16::cuda
