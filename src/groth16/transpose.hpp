#pragma once

#include "curve/fr.hpp"
#include "groth16/ops/evaluate.hpp"
#include "r1cs/shape.hpp"

#include <cstdint>
#include <span>

namespace cuzk::groth16 {

/// Calls visit(row, variable key, palette index) for every term of a matrix, all copies expanded,
/// by rows. The consistency rows of the inputs are not part of the shape and not visited.
template <class Visit>
void for_each_term(const r1cs::Shape& shape, Matrix matrix, Visit&& visit) {
  for (const r1cs::Block& block : shape.blocks()) {
    const r1cs::Rows& rows = block.matrices[static_cast<unsigned>(matrix)];
    for (std::uint32_t copy = 0; copy < block.copies; ++copy) {
      const std::uint64_t first_row =
          block.first_constraint + std::uint64_t{copy} * block.constraints;
      for (std::uint32_t row = 0; row < block.constraints; ++row) {
        for (std::uint32_t term = rows.offsets[row]; term < rows.offsets[row + 1]; ++term) {
          visit(first_row + row, block.key(r1cs::Column::from_word(rows.columns[term]), copy),
                rows.coefficients[term]);
        }
      }
    }
  }
}

/// out[k] += Σ_row matrix[row][k]·rows[row] for every variable k, inputs first, then aux: the
/// product with the transposed matrix, without the consistency rows. In parallel. `rows` has the
/// circuit's constraints or more, `out` all variables, else InvalidInput.
void add_transposed_product(const r1cs::Shape& shape, Matrix matrix,
                            std::span<const curve::Fr> rows, std::span<curve::Fr> out);

}  // namespace cuzk::groth16
