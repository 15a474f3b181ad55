#include "r1cs/witness_builder.hpp"

namespace cuzk::r1cs {

WitnessBuilder::WitnessBuilder(const Shape& shape, const ImpliedFields* left_out)
    : shape_(&shape),
      left_out_(left_out),
      witness_(&owned_),
      end_input_(shape.num_inputs()),
      end_field_(left_out == nullptr ? shape.num_fields() : left_out->num_given()),
      end_aux_(shape.num_aux()) {
  owned_.inputs.resize(shape.num_inputs());
  owned_.inputs[0] = curve::Fr::one();
  owned_.bits.resize((std::size_t{shape.num_aux()} + 63) / 64);
  owned_.fields.resize(end_field_);
}

WitnessBuilder::WitnessBuilder(const WitnessBuilder& parent, std::size_t block, std::uint32_t copy)
    : shape_(parent.shape_),
      left_out_(parent.left_out_),
      witness_(parent.witness_),
      is_copy_(true) {
  const Block& its = shape_->blocks()[block];
  if (left_out_ != nullptr && !left_out_->blocks()[block].steps.empty())
    implied_ = &left_out_->blocks()[block];
  input_ = its.first_input + copy * its.inputs;
  field_ = first_field_of(block) + copy * fields_of(block);
  aux_ = its.first_aux + copy * its.aux;
  end_input_ = input_ + its.inputs;
  end_field_ = field_ + fields_of(block);
  end_aux_ = aux_ + its.aux;
  first_word_ = aux_ / 64;
}

std::uint32_t WitnessBuilder::fields_of(std::size_t block) const {
  return left_out_ == nullptr ? shape_->blocks()[block].fields : left_out_->blocks()[block].given;
}
std::uint32_t WitnessBuilder::first_field_of(std::size_t block) const {
  return left_out_ == nullptr ? shape_->blocks()[block].first_field
                              : left_out_->blocks()[block].first_given;
}

bool WitnessBuilder::leave_out_implied(std::size_t count) {
  if (implied_->count_implied(copy_field_, count) == 0) return false;
  if (implied_->count_implied(copy_field_, count) != count)
    throw std::logic_error("witness: variables of which some are left out and some are not");
  copy_field_ += static_cast<std::uint32_t>(count);
  advance_fields(count);
  return true;
}

void WitnessBuilder::throw_overrun() {
  throw std::logic_error("witness: the circuit allocates more than its shape");
}

void WitnessBuilder::expect_filled() const {
  if (input_ != end_input_ || field_ != end_field_ || aux_ != end_aux_) {
    throw std::logic_error("witness: the circuit allocates less than its shape");
  }
}

std::size_t WitnessBuilder::enter_repeat(std::size_t copies) {
  const auto blocks = shape_->blocks();
  while (next_block_ < blocks.size() && blocks[next_block_].copies == 1) ++next_block_;
  if (next_block_ == blocks.size() || blocks[next_block_].copies != copies ||
      blocks[next_block_].first_aux != aux_ || blocks[next_block_].first_input != input_ ||
      first_field_of(next_block_) != field_) {
    throw std::logic_error("witness: the circuit repeats what its shape does not");
  }
  return next_block_++;
}

void WitnessBuilder::leave_repeat(std::size_t block) {
  const Block& its = shape_->blocks()[block];
  input_ += its.copies * its.inputs;
  field_ += its.copies * fields_of(block);
  aux_ += its.copies * its.aux;
  first_word_ = aux_ / 64;
}

Witness WitnessBuilder::finish() {
  flush();
  expect_filled();
  return std::move(owned_);
}

}  // namespace cuzk::r1cs
