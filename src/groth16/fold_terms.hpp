#pragma once

#include "curve/g1.hpp"
#include "groth16/ops/evaluate.hpp"
#include "r1cs/shape.hpp"

#include <span>

namespace cuzk::groth16 {

enum class Sign { kPlus, kMinus };

/// sums[k] ± = Σ_row matrix[row][k]·rows[row] for every variable k, inputs first, then aux:
/// add_transposed_product() with points. In parallel, and quick where coefficients are ± powers of
/// two, in rising order within a row. `rows` has the circuit's constraints or more, `sums` all
/// variables, else InvalidInput.
void fold_terms(const r1cs::Shape& shape, Matrix matrix, Sign sign,
                std::span<const curve::G1Affine> rows, std::span<curve::G1Jacobian> sums);

}  // namespace cuzk::groth16
