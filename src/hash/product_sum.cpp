#include "hash/product_sum.hpp"

#if defined(__x86_64__) && !defined(CUZK_NO_PRODUCT_SUM_ASM)
#include <cpuid.h>
#endif

namespace cuzk::hash {

#if defined(__x86_64__) && !defined(CUZK_NO_PRODUCT_SUM_ASM)

using curve::Fr;

namespace {

using Uint128 = unsigned __int128;
using FiveLimbs = std::array<std::uint64_t, 5>;

/// -r⁻¹ modulo 2^64: r = 1 - 2^32 modulo 2^64, whose inverse is 1 + 2^32 there.
constexpr std::uint64_t kMinusInverse = ~(std::uint64_t{1} + (std::uint64_t{1} << 32)) + 1;
static_assert(kMinusInverse * Fr::kModulus[0] + 1 == 0);

/// 2^shift · r
constexpr FiveLimbs modulus_times_power_of_two(unsigned shift) {
  FiveLimbs out{};
  for (int i = 0; i < 4; ++i) {
    out[i] |= Fr::kModulus[i] << shift;
    if (shift > 0) out[i + 1] = Fr::kModulus[i] >> (64 - shift);
  }
  return out;
}

/// low + a·b + carry; the high half becomes the carry.
std::uint64_t multiply_add(std::uint64_t low, std::uint64_t a, std::uint64_t b,
                           std::uint64_t& carry) {
  const Uint128 t = static_cast<Uint128>(a) * b + low + carry;
  carry = static_cast<std::uint64_t>(t >> 64);
  return static_cast<std::uint64_t>(t);
}

/// value - other if that is not negative, else value; without a branch.
void subtract_if_not_less(FiveLimbs& value, const FiveLimbs& other) {
  FiveLimbs difference;
  std::uint64_t borrow = 0;
  for (int i = 0; i < 5; ++i) {
    const Uint128 t = static_cast<Uint128>(value[i]) - other[i] - borrow;
    difference[i] = static_cast<std::uint64_t>(t);
    borrow = static_cast<std::uint64_t>(t >> 64) & 1;
  }
  const std::uint64_t keep = 0 - borrow;
  for (int i = 0; i < 5; ++i) value[i] = (value[i] & keep) | (difference[i] & ~keep);
}

}  // namespace

Fr LazyProductSum::sum() const {
  std::array<std::uint64_t, 9> t;
  for (int i = 0; i < 9; ++i) t[i] = limbs_[i];
  std::uint64_t top = 0;  // carry into limb i + 4
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t m = t[i] * kMinusInverse;
    std::uint64_t carry = 0;
    t[i] = multiply_add(t[i], m, Fr::kModulus[0], carry);
    t[i + 1] = multiply_add(t[i + 1], m, Fr::kModulus[1], carry);
    t[i + 2] = multiply_add(t[i + 2], m, Fr::kModulus[2], carry);
    t[i + 3] = multiply_add(t[i + 3], m, Fr::kModulus[3], carry);
    const Uint128 next = static_cast<Uint128>(t[i + 4]) + carry + top;
    t[i + 4] = static_cast<std::uint64_t>(next);
    top = static_cast<std::uint64_t>(next >> 64);
  }
  FiveLimbs value = {t[4], t[5], t[6], t[7], t[8] + top};
  subtract_if_not_less(value, modulus_times_power_of_two(2));
  subtract_if_not_less(value, modulus_times_power_of_two(1));
  subtract_if_not_less(value, modulus_times_power_of_two(0));
  return Fr::from_montgomery({value[0], value[1], value[2], value[3]});
}

bool lazy_products_supported() {
  constexpr unsigned kBmi2 = 1u << 8, kAdx = 1u << 19;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & kBmi2) != 0 &&
         (ebx & kAdx) != 0;
}

#else

bool lazy_products_supported() { return false; }

#endif

}  // namespace cuzk::hash
