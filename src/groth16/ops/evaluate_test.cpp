#include "groth16/ops/evaluate.hpp"

#include "base/error.hpp"
#include "groth16/testing.hpp"
#include "r1cs/evaluate.hpp"

#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

TEST(Evaluate, EqualsTheDefinition) {
  for (const std::size_t copies : {0, 1, 2, 5, 700}) {
    for (const unsigned bits : {0U, 5U, 63U, 70U}) {
      const testing::ToyCircuit toy(copies, bits);
      const VariableMap variables(toy.shape);
      const std::vector<Fr> aux = r1cs::expand_aux(toy.shape, toy.witness);
      for (unsigned m = 0; m < 3; ++m) {
        std::vector<Fr> rows(toy.shape.num_rows() + 3, Fr::from_u64(99));
        evaluate(toy.shape, variables, toy.witness, static_cast<Matrix>(m), rows);
        std::vector<Fr> expected = r1cs::evaluate(toy.shape, m, toy.witness.inputs, aux);
        for (const Fr& input : toy.witness.inputs) expected.push_back(m == 0 ? input : Fr::zero());
        expected.resize(rows.size());
        EXPECT_EQ(rows, expected) << copies << " copies, " << bits << " bits, matrix " << m;
      }
    }
  }
}

TEST(Evaluate, ForeignWitnessesAreRefused) {
  const testing::ToyCircuit toy(3), other(4);
  const VariableMap variables(toy.shape);
  std::vector<Fr> rows(toy.shape.num_rows());
  EXPECT_THROW(evaluate(toy.shape, variables, other.witness, Matrix::kA, rows), base::InvalidInput);
  rows.pop_back();
  EXPECT_THROW(evaluate(toy.shape, variables, toy.witness, Matrix::kA, rows), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16
