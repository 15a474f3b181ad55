#pragma once

#include "base/cuda/span.hpp"
#include "base/cuda/stream_ref.hpp"
#include "curve/device/fr.hpp"
#include "groth16/ops/cuda/quotient_rows.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cuzk::groth16::cuda {

enum class QueryName { kL, kA, kB };

/// A circuit in device memory: its rows, from which A·w, B·w and C·w are evaluated, and the orders
/// in which the queries of a key read the witness. Made once a circuit and device; immutable, so
/// that any number of lanes and threads use it at once. All elements of Fr on the device are plain
/// residues (not Montgomery form).
///
/// A lane's way: stage() into pinned memory, one copy to the device, unpack(), then everything else
/// in any order. The functions that take a stream enqueue on it and return; they throw InvalidInput
/// if a span has not the size they state.
///
/// A circuit that completes() witnesses is sent their given fields alone and computes the implied
/// ones (r1cs/implied_fields.hpp) in unpack(), from one block of memory into another.
class DeviceCircuit {
 public:
  /// Where a witness's parts stand in a block of memory: inputs and field elements, one after the
  /// other, 32 bytes each; then the bits of all aux variables (aux variable j is bit j % 32 of
  /// 32-bit word j / 32), then a bit that is one.
  struct WitnessLayout {
    std::size_t bytes, inputs_offset, fields_offset, bits_offset;
  };

  /// Uploads to the current device and waits. C is left out in the derivative form, which has no
  /// use for it. With `completing`, which has the circuit's constraints as they are (`shape` may be
  /// less its row offsets), the circuit completes() witnesses. Throws InvalidInput for a circuit of
  /// 2^32 rows or 2^28 - 64 variables or more, ResourceExhausted if device_bytes() are not to be
  /// had.
  DeviceCircuit(const r1cs::Shape& shape, const KeyLayout& layout, base::cuda::StreamRef stream,
                const r1cs::Shape* completing = nullptr);
  ~DeviceCircuit();
  DeviceCircuit(DeviceCircuit&&) noexcept;
  DeviceCircuit& operator=(DeviceCircuit&&) noexcept;

  /// Device memory that construction allocates, in one piece. Goes through the rows once.
  static std::size_t device_bytes(const r1cs::Shape& shape, const KeyLayout& layout,
                                  const r1cs::Shape* completing = nullptr);

  bool completes() const;
  /// Of what is uploaded; of the whole witness on the device. The same unless it completes().
  const WitnessLayout& upload_layout() const;
  const WitnessLayout& witness_layout() const;
  /// Field elements that are uploaded.
  std::size_t uploaded_fields() const;
  /// Lays the witness out in host memory of upload_layout().bytes, as it is (Montgomery form); in
  /// parallel. One that is complete or, where the circuit completes() it, has its given fields
  /// alone. Throws InvalidInput if it is not one of this circuit.
  void stage(const r1cs::Witness& witness, std::span<std::byte> staging) const;
  /// From the uploaded block to the witness, canonical plain residues; once after the upload. In
  /// place (both are the same memory) unless the circuit completes() it. Both aligned to 32 bytes.
  void unpack(base::cuda::DeviceSpan<std::byte> uploaded, base::cuda::DeviceSpan<std::byte> witness,
              base::cuda::StreamRef stream) const;

  // `witness`: as unpack() leaves it, witness_layout().bytes.

  /// A·w, B·w or C·w (matrix 0, 1, 2) over the domain: the constraints, the consistency rows
  /// (input i in A, zero in B and C), zeros up to out.size = 2^domain_log2. Canonical.
  void evaluate(unsigned matrix, base::cuda::DeviceSpan<const std::byte> witness,
                base::cuda::DeviceSpan<curve::device::Fr> out, base::cuda::StreamRef stream) const;

  /// Rows that are wide, whatever the witness: those that have anything but a few bits with small
  /// coefficients in A or B, and the consistency rows. The values of all others lie in -12 .. 12 in
  /// A and in B.
  std::size_t wide_row_count() const;
  /// A·w and B·w as derivative_scalars() (ops/cuda/quotient.cuh) takes them, with a small
  /// part of the traffic of two evaluate(): a byte for every row of the domain (kWideCode for both
  /// values of a wide row), and the wide rows' canonical values in `a`, `b` at their places and in
  /// `wide` (wide_row_count(), ascending). Elsewhere `a` and `b` stay as they were. All but `wide`
  /// have 2^domain_log2 entries.
  void evaluate_codes(base::cuda::DeviceSpan<const std::byte> witness,
                      base::cuda::DeviceSpan<curve::device::Fr> a,
                      base::cuda::DeviceSpan<curve::device::Fr> b,
                      base::cuda::DeviceSpan<std::int8_t> code_a,
                      base::cuda::DeviceSpan<std::int8_t> code_b,
                      base::cuda::DeviceSpan<WideRow> wide, base::cuda::StreamRef stream) const;

  /// 32-bit words of a query's bits: QueryLayout::bit_count bits, rounded up.
  std::size_t query_bit_words(QueryName query) const;
  /// The bits of the query in the key's order, as batch_add() and batch_add_grouped() take them;
  /// zeros behind the last one.
  void query_bits(QueryName query, base::cuda::DeviceSpan<const std::byte> witness,
                  base::cuda::DeviceSpan<std::uint32_t> out, base::cuda::StreamRef stream) const;
  /// QueryLayout::field_count().
  std::size_t query_scalar_count(QueryName query) const;
  /// The query's inputs and field elements in the key's order, as msm() takes them. Canonical.
  void query_scalars(QueryName query, base::cuda::DeviceSpan<const std::byte> witness,
                     base::cuda::DeviceSpan<curve::device::Fr> out,
                     base::cuda::StreamRef stream) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cuzk::groth16::cuda
