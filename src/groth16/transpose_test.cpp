#include "groth16/transpose.hpp"

#include "base/error.hpp"
#include "groth16/testing.hpp"

#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

// ⟨out, w⟩ = ⟨start, w⟩ + ⟨rows, M·w⟩ for the circuit's own witness and every matrix: a transposed
// product is what makes this true for all w.
TEST(Transpose, ProductIsAdjointToEvaluation) {
  for (const std::size_t copies : {1, 2, 9}) {
    const testing::ToyCircuit toy(copies);
    const r1cs::Shape& shape = toy.shape;
    const VariableMap variables(shape);
    const std::size_t inputs = shape.num_inputs();
    const std::vector<Fr> rows = testing::random_scalars(shape.num_rows(), 3);
    const std::vector<Fr> start = testing::random_scalars(inputs + shape.num_aux(), 4);
    // Any assignment will do for this, so all field elements are random.
    r1cs::Witness witness = toy.witness;
    std::mt19937_64 random(5);
    for (Fr& value : witness.inputs) value = testing::random_scalar(random);
    for (Fr& value : witness.fields) value = testing::random_scalar(random);
    for (unsigned m = 0; m < 3; ++m) {
      std::vector<Fr> out = start;
      add_transposed_product(shape, static_cast<Matrix>(m), rows, out);
      Fr difference = Fr::zero();
      for (std::size_t i = 0; i < inputs; ++i)
        difference += (out[i] - start[i]) * witness.inputs[i];
      for (std::uint32_t j = 0; j < shape.num_aux(); ++j) {
        const Fr value = variables.is_bit(j) ? Fr::from_u64(witness.bit(j))
                                             : witness.fields[variables.field_index(j)];
        difference += (out[inputs + j] - start[inputs + j]) * value;
      }
      std::vector<Fr> values(shape.num_rows());
      evaluate(shape, variables, witness, static_cast<Matrix>(m), values);
      Fr expected = Fr::zero();
      for (std::size_t i = 0; i < shape.num_constraints(); ++i) expected += rows[i] * values[i];
      EXPECT_EQ(difference, expected) << "matrix " << m << ", " << copies << " copies";
      EXPECT_NE(out, start);
    }
  }
}

// Term by term.
TEST(Transpose, ProductIsTheSumOfItsTerms) {
  const testing::ToyCircuit toy(6);
  const r1cs::Shape& shape = toy.shape;
  const std::vector<Fr> rows = testing::random_scalars(shape.num_rows(), 8);
  std::vector<Fr> expected(shape.num_inputs() + shape.num_aux()), out(expected.size());
  for_each_term(
      shape, Matrix::kC, [&](std::uint64_t row, std::uint32_t key, std::uint16_t coefficient) {
        const auto variable = r1cs::Variable::from_key(key);
        expected[variable.is_aux() ? shape.num_inputs() + variable.index() : variable.index()] +=
            shape.palette()[coefficient] * rows[row];
      });
  add_transposed_product(shape, Matrix::kC, rows, out);
  EXPECT_EQ(out, expected);
}

TEST(Transpose, WrongSizesAreRefused) {
  const testing::ToyCircuit toy;
  std::vector<Fr> rows(toy.shape.num_constraints()),
      out(toy.shape.num_inputs() + toy.shape.num_aux());
  EXPECT_THROW(
      add_transposed_product(toy.shape, Matrix::kA, std::span(rows).first(rows.size() - 1), out),
      base::InvalidInput);
  EXPECT_THROW(
      add_transposed_product(toy.shape, Matrix::kA, rows, std::span(out).first(out.size() - 1)),
      base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16
