#include "groth16/row_offsets.hpp"

#include "base/parallel.hpp"
#include "groth16/ops/ntt.hpp"

#include <array>
#include <memory>
#include <utility>

namespace cuzk::groth16 {

namespace {

using curve::Fr;
using r1cs::Block;
using r1cs::Column;
using r1cs::Rows;

constexpr std::size_t kRowGrain = 4096;
constexpr std::uint32_t kOneWord = Column(Column::Kind::kInput, 0).word();

class OffsetRule {
 public:
  explicit OffsetRule(const r1cs::Shape& shape) {
    for (const Fr& factor : shape.palette()) is_one_.push_back(factor.is_one());
  }

  bool holds(const Block& block, std::uint32_t row) const {
    const auto& [a, b, c] = block.matrices;
    if (c.offsets[row] != c.offsets[row + 1]) return false;
    for (std::uint32_t term = b.offsets[row]; term < b.offsets[row + 1]; ++term) {
      if (b.columns[term] == kOneWord) return false;
    }
    for (std::uint32_t term = a.offsets[row]; term < a.offsets[row + 1]; ++term) {
      if (a.columns[term] == kOneWord) return is_one_[a.coefficients[term]];
    }
    return false;
  }

 private:
  std::vector<bool> is_one_;
};

// Appends runs of bits.
class BitWriter {
 public:
  explicit BitWriter(std::size_t bits) : words_((bits + 63) / 64) {}

  // `words` are zero beyond the last of the `bits`.
  void append(const std::vector<std::uint64_t>& words, std::size_t bits) {
    for (std::size_t done = 0; done < bits; done += 64) {
      const std::size_t at = position_ + done;
      const std::uint64_t word = words[done / 64];
      words_[at / 64] |= word << at % 64;
      const std::uint64_t high = at % 64 == 0 ? 0 : word >> (64 - at % 64);
      if (high != 0) words_[at / 64 + 1] |= high;
    }
    position_ += bits;
  }
  std::vector<std::uint64_t> take() { return std::move(words_); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t position_ = 0;
};

struct StoredRows {
  std::vector<std::uint32_t> offsets, columns;
  std::vector<std::uint16_t> coefficients;

  Rows view() const { return {offsets, columns, coefficients}; }
};

StoredRows less_offsets(const OffsetRule& rule, const Block& block) {
  const Rows& a = block.matrices[0];
  StoredRows out;
  out.offsets.push_back(0);
  for (std::uint32_t row = 0; row < block.constraints; ++row) {
    const bool drop_one = rule.holds(block, row);
    for (std::uint32_t term = a.offsets[row]; term < a.offsets[row + 1]; ++term) {
      if (drop_one && a.columns[term] == kOneWord) continue;
      out.columns.push_back(a.columns[term]);
      out.coefficients.push_back(a.coefficients[term]);
    }
    out.offsets.push_back(static_cast<std::uint32_t>(out.columns.size()));
  }
  return out;
}

bool is_set(std::span<const std::uint64_t> bits, std::size_t i) {
  return i / 64 < bits.size() && (bits[i / 64] >> i % 64 & 1) != 0;
}

// n·intt, then element k times factor(k)/n, then ntt; natural order.
template <class Factor>
void transform_and_back(const Domain& domain, std::span<Fr> values, Factor&& factor) {
  intt_unscaled(domain, values);
  base::parallel_ranges(values.size(), kRowGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      values[i] *= Fr::from_u64(factor(reverse_bits(i, domain.log_n()))) * domain.n_inverse();
  });
  ntt_from_bit_reversed(domain, values);
}

}  // namespace

std::vector<std::uint64_t> row_offsets(const r1cs::Shape& shape) {
  const OffsetRule rule(shape);
  BitWriter writer(shape.num_rows());
  for (const Block& block : shape.blocks()) {
    std::vector<std::uint64_t> pattern((block.constraints + 63) / 64);
    for (std::uint32_t row = 0; row < block.constraints; ++row) {
      if (rule.holds(block, row)) pattern[row / 64] |= std::uint64_t{1} << row % 64;
    }
    for (std::uint32_t copy = 0; copy < block.copies; ++copy)
      writer.append(pattern, block.constraints);
  }
  return writer.take();
}

r1cs::Shape less_row_offsets(const r1cs::Shape& shape) {
  struct Storage {
    r1cs::Shape original;
    std::vector<StoredRows> a;
  };
  const auto storage = std::make_shared<Storage>(Storage{shape, {}});
  const OffsetRule rule(shape);
  for (const Block& block : shape.blocks()) storage->a.push_back(less_offsets(rule, block));
  std::vector<Block> blocks(shape.blocks().begin(), shape.blocks().end());
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].matrices[0] = storage->a[i].view();
  return r1cs::Shape({.inputs = shape.num_inputs(),
                      .aux = shape.num_aux(),
                      .fields = shape.num_fields(),
                      .constraints = shape.num_constraints()},
                     std::move(blocks), {shape.palette().begin(), shape.palette().end()}, storage);
}

r1cs::Shape evaluated_circuit(const r1cs::Shape& shape, const KeyLayout& layout) {
  return layout.form == QuotientForm::kDerivative ? less_row_offsets(shape) : shape;
}

base::LargeArray<Fr> offset_derivative(const Domain& domain,
                                       std::span<const std::uint64_t> offsets) {
  base::LargeArray<Fr> out(domain.n());
  base::parallel_ranges(out.size(), kRowGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (is_set(offsets, i)) out[i] = Fr::one();
    }
  });
  transform_and_back(domain, {out.data(), out.size()}, [](std::uint64_t k) { return k; });
  return out;
}

// D = N·diag(k)·N⁻¹ with N_ik = ω^(ik) symmetric, so Dᵗ = N⁻¹·diag(k)·N. As N is n·N⁻¹ with k and
// -k mod n exchanged, Dᵗ = N·diag(-k mod n)·N⁻¹.
base::LargeArray<Fr> transposed_derivative(const Domain& domain,
                                           std::span<const std::uint64_t> offsets,
                                           std::span<const Fr> q) {
  base::LargeArray<Fr> out(domain.n());
  base::parallel_ranges(q.size(), kRowGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (is_set(offsets, i)) out[i] = q[i];
    }
  });
  const std::uint64_t n = domain.n();
  transform_and_back(domain, {out.data(), out.size()},
                     [n](std::uint64_t k) { return k == 0 ? 0 : n - k; });
  return out;
}

}  // namespace cuzk::groth16
