#include "r1cs/implied_fields.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "r1cs/field_numbers.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace cuzk::r1cs {

using curve::Fr;

namespace {

bool is_set(const std::vector<std::uint64_t>& words, std::uint32_t i) {
  return (words[i / 64] >> i % 64 & 1) != 0;
}
void set(std::vector<std::uint64_t>& words, std::uint32_t i) {
  words[i / 64] |= std::uint64_t{1} << i % 64;
}

bool is_repeated(const Block& block) { return block.copies >= 2 && block.fields > 0; }

bool is_one(Column column) { return column.kind() == Column::Kind::kInput && column.index() == 0; }

/// What one copy of a block implies.
class Analysis {
 public:
  Analysis(const Shape& shape, const Block& block)
      : palette_(shape.palette()),
        block_(block),
        numbers_(block.bit_mask),
        known_((block.fields + 63) / 64),
        implied_((block.fields + 63) / 64),
        chain_of_(block.fields) {
    std::iota(chain_of_.begin(), chain_of_.end(), 0U);
  }

  ImpliedFields::Block run() {
    for (std::uint32_t row = 0; row < block_.constraints; ++row) read(row);
    ImpliedFields::Block out;
    out.given = block_.fields - static_cast<std::uint32_t>(steps_.size());
    if (steps_.empty()) return out;
    // Chains in the order of their first steps.
    std::stable_sort(steps_.begin(), steps_.end(), [&](const auto& a, const auto& b) {
      return first_of_chain(a.field) < first_of_chain(b.field);
    });
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      if (i == 0 || first_of_chain(steps_[i].field) != first_of_chain(steps_[i - 1].field))
        out.chains.push_back(i);
    }
    out.chains.push_back(static_cast<std::uint32_t>(steps_.size()));
    out.implied = std::move(implied_);
    out.steps = std::move(steps_);
    return out;
  }

 private:
  template <class Visit>
  void for_each_term(unsigned matrix, std::uint32_t row, Visit&& visit) const {
    const Rows& rows = block_.matrices[matrix];
    for (std::uint32_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i)
      visit(Column::from_word(rows.columns[i]), palette_[rows.coefficients[i]]);
  }
  /// Number of the copy's field that the column is.
  std::optional<std::uint32_t> field(Column column) const {
    if (column.kind() != Column::Kind::kLocalAux || numbers_.is_bit(column.index()))
      return std::nullopt;
    return numbers_.number(column.index());
  }
  /// Over the copy's aux variables and ONE.
  bool is_usable(std::uint32_t row) const {
    bool usable = true;
    for (unsigned matrix = 0; matrix < 3; ++matrix) {
      for_each_term(matrix, row, [&](Column column, const Fr&) {
        usable &= column.kind() == Column::Kind::kLocalAux || is_one(column);
      });
    }
    return usable;
  }

  void read(std::uint32_t row) {
    for (unsigned matrix = 0; matrix < 2; ++matrix) {
      for_each_term(matrix, row, [&](Column column, const Fr&) {
        if (const auto f = field(column)) set(known_, *f);
      });
    }
    std::optional<ImpliedFields::Step> step;
    std::uint32_t unknown = 0;
    for_each_term(2, row, [&](Column column, const Fr& coefficient) {
      const auto f = field(column);
      if (!f || is_set(known_, *f)) return;
      ++unknown;
      if (coefficient.is_one() || (-coefficient).is_one())
        step = ImpliedFields::Step{row, *f, !coefficient.is_one()};
    });
    if (unknown == 1 && step && is_usable(row)) {
      set(implied_, step->field);
      for (unsigned matrix = 0; matrix < 3; ++matrix) {
        for_each_term(matrix, row, [&](Column column, const Fr&) {
          if (const auto f = field(column); f && is_set(implied_, *f)) join(*f, step->field);
        });
      }
      steps_.push_back(*step);
    }
    for_each_term(2, row, [&](Column column, const Fr&) {
      if (const auto f = field(column)) set(known_, *f);
    });
  }

  // Chains as sets of fields, each named by the one with the lowest number.
  std::uint32_t first_of_chain(std::uint32_t field) {
    while (chain_of_[field] != field) field = chain_of_[field] = chain_of_[chain_of_[field]];
    return field;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = first_of_chain(a), second = first_of_chain(b);
    chain_of_[std::max(first, second)] = std::min(first, second);
  }

  std::span<const Fr> palette_;
  const Block& block_;
  FieldNumbers numbers_;
  std::vector<std::uint64_t> known_, implied_;
  std::vector<std::uint32_t> chain_of_;
  std::vector<ImpliedFields::Step> steps_;
};

/// The values of one copy.
class CopyValues {
 public:
  CopyValues(const Shape& shape, const Block& block, const FieldNumbers& numbers,
             std::uint32_t copy, Witness& witness)
      : palette_(shape.palette()),
        block_(block),
        numbers_(numbers),
        copy_(copy),
        witness_(witness) {}

  Fr& field(std::uint32_t number) {
    return witness_.fields[block_.first_field + std::size_t{copy_} * block_.fields + number];
  }
  void solve(const ImpliedFields::Step& step) {
    field(step.field) = Fr::zero();
    const Fr rest = sum(0, step.row) * sum(1, step.row) - sum(2, step.row);
    field(step.field) = step.negative ? -rest : rest;
  }

