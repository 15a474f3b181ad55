#pragma once

#include "base/large_array.hpp"
#include "curve/fr.hpp"
#include "groth16/ops/domain.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Offsets of rows, which make a third of the derivative form's scalars zero.
///
/// With constants β_i and a_i = a'_i + β_i, row a_i·b_i = c_i says the same as a'_i·b_i = c_i -
/// β_i·b_i, which is a row of an R1CS, too: A' = A less β_i·ONE. Where a circuit asks x to be a
/// bit, (1 - x)·x = 0, and β_i = 1, row and scalar vanish for x = 0: a' = -x, b = x. The derivative
/// form is linear but for s'_i = b_i·A'*_i + a'_i·B*_i:
///   n·h(ω^i) = b_i·A*_i + a_i·B*_i - C*_i = s'_i + b_i·β*_i + β_i·B*_i - C*_i,
/// where β* is the vector of the values (x·dX/dx)(ω^i) for the polynomial with the values β_i. So
///   Σ_i n·h(ω^i)·Q_i = Σ_i s'_i·Q_i + Σ_i b_i·(β*_i·Q_i + T_i) - Σ_i C*_i·Q_i,
///   T = Dᵗ(β∘Q), D the linear map X -> X*,
/// and what is linear in the witness is added to the key's L (derived_key.hpp). The proof's bytes
/// do not depend on β.
namespace cuzk::groth16 {

/// Bit i: β_i, for each of the circuit's num_rows() rows. β_i = 1 where A has 1·ONE, B has not ONE,
/// and C is empty.
std::vector<std::uint64_t> row_offsets(const r1cs::Shape& shape);

/// The circuit with A' in place of A: what the derivative form evaluates. Shares the storage of
/// everything else.
r1cs::Shape less_row_offsets(const r1cs::Shape& shape);

/// What a prover with a key of this form evaluates: the circuit, less its offsets in the derivative
/// form.
r1cs::Shape evaluated_circuit(const r1cs::Shape& shape, const KeyLayout& layout);

/// β*_i for every i of the domain.
base::LargeArray<curve::Fr> offset_derivative(const Domain& domain,
                                              std::span<const std::uint64_t> offsets);

/// T from β∘Q, for scalars: Q's discrete logarithms, one for each row. n elements.
base::LargeArray<curve::Fr> transposed_derivative(const Domain& domain,
                                                  std::span<const std::uint64_t> offsets,
                                                  std::span<const curve::Fr> q);

}  // namespace cuzk::groth16
