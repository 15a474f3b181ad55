#include "groth16/ops/cuda/row_references.hpp"

#include "base/error.hpp"
#include "curve/device/fr_mul.hpp"
#include "r1cs/variable.hpp"

#include <cstring>

namespace cuzk::groth16::cuda {

using curve::device::Fr;
using r1cs::Column;
using r1cs::Variable;

namespace {

constexpr std::uint32_t make_ref(RefKind kind, std::uint32_t index) {
  return static_cast<std::uint32_t>(kind) << 29 | index;
}

Fr plain(const curve::Fr& x) {
  const auto canonical = x.to_canonical();
  Fr out;
  static_assert(sizeof(canonical) == sizeof(out));
  std::memcpy(out.limbs, canonical.data(), sizeof(out));
  return out;
}

std::int8_t small_value(const curve::Fr& value) {
  for (std::uint64_t k = 1; k <= 4; ++k) {
    if (k < 4 && value == curve::Fr::from_u64(k)) return static_cast<std::int8_t>(k);
    if (value == -curve::Fr::from_u64(k)) return static_cast<std::int8_t>(-static_cast<int>(k));
  }
  return 0;
}

}  // namespace

Palette::Palette(std::span<const curve::Fr> shape_palette) {
  base::require(shape_palette.size() + 2 < kNoTerm,
                "circuit of {} different coefficients: the device takes {}", shape_palette.size(),
                kNoTerm - 3);
  const curve::Fr one = curve::Fr::one();
  for (const curve::Fr& value : {one, -one}) add(value);
  for (const curve::Fr& value : shape_palette) {
    if (value == one || value == -one) {
      index.push_back(value == one ? kPlusOne : kMinusOne);
    } else {
      index.push_back(static_cast<std::uint16_t>(factors.size()));
      add(value);
    }
    small.push_back(small_value(value));
  }
}

void Palette::add(const curve::Fr& value) {
  factors.push_back(curve::device::make_factor(plain(value)));
}

std::uint32_t References::ref(Column column) const {
  const std::uint32_t index = column.index();
  switch (column.kind()) {
    case Column::Kind::kInput:
      return of_key(index);
    case Column::Kind::kLocalInput:
      return make_ref(RefKind::kCopyInput, block_.first_input + index);
    case Column::Kind::kAux:
      return of_key(Variable::kAuxBit | index);
    case Column::Kind::kPort:
      return make_ref(RefKind::kPort, index);
    case Column::Kind::kLocalAux:
      break;
  }
  return numbers_.is_bit(index) ? make_ref(RefKind::kCopyBit, block_.first_aux + index)
                                : of_field(numbers_.number(index));
}

std::uint32_t References::of_key(std::uint32_t key) const {
  const Variable variable = Variable::from_key(key);
  if (!variable.is_aux()) {
    return key == Variable::one().key()
               ? make_ref(RefKind::kBit, one_bit_index(variables_.num_aux()))
               : make_ref(RefKind::kElement, variable.index());
  }
  const std::uint32_t aux = variable.index();
  return variables_.is_bit(aux)
             ? make_ref(RefKind::kBit, aux)
             : make_ref(RefKind::kElement, num_inputs_ + variables_.field_index(aux));
}

std::uint32_t References::of_field(std::uint32_t number) const {
  return make_ref(RefKind::kCopyField, num_inputs_ + block_.first_field + number);
}

}  // namespace cuzk::groth16::cuda
