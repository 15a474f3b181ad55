#pragma once

#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/evaluate.cuh"
#include "groth16/ops/cuda/residue.hpp"
#include "groth16/ops/cuda/test_circuit.hpp"
#include "r1cs/evaluate.hpp"

#include <algorithm>
#include <string>
#include <vector>

/// Evaluation of circuits with every kind of row, column and coefficient against the definition.
namespace cuzk::groth16::cuda::checks {

struct EvaluateCase {
  std::uint32_t rows;    // of each of the circuit's blocks
  std::uint32_t copies;  // of its repeated block
  std::uint64_t seed;
};

inline std::vector<EvaluateCase> evaluate_cases() {
  return {{1, 0, 1},   {1, 1, 2},   {31, 1, 3},  {32, 2, 4}, {33, 3, 5},
          {257, 5, 6}, {12, 32, 7}, {12, 33, 8}, {20, 65, 9}};
}

/// A witness in device memory, as WitnessView wants it.
struct UploadedWitness {
  UploadedWitness(const r1cs::Witness& witness, base::cuda::StreamRef stream)
      : elements(witness.inputs.size() + witness.fields.size(), "elements"),
        bits(2 * witness.bits.size() + 2, "bits") {
    std::vector<Fr> values;
    for (const curve::Fr& x : witness.inputs) values.push_back(plain(x));
    for (const curve::Fr& x : witness.fields) values.push_back(plain(x));
    elements.upload(values, stream);
    std::vector<std::uint64_t> words = witness.bits;
    words.push_back(1);
    base::cuda::copy_bytes(bits.data(), words.data(), 8 * words.size(), stream);
    base::cuda::synchronize(stream);
  }
  WitnessView view() const { return {elements.data(), bits.data()}; }

