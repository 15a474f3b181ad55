#include "r1cs/shape_builder.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace cuzk::r1cs {

namespace {

struct RowVectors {
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<std::uint16_t> coefficients;

  Rows view() const { return {offsets, columns, coefficients}; }
};

struct BlockVectors {
  std::array<RowVectors, 3> matrices;
  std::vector<std::uint64_t> bit_mask;
  std::vector<std::uint32_t> port_keys;
};

}  // namespace

struct ShapeBuilder::Storage {
  std::vector<std::unique_ptr<BlockVectors>> vectors;
  std::vector<Block> blocks;
};

struct ShapeBuilder::OpenBlock {
  Block block;
  std::unique_ptr<BlockVectors> vectors = std::make_unique<BlockVectors>();
};

ShapeBuilder::ShapeBuilder() : storage_(std::make_unique<Storage>()) { open_block(); }
ShapeBuilder::~ShapeBuilder() = default;

void ShapeBuilder::open_block() {
  open_ = std::make_unique<OpenBlock>();
  Block& block = open_->block;
  block.first_input = num_inputs();
  block.first_aux = num_aux();
  block.first_field = num_fields_;
  block.first_constraint = num_constraints();
}

// Sets what the first copy (or the straight run) took and files the block, unless it is empty.
void ShapeBuilder::close_block(std::uint32_t copies) {
  Block& block = open_->block;
  const bool empty = block.constraints == 0 && block.aux == 0 && block.inputs == 0;
  if (!empty) {
    BlockVectors& vectors = *open_->vectors;
    for (unsigned m = 0; m < 3; ++m) {
      vectors.matrices[m].columns.shrink_to_fit();
      vectors.matrices[m].coefficients.shrink_to_fit();
      vectors.matrices[m].offsets.shrink_to_fit();
      block.matrices[m] = vectors.matrices[m].view();
    }
    block.copies = copies;
    block.bit_mask = vectors.bit_mask;
    block.port_keys = vectors.port_keys;
    num_fields_ = block.first_field + copies * block.fields;
    storage_->blocks.push_back(block);
    storage_->vectors.push_back(std::move(open_->vectors));
  }
  open_.reset();
}

void ShapeBuilder::on_aux(std::uint32_t index, bool is_bit) {
  Block& block = open_->block;
  if (mode_ == Mode::kSecondCopy) {
    const std::uint32_t local = second_copy_aux_++;
    const auto& mask = open_->vectors->bit_mask;
    const bool first_is_bit = local < block.aux && (mask[local / 64] >> local % 64 & 1) != 0;
    if (local >= block.aux || first_is_bit != is_bit) {
      throw std::logic_error(fmt::format(
          "repeat: aux variable {} of the second copy differs in kind from the first's", local));
    }
    return;
  }
  const std::uint32_t local = index - block.first_aux;
  auto& mask = open_->vectors->bit_mask;
  if (local / 64 >= mask.size()) mask.push_back(0);
  if (is_bit) {
    mask[local / 64] |= std::uint64_t{1} << local % 64;
  } else {
    ++block.fields;
  }
  block.aux = local + 1;
}

Column ShapeBuilder::column_of(Variable variable) const {
  const std::uint32_t index = variable.index();
  base::require(index <= Column::kMaxIndex, "circuit too large: variable {}", index);
  if (mode_ != Mode::kStraight) {
    const std::uint32_t first_of_copy = variable.is_aux() ? copy_first_aux_ : copy_first_input_;
    const std::uint32_t first_of_block =
        variable.is_aux() ? open_->block.first_aux : open_->block.first_input;
    if (index >= first_of_copy) {
      return {variable.is_aux() ? Column::Kind::kLocalAux : Column::Kind::kLocalInput,
              index - first_of_copy};
    }
    if (index >= first_of_block)
      throw std::logic_error("repeat: a copy uses a variable of another copy");
    if (!port_numbers_.empty()) {
      if (const auto port = port_numbers_.find(variable.key()); port != port_numbers_.end()) {
        return {Column::Kind::kPort, port->second};
      }
    }
  }
  return {variable.is_aux() ? Column::Kind::kAux : Column::Kind::kInput, index};
}

std::uint16_t ShapeBuilder::palette_index(const curve::Fr& coefficient) {
  const auto [entry, is_new] =
      palette_indices_.try_emplace(coefficient, static_cast<std::uint16_t>(palette_.size()));
  if (is_new) {
    base::require(palette_.size() <= std::numeric_limits<std::uint16_t>::max(),
                  "circuit has more than 65,536 coefficients");
    palette_.push_back(coefficient);
  }
  return entry->second;
}

