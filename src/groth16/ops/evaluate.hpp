#pragma once

#include "curve/fr.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <span>

namespace cuzk::groth16 {

enum class Matrix { kA, kB, kC };

/// Rows of A·w, B·w or C·w, w = the witness: the circuit's constraints, then the consistency rows
/// of the inputs (input i in A, zero in B and C), then zeros up to out.size(). In parallel;
/// Montgomery form. Throws InvalidInput if `out` is shorter than shape.num_rows() or the witness is
/// not of the shape.
void evaluate(const r1cs::Shape& shape, const VariableMap& variables, const r1cs::Witness& witness,
              Matrix matrix, std::span<curve::Fr> out);

}  // namespace cuzk::groth16