 private:
  Fr sum(unsigned matrix, std::uint32_t row) {
    const Rows& rows = block_.matrices[matrix];
    Fr total;
    for (std::uint32_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i)
      add_term(total, Column::from_word(rows.columns[i]), palette_[rows.coefficients[i]]);
    return total;
  }
  void add_term(Fr& total, Column column, const Fr& coefficient) {
    const std::uint32_t index = column.index();
    if (!is_one(column) && !numbers_.is_bit(index)) {
      total += coefficient * field(numbers_.number(index));
    } else if (is_one(column) || witness_.bit(block_.first_aux + copy_ * block_.aux + index)) {
      total += coefficient;
    }
  }

  std::span<const Fr> palette_;
  const Block& block_;
  const FieldNumbers& numbers_;
  std::uint32_t copy_;
  Witness& witness_;
};

void require_witness(const Shape& shape, const Witness& witness, std::size_t fields) {
  base::require(witness.inputs.size() == shape.num_inputs() && witness.fields.size() == fields &&
                    witness.bits.size() == (std::size_t{shape.num_aux()} + 63) / 64,
                "witness of {} inputs, {} field elements and {} words of bits: the circuit has {}, "
                "{} and {}",
                witness.inputs.size(), witness.fields.size(), witness.bits.size(),
                shape.num_inputs(), fields, (std::size_t{shape.num_aux()} + 63) / 64);
}

/// Calls move(index among all fields, index among the given ones) for every given field; the copies
/// of a block in parallel.
template <class Move>
void for_each_given(const Shape& shape, const ImpliedFields& implied, Move&& move) {
  for (std::size_t b = 0; b < shape.blocks().size(); ++b) {
    const Block& block = shape.blocks()[b];
    const ImpliedFields::Block& mine = implied.blocks()[b];
    const std::vector<std::uint32_t> given = mine.given_fields(block.fields);
    base::parallel_for(block.copies, [&](std::size_t copy) {
      for (std::size_t i = 0; i < given.size(); ++i) {
        move(block.first_field + copy * block.fields + given[i],
             mine.first_given + copy * mine.given + i);
      }
    });
  }
}

}  // namespace

std::size_t ImpliedFields::Block::count_implied(std::size_t first, std::size_t count) const {
  std::size_t ones = 0;
  for (std::size_t at = first; at < first + count;) {
    const std::size_t word = at / 64;
    if (word >= implied.size()) break;
    const std::size_t length = std::min(first + count - at, 64 - at % 64);
    const std::uint64_t wanted = ~std::uint64_t{0} >> (64 - length) << at % 64;
    ones += static_cast<std::size_t>(std::popcount(implied[word] & wanted));
    at += length;
  }
  return ones;
}

std::vector<std::uint32_t> ImpliedFields::Block::given_fields(std::uint32_t fields) const {
  std::vector<std::uint32_t> out;
  out.reserve(given);
  for (std::uint32_t i = 0; i < fields; ++i) {
    if (implied.empty() || !is_set(implied, i)) out.push_back(i);
  }
  return out;
}

ImpliedFields::ImpliedFields(const Shape& shape) : num_fields_(shape.num_fields()) {
  for (const r1cs::Block& block : shape.blocks()) {
    Block found;
    if (is_repeated(block)) {
      found = Analysis(shape, block).run();
    } else {
      found.given = block.fields;
    }
    found.first_given = num_given_;
    num_given_ += block.copies * found.given;
    blocks_.push_back(std::move(found));
  }
}

Witness complete(const Shape& shape, const ImpliedFields& implied, const Witness& given) {
  require_witness(shape, given, implied.num_given());
  Witness whole{given.inputs, given.bits, {}};
  whole.fields.resize(shape.num_fields());
  for_each_given(shape, implied, [&](std::size_t field, std::size_t number) {
    whole.fields[field] = given.fields[number];
  });
  for (std::size_t b = 0; b < shape.blocks().size(); ++b) {
    const Block& block = shape.blocks()[b];
    const ImpliedFields::Block& mine = implied.blocks()[b];
    if (mine.steps.empty()) continue;
    const FieldNumbers numbers(block.bit_mask);
    const std::size_t chains = mine.chains.size() - 1;
    base::parallel_for(block.copies * chains, [&](std::size_t task) {
      CopyValues values(shape, block, numbers, static_cast<std::uint32_t>(task / chains), whole);
      const std::size_t chain = task % chains;
      for (std::uint32_t i = mine.chains[chain]; i < mine.chains[chain + 1]; ++i)
        values.solve(mine.steps[i]);
    });
  }
  return whole;
}

Witness leave_out_implied(const Shape& shape, const ImpliedFields& implied, const Witness& whole) {
  require_witness(shape, whole, shape.num_fields());
  Witness given{whole.inputs, whole.bits, {}};
  given.fields.resize(implied.num_given());
  for_each_given(shape, implied, [&](std::size_t field, std::size_t number) {
    given.fields[number] = whole.fields[field];
  });
  return given;
}

}  // namespace cuzk::r1cs
