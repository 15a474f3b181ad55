#include "groth16/ops/cuda/circuit_rows.hpp"

#include "base/error.hpp"
#include "groth16/ops/cuda/row_references.hpp"

#include <algorithm>
#include <span>

namespace cuzk::groth16::cuda {

using r1cs::Column;

namespace {

constexpr bool is_bit_ref(std::uint32_t ref) {
  const auto kind = static_cast<RefKind>(ref >> 29);
  return kind == RefKind::kBit || kind == RefKind::kCopyBit;
}

// The rows of one block of one matrix, added to those of the blocks before it.
class BlockWriter {
 public:
  BlockWriter(const r1cs::Block& block, unsigned matrix, const References& references,
              const Palette& palette, MatrixRows& out)
      : rows_(block.matrices[matrix]),
        count_(block.constraints),
        references_(references),
        palette_(palette),
        out_(out) {}

  void write() {
    const std::size_t short_slices = out_.short_slices.size(),
                      element_slices = out_.element_slices.size(),
                      long_rows = out_.long_rows.size();
    for (std::uint32_t first = 0; first < count_; first += kSliceRows) write_short_slice(first);
    write_element_slices();
    out_.blocks.push_back({IndexRange::between(short_slices, out_.short_slices.size()),
                           IndexRange::between(element_slices, out_.element_slices.size()),
                           IndexRange::between(long_rows, out_.long_rows.size())});
  }

 private:
  std::uint32_t begin(std::uint32_t row) const { return rows_.offsets[row]; }
  std::uint32_t terms(std::uint32_t row) const { return rows_.offsets[row + 1] - begin(row); }
  std::uint32_t ref(std::uint32_t term) const {
    return references_.ref(Column::from_word(rows_.columns[term]));
  }

  bool is_short(std::uint32_t row) const {
    if (terms(row) > kShortTerms) return false;
    for (std::uint32_t term = begin(row); term < rows_.offsets[row + 1]; ++term) {
      if (palette_.small[rows_.coefficients[term]] == 0 || !is_bit_ref(ref(term))) return false;
    }
    return true;
  }
  std::uint32_t short_term(std::uint32_t term) const {
    const std::uint32_t bit = ref(term);
    const auto coefficient = static_cast<std::uint32_t>(palette_.small[rows_.coefficients[term]]);
    const bool moves = static_cast<RefKind>(bit >> 29) == RefKind::kCopyBit;
    return (bit & kShortIndexMask) | (moves ? kShortMoves : 0) | coefficient << 29;
  }

  // Takes the short rows among the 32 from `first` on; files the others away.
  void write_short_slice(std::uint32_t first) {
    ShortSlice slice{first, static_cast<std::uint32_t>(out_.short_terms.size() / kSliceRows), 0, 0};
    const std::uint32_t end = std::min(first + kSliceRows, count_);
    for (std::uint32_t row = first; row < end; ++row) {
      if (is_short(row)) {
        slice.row_mask |= std::uint32_t{1} << (row - first);
        slice.terms = std::max(slice.terms, terms(row));
      } else if (terms(row) <= kElementTerms) {
        element_rows_[terms(row)].push_back(row);
      } else {
        write_long_row(row);
      }
    }
    if (slice.row_mask == 0) return;
    out_.short_slices.push_back(slice);
    const std::size_t base = out_.short_terms.size();
    out_.short_terms.resize(base + std::size_t{slice.terms} * kSliceRows);
    for (std::uint32_t row = first; row < end; ++row) {
      if ((slice.row_mask >> (row - first) & 1) == 0) continue;
      for (std::uint32_t k = 0; k < terms(row); ++k) {
        out_.short_terms[base + k * kSliceRows + (row - first)] = short_term(begin(row) + k);
      }
    }
  }

  void write_long_row(std::uint32_t row) {
    out_.long_rows.push_back({row, static_cast<std::uint32_t>(out_.long_refs.size()), terms(row)});
    for (std::uint32_t term = begin(row); term < rows_.offsets[row + 1]; ++term) {
      out_.long_refs.push_back(ref(term));
      out_.long_coefficients.push_back(palette_.index[rows_.coefficients[term]]);
    }
  }

