#include "groth16/ops/cuda/completion_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

TEST(CompletionEmulated, ComputesTheImpliedFields) {
  for (const CompletionCase& c : completion_cases()) EXPECT_EQ(check_completion(c, {}), "");
}

TEST(CompletionEmulated, AgreesWithTheHosts) {
  const ChainCircuit circuit({5, 2, 50, 7});
  const r1cs::ImpliedFields implied(circuit.shape);
  const r1cs::Witness given = r1cs::leave_out_implied(circuit.shape, implied, circuit.witness);
  const r1cs::Witness whole = r1cs::complete(circuit.shape, implied, given);
  EXPECT_TRUE(std::ranges::equal(whole.fields, circuit.witness.fields));
}

// The cases mean little unless every kind of step is among them.
TEST(CompletionEmulated, CasesHaveEveryKindOfStep) {
  const ChainCircuit circuit({3, 2, 60, 2});
  const r1cs::ImpliedFields implied(circuit.shape);
  const CompletionRows rows =
      lay_out_completion(circuit.shape, VariableMap(circuit.shape), implied);
  ASSERT_EQ(rows.steps.size(), 120U);
  std::size_t empty = 0, linear = 0, negative = 0, products = 0, longest = 0;
  for (const CompletionStep& step : rows.steps) {
    empty += step.terms[0].products + step.terms[0].others == 0 ? 1 : 0;
    linear += step.terms[1].products + step.terms[1].others == 0 ? 1 : 0;
    negative += step.negative;
    products += step.terms[0].products > 0 ? 1 : 0;
    longest = std::max<std::size_t>(longest, step.terms[0].products + step.terms[0].others);
  }
  EXPECT_GT(empty, 2U);
  EXPECT_GT(linear, 10U + empty);
  EXPECT_LT(linear, 100U);
  EXPECT_GT(negative, 10U);
  EXPECT_LT(negative, 110U);
  EXPECT_GT(products, 10U);
  EXPECT_GT(longest, 30U);
}

TEST(CompletionEmulated, RejectsTooLittleMemory) {
  const ChainCircuit circuit({2, 1, 3, 1});
  const CompletionRows rows = lay_out_completion(circuit.shape, VariableMap(circuit.shape),
                                                 r1cs::ImpliedFields(circuit.shape));
  std::vector<std::byte> memory(WitnessCompletion::bytes(rows));
  EXPECT_THROW(WitnessCompletion(rows, {memory.data(), memory.size() - 1}, {}), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
