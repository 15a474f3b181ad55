#include "groth16/ops/cuda/completion_rows.hpp"

#include "base/error.hpp"
#include "curve/device/fr_mul.hpp"
#include "groth16/ops/cuda/row_references.hpp"

#include <algorithm>
#include <span>

namespace cuzk::groth16::cuda {

using r1cs::Column;
using r1cs::ImpliedFields;

namespace {

/// Adds the steps of one block to those of the blocks before it.
class StepWriter {
 public:
  StepWriter(const r1cs::Block& block, const References& references, const Palette& palette,
             std::uint32_t one, CompletionRows& out)
      : block_(block), references_(references), palette_(palette), one_(one), out_(out) {}

  void write(const ImpliedFields::Step& step) {
    CompletionStep out{static_cast<std::uint32_t>(out_.refs.size()),
                       references_.of_field(step.field),
                       {},
                       step.negative ? 1U : 0U};
    // Without B there is no product, whatever A is.
    const bool product = !is_empty(1, step.row);
    for (unsigned matrix = product ? 0 : 2; matrix < 3; ++matrix)
      out.terms[matrix] = write_terms(matrix, step.row, out.result);
    out_.steps.push_back(out);
  }

 private:
  bool is_empty(unsigned matrix, std::uint32_t row) const {
    const r1cs::Rows& rows = block_.matrices[matrix];
    return rows.offsets[row] == rows.offsets[row + 1];
  }
  TermCounts write_terms(unsigned matrix, std::uint32_t row, std::uint32_t result) {
    const r1cs::Rows& rows = block_.matrices[matrix];
    const std::uint32_t first = rows.offsets[row], last = rows.offsets[row + 1];
    base::require(last - first < 65536, "constraint of {} terms: the device takes 65,535",
                  last - first);
    TermCounts counts;
    const std::size_t begin = out_.refs.size();
    for (const bool products : {true, false}) {
      for (std::uint32_t term = first; term < last; ++term) {
        const std::uint32_t ref = references_.ref(Column::from_word(rows.columns[term]));
        const std::uint16_t coefficient = palette_.index[rows.coefficients[term]];
        const bool product = (ref & kRefElement) != 0 && coefficient > kMinusOne;
        // C's term of the result itself is what is solved for.
        if (product != products || (matrix == 2 && ref == result)) continue;
        out_.refs.push_back(ref);
        out_.coefficients.push_back(coefficient);
        ++(product ? counts.products : counts.others);
      }
    }
    if (matrix == 1 && is_one(begin)) {
      out_.refs.resize(begin);
      out_.coefficients.resize(begin);
      return {};
    }
    return counts;
  }
  /// Whether the terms from `begin` on are the variable ONE.
  bool is_one(std::size_t begin) const {
    return out_.refs.size() == begin + 1 && out_.refs.back() == one_ &&
           out_.coefficients.back() == kPlusOne;
  }

  const r1cs::Block& block_;
  const References& references_;
  const Palette& palette_;
  std::uint32_t one_;
  CompletionRows& out_;
};

}  // namespace

CompletionRows lay_out_completion(const r1cs::Shape& shape, const VariableMap& variables,
                                  const ImpliedFields& implied) {
  Palette palette(shape.palette());
  CompletionRows out;
  for (std::size_t b = 0; b < shape.blocks().size(); ++b) {
    const r1cs::Block& block = shape.blocks()[b];
    if (block.copies == 0 || block.fields == 0) continue;
    const ImpliedFields::Block& mine = implied.blocks()[b];
    const References references(shape, variables, block);
    const std::size_t first_given = out.given.size(), first_chain = out.chains.size(),
                      first_step = out.steps.size();
    for (const std::uint32_t field : mine.given_fields(block.fields))
      out.given.push_back(references.of_field(field));
    StepWriter writer(block, references, palette, references.of_key(r1cs::Variable::one().key()),
                      out);
    for (const ImpliedFields::Step& step : mine.steps) writer.write(step);
    for (const std::uint32_t chain : mine.chains)
      out.chains.push_back(static_cast<std::uint32_t>(first_step) + chain);
    IndexRange chains = IndexRange::between(first_chain, out.chains.size());
    if (chains.count > 0) --chains.count;  // the last entry is an end
    out.blocks.push_back({block.copies, block.aux, block.fields,
                          IndexRange::between(first_given, out.given.size()), mine.first_given,
                          chains});
  }
  out.palette = std::move(palette.factors);
  out.palette.push_back(curve::device::make_factor(curve::device::Fr::montgomery_one()));
  return out;
}

}  // namespace cuzk::groth16::cuda