  base::cuda::DeviceBuffer<Fr> elements;
  base::cuda::DeviceBuffer<std::uint32_t> bits;
};

/// Rows of matrix m over the domain, consistency rows and zeros included.
inline std::vector<Fr> wanted_rows(const TestCircuit& circuit, unsigned m) {
  std::vector<curve::Fr> aux;
  r1cs::for_each_aux(circuit.shape, circuit.witness,
                     [&](std::uint32_t, const curve::Fr& value) { aux.push_back(value); });
  std::vector<Fr> rows;
  r1cs::evaluate_rows(circuit.shape, m, circuit.witness.inputs, aux,
                      [&](const curve::Fr& value) { rows.push_back(plain(value)); });
  for (const curve::Fr& input : circuit.witness.inputs)
    rows.push_back(m == 0 ? plain(input) : Fr::zero());
  rows.resize(std::size_t{1} << circuit.shape.domain_log2());
  return rows;
}

/// Whether row `row` of a block is one that must not be given as a byte, from the definition.
inline bool is_wide(const TestCircuit& circuit, const VariableMap& variables,
                    const r1cs::Block& block, std::uint32_t row) {
  for (unsigned m = 0; m < 2; ++m) {
    const r1cs::Rows& rows = block.matrices[m];
    if (rows.offsets[row + 1] - rows.offsets[row] > 3) return true;
    for (std::uint32_t term = rows.offsets[row]; term < rows.offsets[row + 1]; ++term) {
      const r1cs::Column column = r1cs::Column::from_word(rows.columns[term]);
      const r1cs::Variable variable = r1cs::Variable::from_key(block.key(column, 0));
      const bool bit = variable.is_aux() ? variables.is_bit(variable.index())
                                         : variable.key() == r1cs::Variable::one().key();
      const curve::Fr shifted =
          circuit.shape.palette()[rows.coefficients[term]] + curve::Fr::from_u64(4);
      const auto limbs = shifted.to_canonical();
      const bool small = limbs[0] < 8 && (limbs[1] | limbs[2] | limbs[3]) == 0;
      if (!bit || !small || column.kind() == r1cs::Column::Kind::kPort) return true;
    }
  }
  return false;
}
inline std::vector<std::uint32_t> wanted_wide_rows(const TestCircuit& circuit) {
  const VariableMap variables(circuit.shape);
  std::vector<std::uint32_t> wide;
  std::uint32_t first = 0;
  for (const r1cs::Block& block : circuit.shape.blocks()) {
    if (block.copies == 0) continue;
    std::vector<std::uint32_t> of_copy;
    for (std::uint32_t row = 0; row < block.constraints; ++row) {
      if (is_wide(circuit, variables, block, row)) of_copy.push_back(row);
    }
    for (std::uint32_t copy = 0; copy < block.copies; ++copy, first += block.constraints) {
      for (const std::uint32_t row : of_copy) wide.push_back(first + row);
    }
  }
  for (std::uint32_t i = 0; i < circuit.shape.num_inputs(); ++i) wide.push_back(first + i);
  return wide;
}

inline std::string check_codes(const TestCircuit& circuit, const RowEvaluator& evaluator,
                               const UploadedWitness& witness, base::cuda::StreamRef stream) {
  const std::vector<Fr> wanted[2] = {wanted_rows(circuit, 0), wanted_rows(circuit, 1)};
  const std::vector<std::uint32_t> wanted_wide = wanted_wide_rows(circuit);
  const std::size_t n = wanted[0].size();
  if (evaluator.wide_row_count() != wanted_wide.size()) return "the number of wide rows is wrong";
  const Guarded<Fr> a(n, "a", stream), b(n, "b", stream);
  const Guarded<std::int8_t> code_a(n, "codes", stream), code_b(n, "codes", stream);
  const Guarded<WideRow> wide(wanted_wide.size(), "wide rows", stream);
  evaluator.run_codes(witness.view(), a.span(), b.span(), code_a.span(), code_b.span(), wide.span(),
                      stream);
  const std::vector<Fr> values[2] = {a.download(), b.download()};
  const std::vector<std::int8_t> codes[2] = {code_a.download(), code_b.download()};
  const std::vector<WideRow> list = wide.download();
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_wide_row = next < wanted_wide.size() && wanted_wide[next] == i;
    for (unsigned m = 0; m < 2; ++m) {
      const int code = codes[m][i];
      const Fr value = is_wide_row ? values[m][i] : curve::device::fr_from_small(code);
      const bool kind_is_right = (code == kWideCode) == is_wide_row;
      if (!kind_is_right || !equal(value, wanted[m][i]))
        return "code of row " + std::to_string(i) + " of matrix " + std::to_string(m) + " is wrong";
    }
    if (!is_wide_row) continue;
    const WideRow& row = list[next++];
    if (row.row != i || !equal(row.a, wanted[0][i]) || !equal(row.b, wanted[1][i]))
      return "wide row " + std::to_string(i) + " is wrong";
  }
  if (a.broken() || b.broken() || code_a.broken() || code_b.broken() || wide.broken())
    return "codes were written beyond their memory";
  return {};
}

inline std::string check_evaluate(const EvaluateCase& c, base::cuda::StreamRef stream) {
  const TestCircuit circuit(c.rows, c.copies, c.seed);
  const std::string name =
      std::to_string(c.rows) + " rows, " + std::to_string(c.copies) + " copies";
  const VariableMap variables(circuit.shape);
  const CircuitRows rows = lay_out_rows(circuit.shape, variables, true);
  const Guarded<std::byte> memory(RowEvaluator::bytes(rows), "rows of a circuit", stream);
  const RowEvaluator evaluator(rows, memory.span(), stream);
  base::cuda::synchronize(stream);
  const UploadedWitness witness(circuit.witness, stream);
  for (unsigned m = 0; m < 3; ++m) {
    const std::vector<Fr> wanted = wanted_rows(circuit, m);
    const Guarded<Fr> out(wanted.size(), "rows", stream);
    evaluator.run(m, witness.view(), out.span(), stream);
    const std::vector<Fr> got = out.download();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!equal(got[i], wanted[i]))
        return "row " + std::to_string(i) + " of matrix " + std::to_string(m) +
               " is wrong: " + name;
    }
    if (out.broken()) return "an evaluation wrote beyond its memory: " + name;
  }
  const std::string failure = check_codes(circuit, evaluator, witness, stream);
  if (!failure.empty()) return failure + ": " + name;
  if (memory.broken()) return "the rows of a circuit were written beyond their memory: " + name;
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
