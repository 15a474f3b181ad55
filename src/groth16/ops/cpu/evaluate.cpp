#include "groth16/ops/evaluate.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "r1cs/variable.hpp"

#include <algorithm>
#include <vector>

namespace cuzk::groth16 {

using curve::Fr;
using r1cs::Block;
using r1cs::Column;
using r1cs::Variable;

namespace {

class RowEvaluator {
 public:
  RowEvaluator(const r1cs::Shape& shape, const VariableMap& variables, const r1cs::Witness& witness)
      : palette_(shape.palette()),
        variables_(variables),
        witness_(witness),
        is_one_(palette_.size()) {
    for (std::size_t i = 0; i < palette_.size(); ++i) is_one_[i] = palette_[i].is_one();
  }

  // Rows [first, last) of all copies of the block, counted through, for one matrix.
  void run(const Block& block, unsigned matrix, std::size_t first, std::size_t last,
           Fr* out) const {
    const r1cs::Rows& rows = block.matrices[matrix];
    std::size_t copy = first / block.constraints, row = first % block.constraints;
    auto bases = block.key_bases(static_cast<std::uint32_t>(copy));
    const std::uint32_t* ports = block.port_keys.data() + copy * block.ports;
    for (std::size_t i = first; i < last; ++i, ++row) {
      if (row == block.constraints) {
        row = 0;
        bases = block.key_bases(static_cast<std::uint32_t>(++copy));
        ports += block.ports;
      }
      Fr sum = Fr::zero();
      for (std::uint32_t term = rows.offsets[row]; term < rows.offsets[row + 1]; ++term) {
        const Column column = Column::from_word(rows.columns[term]);
        const std::uint32_t key =
            column.kind() == Column::Kind::kPort
                ? ports[column.index()]
                : bases[static_cast<unsigned>(column.kind())] + column.index();
        accumulate(sum, key, rows.coefficients[term]);
      }
      out[i] = sum;
    }
  }

 private:
  void accumulate(Fr& sum, std::uint32_t key, std::uint16_t coefficient) const {
    const Fr* value;
    if ((key & Variable::kAuxBit) == 0) {
      value = &witness_.inputs[key];
    } else {
      const std::uint32_t aux = key & ~Variable::kAuxBit;
      if (variables_.is_bit(aux)) {
        if (witness_.bit(aux)) sum += palette_[coefficient];
        return;
      }
      value = &witness_.fields[variables_.field_index(aux)];
    }
    sum += is_one_[coefficient] ? *value : *value * palette_[coefficient];
  }

  std::span<const Fr> palette_;
  const VariableMap& variables_;
  const r1cs::Witness& witness_;
  std::vector<std::uint8_t> is_one_;
};

}  // namespace

void evaluate(const r1cs::Shape& shape, const VariableMap& variables, const r1cs::Witness& witness,
              Matrix matrix, std::span<Fr> out) {
  base::require(out.size() >= shape.num_rows(), "evaluate: room for {} rows of {}", out.size(),
                shape.num_rows());
  base::require(witness.inputs.size() == shape.num_inputs() &&
                    witness.fields.size() == shape.num_fields() &&
                    witness.bits.size() == (shape.num_aux() + 63) / 64,
                "evaluate: the witness ({} inputs, {} field elements, {} words of bits) is not one "
                "of this circuit ({}, {}, {})",
                witness.inputs.size(), witness.fields.size(), witness.bits.size(),
                shape.num_inputs(), shape.num_fields(), (shape.num_aux() + 63) / 64);
  const RowEvaluator evaluator(shape, variables, witness);
  for (const Block& block : shape.blocks()) {
    if (block.constraints == 0) continue;
    Fr* const rows = out.data() + block.first_constraint;
    base::parallel_ranges(std::size_t{block.copies} * block.constraints, 512,
                          [&](std::size_t first, std::size_t last) {
                            evaluator.run(block, static_cast<unsigned>(matrix), first, last, rows);
                          });
  }
  const auto consistency = out.subspan(shape.num_constraints());
  std::fill(consistency.begin(), consistency.end(), Fr::zero());
  if (matrix == Matrix::kA)
    std::copy(witness.inputs.begin(), witness.inputs.end(), consistency.begin());
}

}  // namespace cuzk::groth16
