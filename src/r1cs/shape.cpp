#include "r1cs/shape.hpp"

#include <algorithm>
#include <bit>

namespace cuzk::r1cs {

namespace {

std::uint64_t count_ones(const std::vector<std::uint64_t>& words) {
  std::uint64_t count = 0;
  for (const std::uint64_t word : words) count += static_cast<std::uint64_t>(std::popcount(word));
  return count;
}

std::vector<std::uint64_t> bitmap(std::uint64_t bits) {
  return std::vector<std::uint64_t>((bits + 63) / 64);
}

void set_bit(std::vector<std::uint64_t>& words, std::uint32_t index) {
  words[index / 64] |= std::uint64_t{1} << index % 64;
}

// Marks every variable that occurs in the rows, over all copies of the block. The rows are read
// once: what is local is marked for the first copy and then repeated.
void mark(const Block& block, const Rows& rows, std::vector<std::uint64_t>* inputs,
          std::vector<std::uint64_t>& aux) {
  std::vector<std::uint64_t> local_inputs = bitmap(block.inputs), local_aux = bitmap(block.aux),
                             ports = bitmap(block.ports);
  for (const std::uint32_t word : rows.columns) {
    const Column column = Column::from_word(word);
    switch (column.kind()) {
      case Column::Kind::kInput:
        if (inputs != nullptr) set_bit(*inputs, column.index());
        break;
      case Column::Kind::kLocalInput:
        set_bit(local_inputs, column.index());
        break;
      case Column::Kind::kAux:
        set_bit(aux, column.index());
        break;
      case Column::Kind::kPort:
        set_bit(ports, column.index());
        break;
      case Column::Kind::kLocalAux:
        set_bit(local_aux, column.index());
        break;
    }
  }
  const auto is_set = [](const std::vector<std::uint64_t>& words, std::uint32_t i) {
    return (words[i / 64] >> i % 64 & 1) != 0;
  };
  for (std::uint32_t copy = 0; copy < block.copies; ++copy) {
    for (std::uint32_t i = 0; i < block.inputs; ++i) {
      if (inputs != nullptr && is_set(local_inputs, i))
        set_bit(*inputs, block.first_input + copy * block.inputs + i);
    }
    for (std::uint32_t i = 0; i < block.aux; ++i) {
      if (is_set(local_aux, i)) set_bit(aux, block.first_aux + copy * block.aux + i);
    }
    for (std::uint32_t i = 0; i < block.ports; ++i) {
      if (is_set(ports, i))
        set_bit(aux, Variable::from_key(block.port_keys[copy * block.ports + i]).index());
    }
  }
}

}  // namespace

std::array<std::uint32_t, Column::kKinds> Block::key_bases(std::uint32_t copy) const {
  return {0, first_input + copy * inputs, Variable::kAuxBit, 0,
          Variable::kAuxBit + first_aux + copy * aux};
}

std::uint32_t Block::key(Column column, std::uint32_t copy) const {
  if (column.kind() == Column::Kind::kPort) return port_keys[copy * ports + column.index()];
  return key_bases(copy)[static_cast<unsigned>(column.kind())] + column.index();
}

Shape::Shape(Counts counts, std::vector<Block> blocks, std::vector<curve::Fr> palette,
             std::shared_ptr<const void> storage)
    : counts_(counts),
      blocks_(std::move(blocks)),
      palette_(std::move(palette)),
      storage_(std::move(storage)) {}

unsigned Shape::domain_log2() const {
  return static_cast<unsigned>(std::bit_width(num_rows() - 1));
}

Densities Shape::densities() const {
  Densities out{bitmap(counts_.aux), bitmap(counts_.inputs), bitmap(counts_.aux)};
  for (const Block& block : blocks_) {
    mark(block, block.matrices[0], nullptr, out.a_aux);
    mark(block, block.matrices[1], &out.b_input, out.b_aux);
  }
  out.a_aux_count = count_ones(out.a_aux);
  out.b_input_count = count_ones(out.b_input);
  out.b_aux_count = count_ones(out.b_aux);
  return out;
}

std::array<std::uint64_t, 3> Shape::nnz() const {
  std::array<std::uint64_t, 3> out{};
  for (const Block& block : blocks_) {
    for (unsigned m = 0; m < 3; ++m)
      out[m] += std::uint64_t{block.matrices[m].columns.size()} * block.copies;
  }
  return out;
}

std::array<std::uint32_t, 3> Shape::longest_row() const {
  std::array<std::uint32_t, 3> out{};
  for (const Block& block : blocks_) {
    for (unsigned m = 0; m < 3; ++m) {
      const auto& offsets = block.matrices[m].offsets;
      for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
        out[m] = std::max(out[m], offsets[row + 1] - offsets[row]);
    }
  }
  return out;
}

}  // namespace cuzk::r1cs
