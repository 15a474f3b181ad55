#include "groth16/variables.hpp"

namespace cuzk::groth16 {

using curve::Fr;

namespace {

std::vector<std::uint64_t> all_bits(std::size_t count) {
  std::vector<std::uint64_t> out((count + 63) / 64, ~std::uint64_t{0});
  if (count % 64 != 0) out.back() = (std::uint64_t{1} << count % 64) - 1;
  return out;
}

std::vector<std::uint32_t> set_bits(std::span<const std::uint64_t> words) {
  std::vector<std::uint32_t> out;
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (std::uint64_t left = words[word]; left != 0; left &= left - 1) {
      out.push_back(
          static_cast<std::uint32_t>(64 * word + static_cast<unsigned>(std::countr_zero(left))));
    }
  }
  return out;
}

QueryLayout make_query(const VariableMap& variables, std::span<const std::uint64_t> inputs,
                       std::span<const std::uint64_t> aux) {
  QueryLayout out;
  out.inputs = set_bits(inputs);
  out.aux_mask.assign(aux.begin(), aux.end());
  out.bit_mask.resize(aux.size());
  std::vector<std::uint64_t> others(aux.size());
  for (std::size_t word = 0; word < aux.size(); ++word) {
    out.bit_mask[word] = aux[word] & variables.bit_mask()[word];
    others[word] = aux[word] & ~variables.bit_mask()[word];
    out.bit_count += static_cast<std::size_t>(std::popcount(out.bit_mask[word]));
  }
  out.fields = set_bits(others);
  for (std::uint32_t& aux_index : out.fields) aux_index = variables.field_index(aux_index);
  return out;
}

// Of all variables, from those of each block's copies.
std::vector<std::uint64_t> whole_bit_mask(const r1cs::Shape& shape) {
  std::vector<std::uint64_t> out((std::size_t{shape.num_aux()} + 63) / 64);
  for (const r1cs::Block& block : shape.blocks()) {
    for (std::uint32_t copy = 0; copy < block.copies; ++copy) {
      const std::size_t first = block.first_aux + std::size_t{copy} * block.aux;
      for (std::size_t word = 0; 64 * word < block.aux; ++word) {
        const std::uint64_t bits = block.bit_mask[word];
        const std::size_t position = first + 64 * word;
        out[position / 64] |= bits << position % 64;
        const std::uint64_t high = position % 64 == 0 ? 0 : bits >> (64 - position % 64);
        if (high != 0) out[position / 64 + 1] |= high;
      }
    }
  }
  return out;
}

}  // namespace

VariableMap::VariableMap(const r1cs::Shape& shape)
    : num_aux_(shape.num_aux()), numbers_(whole_bit_mask(shape)) {
  const std::uint32_t last = num_aux_ - 1;
  num_fields_ = num_aux_ == 0 ? 0 : numbers_.number(last) + (numbers_.is_bit(last) ? 0 : 1);
}

std::vector<Fr> QueryLayout::scalars(const r1cs::Witness& witness) const {
  std::vector<Fr> out;
  out.reserve(field_count());
  for (const std::uint32_t input : inputs) out.push_back(witness.inputs[input]);
  for (const std::uint32_t field : fields) out.push_back(witness.fields[field]);
  return out;
}

KeyLayout::KeyLayout(const r1cs::Shape& shape, QuotientForm quotient_form)
    : form(quotient_form),
      variables(shape),
      num_inputs(shape.num_inputs()),
      num_rows(shape.num_rows()),
      domain_log2(shape.domain_log2()) {
  const bool derivative = form == QuotientForm::kDerivative;
  h_count = derivative ? num_rows : (std::size_t{1} << domain_log2) - 1;
  const r1cs::Densities densities = shape.densities();
  const std::vector<std::uint64_t> all_inputs = all_bits(num_inputs),
                                   all_aux = all_bits(shape.num_aux());
  l = make_query(
      variables,
      derivative ? std::span<const std::uint64_t>(all_inputs) : std::span<const std::uint64_t>(),
      all_aux);
  a = make_query(variables, all_inputs, densities.a_aux);
  b = make_query(variables, densities.b_input, densities.b_aux);
}

}  // namespace cuzk::groth16
