#include "groth16/fold_terms.hpp"

#include "base/error.hpp"
#include "groth16/testing.hpp"
#include "groth16/transpose.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cuzk::groth16 {
namespace {

using curve::Fr;
using curve::G1Affine;
using curve::G1Jacobian;

std::vector<G1Affine> points_of(std::span<const Fr> logarithms) {
  std::vector<G1Affine> out;
  for (const Fr& k : logarithms) out.push_back((G1Affine::generator() * k).to_affine());
  return out;
}

/// A row with 1, 2, 8, -8, a large power of two, r - 2, a coefficient that is no power of two, and
/// 1 again: rising, falling and repeated exponents. In copies, so that threads share variables.
r1cs::Shape awkward_circuit() {
  r1cs::ShapeBuilder builder;
  const auto shared =
      builder.alloc_aux(r1cs::known<r1cs::SymbolicSystem>([] { return Fr::one(); }));
  Fr large = Fr::one();
  for (int i = 0; i < 250; ++i) large += large;
  const std::vector<Fr> coefficients = {Fr::one(),        Fr::from_u64(2), Fr::from_u64(8),
                                        -Fr::from_u64(8), large,           -Fr::from_u64(2),
                                        Fr::from_u64(77), Fr::one()};
  for (int row = 0; row < 40; ++row) {
    std::vector<r1cs::Variable> variables;
    for (std::size_t i = 0; i < coefficients.size(); ++i)
      variables.push_back(
          builder.alloc_aux(r1cs::known<r1cs::SymbolicSystem>([] { return Fr::one(); })));
    builder.enforce(
        "row", [&](auto& lc) { lc.add(r1cs::Variable::one()); },
        [&](auto& lc) { lc.add(r1cs::Variable::one()).add(shared); },
        [&](auto& lc) {
          for (std::size_t i = 0; i < coefficients.size(); ++i)
            lc.add(variables[i], coefficients[i]);
          lc.add(shared, Fr::from_u64(4));
        });
  }
  return builder.finish();
}

void expect_products_of_logarithms(const r1cs::Shape& shape) {
  const std::size_t variables = std::size_t{shape.num_inputs()} + shape.num_aux();
  std::vector<Fr> rows = testing::random_scalars(shape.num_constraints(), 1);
  rows[0] = Fr::zero();  // an infinite point
  const std::vector<Fr> start = testing::random_scalars(variables, 2);
  const std::vector<G1Affine> row_points = points_of(rows), start_points = points_of(start);
  for (const Matrix matrix : {Matrix::kA, Matrix::kB, Matrix::kC}) {
    for (const Sign sign : {Sign::kPlus, Sign::kMinus}) {
      std::vector<Fr> expected = start, signed_rows = rows;
      if (sign == Sign::kMinus) {
        for (Fr& value : signed_rows) value = -value;
      }
      add_transposed_product(shape, matrix, signed_rows, expected);
      std::vector<G1Jacobian> sums;
      for (const G1Affine& point : start_points) sums.push_back(G1Jacobian::from(point));
      fold_terms(shape, matrix, sign, row_points, sums);
      EXPECT_EQ(curve::normalize<curve::Fp>(std::span<const G1Jacobian>(sums)),
                points_of(expected));
    }
  }
}

TEST(FoldTerms, IsTheTransposedProductOfTheLogarithms) {
  expect_products_of_logarithms(testing::ToyCircuit(5).shape);
}
TEST(FoldTerms, TakesCoefficientsInAnyOrder) { expect_products_of_logarithms(awkward_circuit()); }

TEST(FoldTerms, RefusesWhatDoesNotFit) {
  const testing::ToyCircuit toy(2);
  std::vector<G1Affine> rows(toy.shape.num_constraints());
  std::vector<G1Jacobian> sums(toy.shape.num_inputs() + toy.shape.num_aux());
  EXPECT_THROW(
      fold_terms(toy.shape, Matrix::kC, Sign::kPlus, std::span(rows).first(rows.size() - 1), sums),
      base::InvalidInput);
  sums.pop_back();
  EXPECT_THROW(fold_terms(toy.shape, Matrix::kC, Sign::kPlus, rows, sums), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16
