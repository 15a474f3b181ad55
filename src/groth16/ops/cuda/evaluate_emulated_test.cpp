#include "groth16/ops/cuda/evaluate_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

TEST(EvaluateEmulated, EveryKindOfRow) {
  for (const EvaluateCase& c : evaluate_cases()) EXPECT_EQ(check_evaluate(c, {}), "");
}

// The cases above mean little unless every kind of row is among them.
TEST(EvaluateEmulated, CasesHaveEveryKindOfRow) {
  const TestCircuit circuit(257, 5, 6);
  const CircuitRows rows = lay_out_rows(circuit.shape, VariableMap(circuit.shape), true);
  ASSERT_EQ(rows.blocks.size(), 3U);
  EXPECT_FALSE(rows.port_refs.empty());
  for (const MatrixRows& matrix : rows.matrices) {
    for (const MatrixRows::Block& block : matrix.blocks) {
      EXPECT_GT(block.short_slices.count, 0U);
      EXPECT_GT(block.element_slices.count, 0U);
      EXPECT_GT(block.long_rows.count, 0U);
    }
    std::uint32_t longest = 0;
    for (const LongRow& row : matrix.long_rows) longest = std::max(longest, row.terms);
    EXPECT_GT(longest, 100U);
  }
}

// Sums at the edges: nothing, r - 1 from many terms, carries through all limbs.
TEST(EvaluateEmulated, ColumnSums) {
  Fr top;
  for (std::uint32_t& limb : top.limbs) limb = 0xffffffff;
  for (const std::uint32_t count : {0U, 1U, 2U, 3U, 70000U}) {
    evaluate_detail::ColumnSum sum;
    for (std::uint32_t i = 0; i < count; ++i) sum.add(top);
    EXPECT_TRUE(equal(sum.value(), plain(residue(top) * curve::Fr::from_u64(count)))) << count;
  }
}

TEST(EvaluateEmulated, RejectsWhatDoesNotFit) {
  const TestCircuit circuit(33, 2, 1);
  const CircuitRows rows = lay_out_rows(circuit.shape, VariableMap(circuit.shape), false);
  std::vector<std::byte> memory(RowEvaluator::bytes(rows) + 256);
  EXPECT_THROW(RowEvaluator(rows, {memory.data(), RowEvaluator::bytes(rows) - 1}, {}),
               base::InvalidInput);
  const RowEvaluator evaluator(rows, {memory.data(), memory.size()}, {});
  const UploadedWitness witness(circuit.witness, {});
  std::vector<Fr> out(circuit.shape.num_rows());
  EXPECT_THROW(evaluator.run(0, witness.view(), {out.data(), out.size() - 1}, {}),
               base::InvalidInput);
  EXPECT_THROW(evaluator.run(2, witness.view(), {out.data(), out.size()}, {}), base::InvalidInput);
  EXPECT_THROW(evaluator.run(3, witness.view(), {out.data(), out.size()}, {}), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
