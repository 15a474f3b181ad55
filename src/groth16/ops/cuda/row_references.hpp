#pragma once

#include "curve/device/fr.hpp"
#include "groth16/ops/cuda/circuit_rows.hpp"
#include "groth16/variables.hpp"
#include "r1cs/field_numbers.hpp"
#include "r1cs/shape.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// How rows of a shape refer to coefficients and variables where kernels read them.
namespace cuzk::groth16::cuda {

/// A shape's coefficients, with 1 and -1 in front.
struct Palette {
  /// Throws InvalidInput if there are 65,533 or more.
  explicit Palette(std::span<const curve::Fr> shape_palette);

  std::vector<curve::device::FrFactor> factors;
  std::vector<std::uint16_t> index;  ///< of the shape's coefficients among `factors`
  std::vector<std::int8_t> small;    ///< theirs, if in -4 .. 3; else 0, which no coefficient is

 private:
  void add(const curve::Fr& value);
};

/// Columns of one block as references (RefKind).
class References {
 public:
  /// All must outlive the object.
  References(const r1cs::Shape& shape, const VariableMap& variables, const r1cs::Block& block)
      : variables_(variables),
        block_(block),
        num_inputs_(shape.num_inputs()),
        numbers_(block.bit_mask) {}

  std::uint32_t ref(r1cs::Column column) const;
  /// Of a variable that is the same for all copies.
  std::uint32_t of_key(std::uint32_t key) const;
  /// Of the copy's field of this number.
  std::uint32_t of_field(std::uint32_t number) const;

 private:
  const VariableMap& variables_;
  const r1cs::Block& block_;
  std::uint32_t num_inputs_;
  r1cs::FieldNumbers numbers_;
};

}  // namespace cuzk::groth16::cuda
