#include "r1cs/digest.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cuzk::r1cs {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

void stream_row(ConstraintStream& stream, const LinearCombination& lc) {
  stream.row_length(static_cast<std::uint32_t>(lc.terms().size()));
  for (const Term& term : lc.terms())
    stream.term(term.variable.key(), term.coefficient.to_bytes_le());
}

// Expands the rows of one block. Coefficients come as bytes, one entry for each of the palette.
class RowExpander {
 public:
  RowExpander(const Block& block, const std::vector<base::Bytes32>& palette,
              ConstraintStream& stream)
      : block_(block), palette_(palette), stream_(stream) {}

  void stream_copy(std::uint32_t copy) {
    bases_ = block_.key_bases(copy);
    for (std::uint32_t row = 0; row < block_.constraints; ++row) {
      for (const Rows& rows : block_.matrices) stream_row(rows, row, copy);
      stream_.end_constraint();
    }
  }

 private:
  void stream_row(const Rows& rows, std::uint32_t row, std::uint32_t copy) {
    const std::uint32_t first = rows.offsets[row], last = rows.offsets[row + 1];
    stream_.row_length(last - first);
    if (block_.ports != 0) {
      stream_row_with_ports(rows, first, last, copy);
      return;
    }
    for (std::uint32_t i = first; i < last; ++i) {
      const std::uint32_t word = rows.columns[i];
      stream_.term(bases_[word >> 29] + (word & Column::kMaxIndex), palette_[rows.coefficients[i]]);
    }
  }

  // A port may lie anywhere among the earlier variables, so the order of the terms depends on the
  // copy.
  void stream_row_with_ports(const Rows& rows, std::uint32_t first, std::uint32_t last,
                             std::uint32_t copy) {
    terms_.clear();
    for (std::uint32_t i = first; i < last; ++i) {
      terms_.emplace_back(block_.key(Column::from_word(rows.columns[i]), copy),
                          rows.coefficients[i]);
    }
    std::sort(terms_.begin(), terms_.end());
    for (const auto& [key, coefficient] : terms_) stream_.term(key, palette_[coefficient]);
  }

  const Block& block_;
  const std::vector<base::Bytes32>& palette_;
  ConstraintStream& stream_;
  std::array<std::uint32_t, Column::kKinds> bases_{};
  std::vector<std::pair<std::uint32_t, std::uint16_t>> terms_;
};

}  // namespace

ConstraintStream::ConstraintStream(std::uint64_t checkpoint_every)
    : checkpoint_every_(checkpoint_every), buffer_(kBufferBytes) {}

void ConstraintStream::flush() {
  hash_.update(base::ByteView(buffer_.data(), used_));
  used_ = 0;
}

void ConstraintStream::end_constraint() {
  ++constraints_;
  if (checkpoint_every_ == 0 || constraints_ % checkpoint_every_ != 0) return;
  checkpoints_.push_back({constraints_, digest()});
}

base::Bytes32 ConstraintStream::digest() {
  flush();
  hash::Sha256 so_far = hash_;
  return so_far.finish();
}

void DigestSystem::on_constraint(const LinearCombination& a, const LinearCombination& b,
                                 const LinearCombination& c) {
  for (const LinearCombination* lc : {&a, &b, &c}) stream_row(stream_, *lc);
  stream_.end_constraint();
}

void stream_shape(const Shape& shape, ConstraintStream& stream) {
  std::vector<base::Bytes32> palette;
  palette.reserve(shape.palette().size());
  for (const curve::Fr& coefficient : shape.palette()) palette.push_back(coefficient.to_bytes_le());
  for (const Block& block : shape.blocks()) {
    RowExpander expander(block, palette, stream);
    for (std::uint32_t copy = 0; copy < block.copies; ++copy) expander.stream_copy(copy);
  }
}

}  // namespace cuzk::r1cs
