#include "r1cs/shape.hpp"

#include "r1cs/checked_system.hpp"
#include "r1cs/digest.hpp"
#include "r1cs/evaluate.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/toy_circuit.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cuzk::r1cs {
namespace {

using curve::Fr;

Shape toy_shape(std::size_t copies, unsigned bits = 5, const toy::Mistakes& mistakes = {}) {
  ShapeBuilder builder;
  toy::circuit<SymbolicSystem>(builder, copies, bits, mistakes);
  return builder.finish();
}

class ShapeOfCopies : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ShapeOfCopies, StreamsWhatTheCircuitStreams) {
  const std::size_t copies = GetParam();
  DigestSystem direct(3);
  toy::circuit<SymbolicSystem>(direct, copies);
  const Shape shape = toy_shape(copies);
  ConstraintStream stream(3);
  stream_shape(shape, stream);
  EXPECT_EQ(stream.digest(), direct.stream().digest());
  EXPECT_EQ(stream.checkpoints(), direct.stream().checkpoints());
  EXPECT_EQ(shape.num_inputs(), direct.num_inputs());
  EXPECT_EQ(shape.num_aux(), direct.num_aux());
  EXPECT_EQ(shape.num_constraints(), direct.num_constraints());
}

TEST_P(ShapeOfCopies, CountsWhatTheConstraintsUse) {
  const Shape shape = toy_shape(GetParam());
  CheckedSystem checked({.record = true});
  toy::circuit(checked, GetParam());
  std::array<std::uint64_t, 3> nnz{};
  std::array<std::uint32_t, 3> longest{};
  std::vector<bool> a_aux(shape.num_aux()), b_aux(shape.num_aux()), b_input(shape.num_inputs());
  for (const auto& constraint : checked.constraints()) {
    for (unsigned m = 0; m < 3; ++m) {
      nnz[m] += constraint.rows[m].size();
      longest[m] = std::max(longest[m], static_cast<std::uint32_t>(constraint.rows[m].size()));
    }
    for (const Term& term : constraint.rows[0]) {
      if (term.variable.is_aux()) a_aux[term.variable.index()] = true;
    }
    for (const Term& term : constraint.rows[1])
      (term.variable.is_aux() ? b_aux : b_input)[term.variable.index()] = true;
  }
  EXPECT_EQ(shape.nnz(), nnz);
  EXPECT_EQ(shape.longest_row(), longest);
  const Densities densities = shape.densities();
  const auto expect_bits = [](const std::vector<std::uint64_t>& words, std::uint64_t count,
                              const std::vector<bool>& expected) {
    std::uint64_t ones = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ((words[i / 64] >> i % 64 & 1) != 0, expected[i]) << i;
      ones += expected[i];
    }
    EXPECT_EQ(count, ones);
  };
  expect_bits(densities.a_aux, densities.a_aux_count, a_aux);
  expect_bits(densities.b_aux, densities.b_aux_count, b_aux);
  expect_bits(densities.b_input, densities.b_input_count, b_input);
}

TEST_P(ShapeOfCopies, EvaluatesToWhatTheConstraintsSay) {
  const Shape shape = toy_shape(GetParam());
  CheckedSystem checked({.record = true});
  toy::circuit(checked, GetParam());
  for (unsigned m = 0; m < 3; ++m) {
    const std::vector<Fr> values = evaluate(shape, m, checked.inputs(), checked.aux());
    ASSERT_EQ(values.size(), checked.constraints().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      Fr expected;
      for (const Term& term : checked.constraints()[i].rows[m]) {
        expected +=
            term.coefficient *
            (term.variable.is_aux() ? checked.aux() : checked.inputs())[term.variable.index()];
      }
      EXPECT_EQ(values[i], expected) << "matrix " << m << ", constraint " << i;
    }
  }
}

TEST_P(ShapeOfCopies, StoresRepeatedRowsOnce) {
  const Shape shape = toy_shape(GetParam());
  const Shape more = toy_shape(GetParam() + 10);
  if (GetParam() < 2) return;
  const auto stored = [](const Shape& s) {
    std::size_t terms = 0;
    for (const Block& block : s.blocks()) terms += block.matrices[0].columns.size();
    return terms;
  };
  EXPECT_EQ(stored(shape), stored(more));
  EXPECT_LT(shape.nnz()[0], more.nnz()[0]);
}

INSTANTIATE_TEST_SUITE_P(Copies, ShapeOfCopies, ::testing::Values(0, 1, 2, 3, 7, 70));

