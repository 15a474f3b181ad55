#include "groth16/row_offsets.hpp"

#include "groth16/ops/ntt.hpp"
#include "groth16/testing.hpp"
#include "r1cs/evaluate.hpp"

#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

bool is_set(const std::vector<std::uint64_t>& bits, std::size_t i) {
  return (bits[i / 64] >> i % 64 & 1) != 0;
}

// Copies whose rows begin anywhere in a word.
class OffsetsOfCopies : public ::testing::TestWithParam<std::tuple<std::size_t, unsigned>> {};

TEST_P(OffsetsOfCopies, AreWhatTheCircuitLessOffsetsLacks) {
  const testing::ToyCircuit toy(std::get<0>(GetParam()), std::get<1>(GetParam()));
  const std::vector<std::uint64_t> offsets = row_offsets(toy.shape);
  const r1cs::Shape less = less_row_offsets(toy.shape);
  const std::vector<Fr> aux = r1cs::expand_aux(toy.shape, toy.witness);
  std::array<std::vector<Fr>, 3> rows, rows_less;
  for (unsigned m = 0; m < 3; ++m) {
    rows[m] = r1cs::evaluate(toy.shape, m, toy.witness.inputs, aux);
    rows_less[m] = r1cs::evaluate(less, m, toy.witness.inputs, aux);
  }
  EXPECT_EQ(rows[1], rows_less[1]);
  EXPECT_EQ(rows[2], rows_less[2]);
  std::size_t set = 0;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    set += is_set(offsets, i) ? 1 : 0;
    EXPECT_EQ(rows[0][i], rows_less[0][i] + Fr::from_u64(is_set(offsets, i))) << i;
    // Booleans: the row vanishes for x = 0.
    EXPECT_TRUE(!is_set(offsets, i) || !rows[1][i].is_zero() || rows_less[0][i].is_zero()) << i;
  }
  // The toy circuit's boolean rows: `bits` and one a copy, and two outside.
  EXPECT_EQ(set, std::get<0>(GetParam()) * (std::get<1>(GetParam()) + 1) + 2);
  for (std::size_t i = rows[0].size(); i < 64 * offsets.size(); ++i)
    EXPECT_FALSE(is_set(offsets, i)) << i;
}

INSTANTIATE_TEST_SUITE_P(Copies, OffsetsOfCopies,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3, 64),
                                            ::testing::Values(0, 1, 5, 60, 61, 62, 63, 130)));

// <x, D y> = <Dᵗ x, y> on the rows that have an offset.
TEST(RowOffsets, TransposedDerivativeIsTransposed) {
  const Domain domain(5);
  const std::vector<std::uint64_t> offsets = {0x9b3d'7015};
  const std::vector<Fr> x = testing::random_scalars(29, 1);
  const base::LargeArray<Fr> t = transposed_derivative(domain, offsets, x);
  for (std::size_t m = 0; m < domain.n(); ++m) {
    const std::vector<std::uint64_t> unit = {std::uint64_t{1} << m};
    const base::LargeArray<Fr> column = offset_derivative(domain, unit);  // D e_m
    Fr sum = Fr::zero();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (is_set(offsets, i)) sum += x[i] * column[i];
    }
    EXPECT_EQ(t[m], sum) << m;
  }
}

// From the coefficients: X* has the values of x·dX/dx.
TEST(RowOffsets, OffsetDerivativeIsTheDerivative) {
  const Domain domain(4);
  const std::vector<std::uint64_t> offsets = {0b1010'0110'0001'1101};
  std::vector<Fr> values(domain.n());
  for (std::size_t i = 0; i < domain.n(); ++i) values[i] = Fr::from_u64(is_set(offsets, i));
  intt(domain, values);
  const base::LargeArray<Fr> star = offset_derivative(domain, offsets);
  for (std::size_t i = 0; i < domain.n(); ++i) {
    Fr sum = Fr::zero();
    for (std::size_t k = 0; k < domain.n(); ++k)
      sum += Fr::from_u64(k) * values[k] * domain.omega().pow(i * k);
    EXPECT_EQ(star[i], sum) << i;
  }
}

}  // namespace
}  // namespace cuzk::groth16
