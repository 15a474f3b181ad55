#include "r1cs/witness_builder.hpp"

namespace cuzk::r1cs {

WitnessBuilder::WitnessBuilder(const Shape& shape)
    : shape_(&shape),
      witness_(&owned_),
      end_input_(shape.num_inputs()),
      end_field_(shape.num_fields()),
      end_aux_(shape.num_aux()) {
  owned_.inputs.resize(shape.num_inputs());
  owned_.inputs[0] = curve::Fr::one();
  owned_.bits.resize((std::size_t{shape.num_aux()} + 63) / 64);
  owned_.fields.resize(shape.num_fields());
}

WitnessBuilder::WitnessBuilder(const WitnessBuilder& parent, const Block& block, std::uint32_t copy)
    : shape_(parent.shape_),
      witness_(parent.witness_),
      is_copy_(true),
      input_(block.first_input + copy * block.inputs),
      field_(block.first_field + copy * block.fields),
      aux_(block.first_aux + copy * block.aux),
      end_input_(input_ + block.inputs),
      end_field_(field_ + block.fields),
      end_aux_(aux_ + block.aux),
      first_word_(aux_ / 64) {}

void WitnessBuilder::throw_overrun() {
  throw std::logic_error("witness: the circuit allocates more than its shape");
}

void WitnessBuilder::expect_filled() const {
  if (input_ != end_input_ || field_ != end_field_ || aux_ != end_aux_) {
    throw std::logic_error("witness: the circuit allocates less than its shape");
  }
}

const Block& WitnessBuilder::enter_repeat(std::size_t copies) {
  const auto blocks = shape_->blocks();
  while (next_block_ < blocks.size() && blocks[next_block_].copies == 1) ++next_block_;
  if (next_block_ == blocks.size() || blocks[next_block_].copies != copies ||
      blocks[next_block_].first_aux != aux_ || blocks[next_block_].first_input != input_ ||
      blocks[next_block_].first_field != field_) {
    throw std::logic_error("witness: the circuit repeats what its shape does not");
  }
  return blocks[next_block_++];
}

void WitnessBuilder::leave_repeat(const Block& block) {
  input_ += block.copies * block.inputs;
  field_ += block.copies * block.fields;
  aux_ += block.copies * block.aux;
  first_word_ = aux_ / 64;
}

Witness WitnessBuilder::finish() {
  flush();
  expect_filled();
  return std::move(owned_);
}

}  // namespace cuzk::r1cs
