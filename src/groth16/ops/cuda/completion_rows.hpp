#pragma once

#include "curve/device/fr.hpp"
#include "groth16/ops/cuda/circuit_rows.hpp"
#include "groth16/variables.hpp"
#include "r1cs/implied_fields.hpp"
#include "r1cs/shape.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// The steps that complete a witness, as the kernels of completion.cuh read them: built on the host
/// from the shape, once a circuit. Of repeated blocks one copy is stored.
namespace cuzk::groth16::cuda {

/// A sum over terms: first `products` of an element and a coefficient other than ±1, then `others`.
struct TermCounts {
  std::uint16_t products = 0, others = 0;
};

/// result = ±(A·B - C), with the terms of A, B and C after each other from first_term on. A without
/// terms is zero, B without terms is one.
struct alignas(8) CompletionStep {
  std::uint32_t first_term;
  std::uint32_t result;  ///< a reference of kind kCopyField
  std::array<TermCounts, 3> terms;
  std::uint32_t negative;
};

struct CompletionRows {
  /// A block of the shape that has field elements. Strides from copy to copy as in
  /// CircuitRows::Block.
  struct Block {
    std::uint32_t copies, bits, fields;
    IndexRange given;           ///< of a copy, in `given`
    std::uint32_t first_given;  ///< of the first copy, among all given fields
    IndexRange chains;          ///< in `chains`; the last one's end is the next entry
  };
  std::vector<Block> blocks;
  std::vector<std::uint32_t> given;   ///< references to the fields of copy 0, ascending
  std::vector<std::uint32_t> chains;  ///< first steps
  std::vector<CompletionStep> steps;
  std::vector<std::uint32_t> refs;  ///< terms: of kind kCopyField, kCopyBit and, for ONE, kBit
  std::vector<std::uint16_t> coefficients;
  /// As CircuitRows::palette, and at the end 2^256 mod r.
  std::vector<curve::device::FrFactor> palette;
};

/// Throws InvalidInput as lay_out_rows(), and for a constraint of 65,536 terms or more.
CompletionRows lay_out_completion(const r1cs::Shape& shape, const VariableMap& variables,
                                  const r1cs::ImpliedFields& implied);

}  // namespace cuzk::groth16::cuda
