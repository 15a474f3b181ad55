#include "groth16/variables.hpp"

#include "groth16/testing.hpp"

#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

// Bits a copy around the word size, so that copies begin anywhere in a word.
class VariablesOfCopies : public ::testing::TestWithParam<std::tuple<std::size_t, unsigned>> {};

TEST_P(VariablesOfCopies, MapFindsEveryValue) {
  const testing::ToyCircuit toy(std::get<0>(GetParam()), std::get<1>(GetParam()));
  const VariableMap variables(toy.shape);
  EXPECT_EQ(variables.num_fields(), toy.shape.num_fields());
  const std::vector<Fr> aux = r1cs::expand_aux(toy.shape, toy.witness);
  for (std::uint32_t i = 0; i < aux.size(); ++i) {
    const Fr found = variables.is_bit(i) ? Fr::from_u64(toy.witness.bit(i))
                                         : toy.witness.fields.at(variables.field_index(i));
    ASSERT_EQ(found, aux[i]) << i;
  }
}

TEST_P(VariablesOfCopies, QueriesHoldTheirVariablesInOrder) {
  const testing::ToyCircuit toy(std::get<0>(GetParam()), std::get<1>(GetParam()));
  const std::vector<Fr> aux = r1cs::expand_aux(toy.shape, toy.witness);
  const r1cs::Densities densities = toy.shape.densities();
  const auto is_set = [](const std::vector<std::uint64_t>& words, std::size_t i) {
    return (words[i / 64] >> i % 64 & 1) != 0;
  };
  const auto expect_query = [&](const QueryLayout& query, auto&& has_input, auto&& has_aux) {
    std::vector<Fr> expected;
    std::size_t bits = 0;
    for (std::size_t i = 0; i < toy.witness.inputs.size(); ++i) {
      if (has_input(i)) expected.push_back(toy.witness.inputs[i]);
    }
    const VariableMap variables(toy.shape);
    for (std::uint32_t i = 0; i < aux.size(); ++i) {
      if (!has_aux(i)) continue;
      if (variables.is_bit(i)) {
        ++bits;
        EXPECT_TRUE(is_set(query.bit_mask, i));
      } else {
        expected.push_back(aux[i]);
        EXPECT_FALSE(is_set(query.bit_mask, i));
      }
    }
    EXPECT_EQ(query.scalars(toy.witness), expected);
    EXPECT_EQ(query.field_count(), expected.size());
    EXPECT_EQ(query.bit_count, bits);
    EXPECT_EQ(query.size(), expected.size() + bits);
  };
  const auto all = [](std::size_t) { return true; };
  const auto none = [](std::size_t) { return false; };
  const KeyLayout textbook(toy.shape, QuotientForm::kTextbook),
      derivative(toy.shape, QuotientForm::kDerivative);
  expect_query(textbook.l, none, all);
  expect_query(derivative.l, all, all);
  for (const KeyLayout* layout : {&textbook, &derivative}) {
    expect_query(layout->a, all, [&](std::size_t i) { return is_set(densities.a_aux, i); });
    expect_query(
        layout->b, [&](std::size_t i) { return is_set(densities.b_input, i); },
        [&](std::size_t i) { return is_set(densities.b_aux, i); });
  }
  EXPECT_EQ(textbook.h_count, (std::size_t{1} << toy.shape.domain_log2()) - 1);
  EXPECT_EQ(derivative.h_count, toy.shape.num_rows());
}

INSTANTIATE_TEST_SUITE_P(Copies, VariablesOfCopies,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3, 64, 300),
                                            ::testing::Values(0, 1, 5, 61, 62, 63, 64, 65, 130)));

}  // namespace
}  // namespace cuzk::groth16