// The row in stored form, sorted by column word (ports may come in another order than their keys).
void ShapeBuilder::encode_row(const LinearCombination& lc) {
  row_.clear();
  for (const Term& term : lc.terms())
    row_.emplace_back(column_of(term.variable).word(), palette_index(term.coefficient));
  if (!port_numbers_.empty()) std::sort(row_.begin(), row_.end());
}

void ShapeBuilder::compare_row(unsigned matrix, const LinearCombination& lc) {
  encode_row(lc);
  const RowVectors& stored = open_->vectors->matrices[matrix];
  std::uint32_t& cursor = cursor_[matrix];
  bool equal = compared_rows_ < open_->block.constraints &&
               cursor + row_.size() == stored.offsets[compared_rows_ + 1];
  for (const auto& [column, coefficient] : row_) {
    equal = equal && stored.columns[cursor] == column && stored.coefficients[cursor] == coefficient;
    ++cursor;
  }
  if (!equal)
    throw std::logic_error(fmt::format(
        "repeat: the second copy's constraint {} differs from the first's", compared_rows_));
}

void ShapeBuilder::on_constraint(const LinearCombination& a, const LinearCombination& b,
                                 const LinearCombination& c) {
  const std::array<const LinearCombination*, 3> row = {&a, &b, &c};
  for (unsigned m = 0; m < 3; ++m) {
    if (mode_ == Mode::kSecondCopy) {
      compare_row(m, *row[m]);
      continue;
    }
    encode_row(*row[m]);
    RowVectors& rows = open_->vectors->matrices[m];
    for (const auto& [column, coefficient] : row_) {
      rows.columns.push_back(column);
      rows.coefficients.push_back(coefficient);
    }
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.columns.size()));
  }
  if (mode_ == Mode::kSecondCopy) {
    ++compared_rows_;
  } else {
    ++open_->block.constraints;
  }
}

void ShapeBuilder::set_ports(const std::vector<Variable>& ports) {
  port_numbers_.clear();
  for (std::uint32_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].is_aux() || ports[i].index() >= open_->block.first_aux ||
        !port_numbers_.emplace(ports[i].key(), i).second) {
      throw std::logic_error("repeat: ports must be distinct aux variables from before the repeat");
    }
  }
}

void ShapeBuilder::on_repeat(std::size_t n, const PortsFunction& ports, const CopyFunction& copy) {
  if (mode_ != Mode::kStraight || n < 2) {
    for (std::size_t i = 0; i < n; ++i) copy(i);
    return;
  }
  open_->block.inputs = num_inputs() - open_->block.first_input;
  close_block(1);
  open_block();
  Block& block = open_->block;
  mode_ = Mode::kFirstCopy;
  copy_first_input_ = block.first_input;
  copy_first_aux_ = block.first_aux;
  set_ports(ports(0));
  block.ports = static_cast<std::uint32_t>(port_numbers_.size());
  copy(0);
  block.inputs = num_inputs() - block.first_input;

  mode_ = Mode::kSecondCopy;
  copy_first_input_ = num_inputs();
  copy_first_aux_ = num_aux();
  second_copy_aux_ = compared_rows_ = 0;
  cursor_ = {};
  set_ports(ports(1));
  copy(1);
  if (compared_rows_ != block.constraints || second_copy_aux_ != block.aux ||
      num_inputs() - copy_first_input_ != block.inputs) {
    throw std::logic_error("repeat: the second copy is shorter than the first");
  }
  skip((n - 2) * block.inputs, (n - 2) * std::uint64_t{block.aux},
       (n - 2) * std::uint64_t{block.constraints});

  for (std::size_t i = 0; i < n; ++i) {
    set_ports(ports(i));
    if (port_numbers_.size() != block.ports)
      throw std::logic_error("repeat: copies have different numbers of ports");
    for (const Variable port : ports(i)) open_->vectors->port_keys.push_back(port.key());
  }
  port_numbers_.clear();
  close_block(static_cast<std::uint32_t>(n));
  mode_ = Mode::kStraight;
  open_block();
}

Shape ShapeBuilder::finish() {
  open_->block.inputs = num_inputs() - open_->block.first_input;
  close_block(1);
  std::vector<Block> blocks = std::move(storage_->blocks);
  return Shape({.inputs = num_inputs(),
                .aux = num_aux(),
                .fields = num_fields_,
                .constraints = num_constraints()},
               std::move(blocks), std::move(palette_),
               std::shared_ptr<const void>(std::move(storage_)));
}

}  // namespace cuzk::r1cs
