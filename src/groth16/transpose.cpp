#include "groth16/transpose.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "r1cs/variable.hpp"

#include <algorithm>
#include <vector>

namespace cuzk::groth16 {

using curve::Fr;
using r1cs::Block;
using r1cs::Column;

namespace {

bool is_local(Column column) {
  return column.kind() == Column::Kind::kLocalInput || column.kind() == Column::Kind::kLocalAux;
}

// Copies of a block share no local variable, so they add to those at the same time. What they add
// to other variables is kept apart for each copy and joined afterwards.
class TransposedProduct {
 public:
  TransposedProduct(const r1cs::Shape& shape, Matrix matrix, std::span<const Fr> rows,
                    std::span<Fr> out)
      : shape_(shape), matrix_(static_cast<unsigned>(matrix)), rows_(rows), out_(out) {
    const Fr minus_one = -Fr::one();
    for (const Fr& factor : shape.palette()) {
      kinds_.push_back(factor.is_one()       ? FactorKind::kOne
                       : factor == minus_one ? FactorKind::kMinusOne
                                             : FactorKind::kOther);
    }
  }

  void add(const Block& block) const {
    if (block.copies == 1) {
      add_copy(block, 0, [&](Column column) -> Fr& { return target(block, column, 0); });
      return;
    }
    const std::vector<std::uint32_t> shared = shared_columns(block);
    std::vector<std::vector<Fr>> sums(block.copies);
    base::parallel_tasks(block.copies, [&](std::size_t task) {
      const auto copy = static_cast<std::uint32_t>(task);
      std::vector<Fr> own(shared.size());
      add_copy(block, copy, [&](Column column) -> Fr& {
        if (is_local(column)) return target(block, column, copy);
        const auto found = std::lower_bound(shared.begin(), shared.end(), column.word());
        return own[static_cast<std::size_t>(found - shared.begin())];
      });
      sums[task] = std::move(own);
    });
    for (std::uint32_t copy = 0; copy < block.copies; ++copy) {
      for (std::size_t i = 0; i < shared.size(); ++i)
        target(block, Column::from_word(shared[i]), copy) += sums[copy][i];
    }
  }

 private:
  enum class FactorKind : std::uint8_t { kOne, kMinusOne, kOther };

  Fr& target(const Block& block, Column column, std::uint32_t copy) const {
    const auto variable = r1cs::Variable::from_key(block.key(column, copy));
    return out_[variable.is_aux() ? shape_.num_inputs() + std::size_t{variable.index()}
                                  : variable.index()];
  }

  std::vector<std::uint32_t> shared_columns(const Block& block) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t word : block.matrices[matrix_].columns) {
      // ONE is in many rows: once is enough.
      if (!is_local(Column::from_word(word)) && (out.empty() || out.back() != word))
        out.push_back(word);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  template <class Target>
  void add_copy(const Block& block, std::uint32_t copy, Target&& target_of) const {
    const r1cs::Rows& rows = block.matrices[matrix_];
    const Fr* values =
        rows_.data() + block.first_constraint + std::uint64_t{copy} * block.constraints;
    for (std::uint32_t row = 0; row < block.constraints; ++row) {
      const Fr& value = values[row];
      for (std::uint32_t term = rows.offsets[row]; term < rows.offsets[row + 1]; ++term) {
        Fr& sum = target_of(Column::from_word(rows.columns[term]));
        const std::uint16_t factor = rows.coefficients[term];
        switch (kinds_[factor]) {
          case FactorKind::kOne:
            sum += value;
            break;
          case FactorKind::kMinusOne:
            sum -= value;
            break;
          case FactorKind::kOther:
            sum += shape_.palette()[factor] * value;
            break;
        }
      }
    }
  }

  const r1cs::Shape& shape_;
  unsigned matrix_;
  std::span<const Fr> rows_;
  std::span<Fr> out_;
  std::vector<FactorKind> kinds_;
};

}  // namespace

void add_transposed_product(const r1cs::Shape& shape, Matrix matrix, std::span<const Fr> rows,
                            std::span<Fr> out) {
  base::require(rows.size() >= shape.num_constraints() &&
                    out.size() == shape.num_inputs() + std::size_t{shape.num_aux()},
                "transposed product: {} rows and {} variables, the circuit has {} and {}",
                rows.size(), out.size(), shape.num_constraints(),
                shape.num_inputs() + std::size_t{shape.num_aux()});
  const TransposedProduct product(shape, matrix, rows, out);
  for (const Block& block : shape.blocks()) product.add(block);
}

}  // namespace cuzk::groth16
