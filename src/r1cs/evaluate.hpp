#pragma once

#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <span>
#include <vector>

namespace cuzk::r1cs {

/// One of A·w, B·w, C·w (matrix 0, 1, 2), straight from the definition: the reference that faster
/// evaluations are held to. Calls visit(value) for each constraint in order. `aux` is the whole
/// assignment, as expand_aux() gives it.
template <class Visit>
void evaluate_rows(const Shape& shape, unsigned matrix, std::span<const curve::Fr> inputs,
                   std::span<const curve::Fr> aux, Visit&& visit) {
  for (const Block& block : shape.blocks()) {
    const Rows& rows = block.matrices[matrix];
    for (std::uint32_t copy = 0; copy < block.copies; ++copy) {
      for (std::uint32_t row = 0; row < block.constraints; ++row) {
        curve::Fr sum;
        for (std::uint32_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i) {
          const Variable variable =
              Variable::from_key(block.key(Column::from_word(rows.columns[i]), copy));
          const curve::Fr& value = (variable.is_aux() ? aux : inputs)[variable.index()];
          if (!value.is_zero()) sum += shape.palette()[rows.coefficients[i]] * value;
        }
        visit(sum);
      }
    }
  }
}

/// The same as a vector.
inline std::vector<curve::Fr> evaluate(const Shape& shape, unsigned matrix,
                                       std::span<const curve::Fr> inputs,
                                       std::span<const curve::Fr> aux) {
  std::vector<curve::Fr> out;
  out.reserve(shape.num_constraints());
  evaluate_rows(shape, matrix, inputs, aux, [&](const curve::Fr& value) { out.push_back(value); });
  return out;
}

}  // namespace cuzk::r1cs
