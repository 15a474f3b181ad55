#pragma once

#include "curve/fr.hpp"
#include "r1cs/field_numbers.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::groth16 {

/// Which aux variables of a circuit are bits, and where the others stand among the witness's field
/// elements.
class VariableMap {
 public:
  explicit VariableMap(const r1cs::Shape& shape);

  /// Bit j: aux variable j is a bit.
  std::span<const std::uint64_t> bit_mask() const { return numbers_.bit_mask(); }
  bool is_bit(std::uint32_t aux) const { return numbers_.is_bit(aux); }
  /// Index into Witness::fields of an aux variable that is not a bit.
  std::uint32_t field_index(std::uint32_t aux) const { return numbers_.number(aux); }
  std::uint32_t num_aux() const { return num_aux_; }
  std::uint32_t num_fields() const { return num_fields_; }

 private:
  std::uint32_t num_aux_, num_fields_;
  r1cs::FieldNumbers numbers_;
};

/// The variables that have a point in one query of a key, in the key's order: the inputs, then the
/// aux variables, each ascending. Static: it follows from the circuit, not from the witness.
struct QueryLayout {
  std::vector<std::uint32_t> inputs;    ///< the inputs that have a point
  std::vector<std::uint64_t> aux_mask;  ///< bit j: aux variable j has a point
  std::vector<std::uint64_t> bit_mask;  ///< of these, the ones that are bits
  std::vector<std::uint32_t> fields;    ///< of these, the others: indices into Witness::fields
  std::size_t bit_count = 0;

  /// Points of the query.
  std::size_t size() const { return field_count() + bit_count; }
  /// Points with a scalar of any size: inputs and field elements.
  std::size_t field_count() const { return inputs.size() + fields.size(); }
  /// Their scalars.
  std::vector<curve::Fr> scalars(const r1cs::Witness& witness) const;
};

/// Quotient and its key: see ops/quotient.hpp.
enum class QuotientForm { kTextbook, kDerivative };

/// The layouts of a circuit's queries.
struct KeyLayout {
  KeyLayout(const r1cs::Shape& shape, QuotientForm quotient_form);

  QuotientForm form;
  VariableMap variables;
  std::uint32_t num_inputs;
  std::uint64_t num_rows;
  unsigned domain_log2;
  std::size_t h_count;  ///< textbook: n - 1; derivative: one for each row
  QueryLayout l, a, b;  ///< l: all aux variables; in the derivative form all inputs, too
};

}  // namespace cuzk::groth16
