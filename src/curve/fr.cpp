#include "curve/fr.hpp"

#include "curve/batch_invert.hpp"

#include <cstring>

namespace cuzk::curve {

namespace {

using FrLimbs = Limbs<4>;

constexpr bool less_than_modulus(const FrLimbs& value) {
  for (int i = 3; i >= 0; --i) {
    if (value[i] != Fr::kModulus[i]) return value[i] < Fr::kModulus[i];
  }
  return false;
}

FrLimbs limbs_from_bytes(std::span<const std::uint8_t, 32> bytes) {
  FrLimbs out;
  std::memcpy(out.data(), bytes.data(), 32);
  return out;
}

}  // namespace

Fr Fr::from_u64(std::uint64_t value) { return from_canonical({value, 0, 0, 0}); }

Fr Fr::from_canonical(const FrLimbs& value) {
  Fr out;
  blst_fr_from_uint64(&out.value_, value.data());
  return out;
}

std::optional<Fr> Fr::from_bytes_le(std::span<const std::uint8_t, 32> bytes) {
  const FrLimbs value = limbs_from_bytes(bytes);
  if (!less_than_modulus(value)) return std::nullopt;
  return from_canonical(value);
}

Fr Fr::from_bytes_le_reduced(std::span<const std::uint8_t, 32> bytes) {
  FrLimbs value = limbs_from_bytes(bytes);
  while (!less_than_modulus(value)) {  // at most twice: 2^256 < 3r
    unsigned __int128 borrow = 0;
    for (int i = 0; i < 4; ++i) {
      const unsigned __int128 difference =
          static_cast<unsigned __int128>(value[i]) - kModulus[i] - borrow;
      value[i] = static_cast<std::uint64_t>(difference);
      borrow = difference >> 64 & 1;
    }
  }
  return from_canonical(value);
}

Fr Fr::power_of_two(unsigned exponent) {
  if (exponent < 254) {
    FrLimbs value{};
    value[exponent / 64] = std::uint64_t{1} << exponent % 64;
    return from_canonical(value);
  }
  return power_of_two(exponent - 253) * power_of_two(253);
}

FrLimbs Fr::to_canonical() const {
  FrLimbs out;
  blst_uint64_from_fr(out.data(), &value_);
  return out;
}

base::Bytes32 Fr::to_bytes_le() const {
  const FrLimbs value = to_canonical();
  base::Bytes32 out;
  std::memcpy(out.data(), value.data(), 32);
  return out;
}

Fr Fr::inverse() const {
  Fr out;
  blst_fr_eucl_inverse(&out.value_, &value_);
  return out;
}

Fr Fr::pow(std::uint64_t exponent) const {
  Fr result = one(), base = *this;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base = base.square();
  }
  return result;
}

void batch_invert(std::span<Fr> elements) { invert_all(elements); }

}  // namespace cuzk::curve