TEST(Shape, DomainHoldsConstraintsAndInputs) {
  for (const std::size_t copies : {1, 2, 5, 9}) {
    const Shape shape = toy_shape(copies);
    EXPECT_EQ(shape.num_rows(), shape.num_constraints() + shape.num_inputs());
    EXPECT_LE(shape.num_rows(), std::uint64_t{1} << shape.domain_log2());
    EXPECT_GT(shape.num_rows(), std::uint64_t{1} << (shape.domain_log2() - 1));
  }
}

TEST(ShapeBuilder, RefusesCopiesThatDiffer) {
  EXPECT_NO_THROW(toy_shape(3));
  EXPECT_THROW(toy_shape(3, 5, {.extra_constraint = true}), std::logic_error);
  EXPECT_THROW(toy_shape(3, 5, {.other_coefficient = true}), std::logic_error);
  EXPECT_THROW(toy_shape(3, 5, {.other_kind = true}), std::logic_error);
  EXPECT_THROW(toy_shape(3, 5, {.other_copy = true}), std::logic_error);
}

TEST(ShapeBuilder, RefusesPortsThatAreNoEarlierAuxVariables) {
  ShapeBuilder builder;
  SymbolicSystem& cs = builder;
  const auto nothing = [](SymbolicSystem&, std::size_t) {};
  const Variable aux = cs.alloc_aux({});
  const auto ports = [&](Variable a, Variable b) {
    return [=](std::size_t) { return std::vector<Variable>{a, b}; };
  };
  EXPECT_THROW(cs.repeat(2, ports(aux, aux), nothing), std::logic_error);
  ShapeBuilder other;
  EXPECT_THROW(static_cast<SymbolicSystem&>(other).repeat(
                   2, ports(Variable::one(), Variable::aux(3)), nothing),
               std::logic_error);
}

TEST(LinearCombination, NormalizeMergesDropsAndSorts) {
  const Variable a = Variable::aux(3), b = Variable::aux(1), input = Variable::input(9);
  LinearCombination lc;
  lc.add(a)
      .add(b, Fr::from_u64(5))
      .sub(a)
      .add(input)
      .add(b, Fr::from_u64(2))
      .add(Variable::one(), Fr::zero());
  lc.normalize();
  const std::vector<Term> expected = {{input, Fr::one()}, {b, Fr::from_u64(7)}};
  EXPECT_EQ(std::vector<Term>(lc.terms().begin(), lc.terms().end()), expected);
}

TEST(LinearCombination, AddScaledMultipliesCoefficients) {
  LinearCombination lc, sum;
  lc.add(Variable::aux(0), Fr::from_u64(3)).sub(Variable::one());
  sum.add_scaled(lc, Fr::from_u64(4));
  sum.normalize();
  const std::vector<Term> expected = {{Variable::one(), -Fr::from_u64(4)},
                                      {Variable::aux(0), Fr::from_u64(12)}};
  EXPECT_EQ(std::vector<Term>(sum.terms().begin(), sum.terms().end()), expected);
}

TEST(Column, KeepsKindAndIndex) {
  for (const auto kind : {Column::Kind::kInput, Column::Kind::kLocalInput, Column::Kind::kAux,
                          Column::Kind::kPort, Column::Kind::kLocalAux}) {
    for (const std::uint32_t index : {0u, 1u, Column::kMaxIndex}) {
      const Column column = Column::from_word(Column(kind, index).word());
      EXPECT_EQ(column.kind(), kind);
      EXPECT_EQ(column.index(), index);
    }
  }
}

TEST(CheckedSystem, NamesTheFirstConstraintThatFails) {
  CheckedSystem good;
  toy::circuit(good, 3);
  EXPECT_EQ(good.first_unsatisfied(), std::nullopt);
  CheckedSystem bad;
  toy::circuit(bad, 3, 5, {.wrong_value = true});
  EXPECT_EQ(bad.first_unsatisfied(), "copy 1/square");
  EXPECT_EQ(bad.unsatisfied(), 1u);
  CheckedSystem stopping({.stop_at_first = true});
  EXPECT_THROW(toy::circuit(stopping, 3, 5, {.wrong_value = true}), Unsatisfied);
  EXPECT_EQ(stopping.first_unsatisfied(), "copy 1/square");
  EXPECT_LT(stopping.num_constraints(), bad.num_constraints());
}

}  // namespace
}  // namespace cuzk::r1cs