  // By length, so that the rows of a slice have as many terms, but for one slice a length.
  void write_element_slices() {
    std::vector<std::uint32_t> all;
    for (const std::vector<std::uint32_t>& rows : element_rows_)
      all.insert(all.end(), rows.begin(), rows.end());
    for (std::size_t first = 0; first < all.size(); first += kSliceRows) {
      const std::size_t size = std::min<std::size_t>(kSliceRows, all.size() - first);
      write_element_slice({all.data() + first, size});
    }
  }
  void write_element_slice(std::span<const std::uint32_t> rows) {
    const std::uint32_t longest = terms(rows.back());
    const std::size_t base = out_.element_refs.size();
    out_.element_slices.push_back({static_cast<std::uint32_t>(base / kSliceRows), longest});
    out_.element_refs.resize(base + std::size_t{longest} * kSliceRows);
    out_.element_coefficients.resize(out_.element_refs.size(), kNoTerm);
    for (std::size_t lane = 0; lane < kSliceRows; ++lane) {
      out_.element_rows.push_back(lane < rows.size() ? rows[lane] : kNoRow);
      if (lane >= rows.size()) continue;
      for (std::uint32_t k = 0; k < terms(rows[lane]); ++k) {
        const std::uint32_t term = begin(rows[lane]) + k;
        out_.element_refs[base + k * kSliceRows + lane] = ref(term);
        out_.element_coefficients[base + k * kSliceRows + lane] =
            palette_.index[rows_.coefficients[term]];
      }
    }
  }

  const r1cs::Rows& rows_;
  std::uint32_t count_;
  const References& references_;
  const Palette& palette_;
  MatrixRows& out_;
  std::array<std::vector<std::uint32_t>, kElementTerms + 1> element_rows_;  // by length
};

// Bit l of word s: row 32·s + l of the block is short.
std::vector<std::uint32_t> short_row_masks(const MatrixRows& matrix, const IndexRange& slices,
                                           std::uint32_t rows) {
  std::vector<std::uint32_t> masks((rows + kSliceRows - 1) / kSliceRows);
  for (std::uint32_t i = 0; i < slices.count; ++i) {
    const ShortSlice& slice = matrix.short_slices[slices.first + i];
    masks[slice.first_row / kSliceRows] = slice.row_mask;
  }
  return masks;
}

void list_wide_rows(std::size_t block, CircuitRows& out) {
  CircuitRows::Block& b = out.blocks[block];
  const std::size_t first = out.wide_rows.size();
  std::array<std::vector<std::uint32_t>, 2> masks;
  for (unsigned m = 0; m < 2; ++m) {
    const MatrixRows& matrix = out.matrices[m];
    masks[m] = short_row_masks(matrix, matrix.blocks[block].short_slices, b.rows);
  }
  for (std::uint32_t row = 0; row < b.rows; ++row) {
    const std::size_t word = row / kSliceRows;
    if (((masks[0][word] & masks[1][word]) >> row % kSliceRows & 1) == 0)
      out.wide_rows.push_back(row);
  }
  b.wide_rows = IndexRange::between(first, out.wide_rows.size());
}

}  // namespace

std::size_t CircuitRows::wide_row_count() const {
  std::size_t count = num_inputs;
  for (const Block& block : blocks) count += std::size_t{block.copies} * block.wide_rows.count;
  return count;
}

CircuitRows lay_out_rows(const r1cs::Shape& shape, const VariableMap& variables, bool with_c) {
  base::require(shape.num_rows() < std::uint64_t{1} << 32,
                "circuit of {} rows: the device takes fewer than 2^32", shape.num_rows());
  base::require(std::max<std::uint64_t>(std::uint64_t{shape.num_aux()},
                                        std::uint64_t{shape.num_inputs()} + shape.num_fields()) <
                    kShortIndexMask - 64,
                "circuit of {} aux variables and {} inputs: the device takes fewer than 2^28 - 64",
                shape.num_aux(), shape.num_inputs());
  Palette palette(shape.palette());
  CircuitRows out;
  out.num_inputs = shape.num_inputs();
  out.num_constraints = static_cast<std::uint32_t>(shape.num_constraints());
  for (const r1cs::Block& block : shape.blocks()) {
    if (block.copies == 0 || block.constraints == 0) continue;
    const References references(shape, variables, block);
    out.blocks.push_back({block.copies,
                          block.constraints,
                          block.aux,
                          block.inputs,
                          block.fields,
                          block.ports,
                          static_cast<std::uint32_t>(block.first_constraint),
                          out.port_refs.size(),
                          {}});
    for (const std::uint32_t key : block.port_keys) out.port_refs.push_back(references.of_key(key));
    for (unsigned m = 0; m < (with_c ? 3U : 2U); ++m)
      BlockWriter(block, m, references, palette, out.matrices[m]).write();
    list_wide_rows(out.blocks.size() - 1, out);
  }
  out.palette = std::move(palette.factors);
  return out;
}

}  // namespace cuzk::groth16::cuda
