#pragma once

#include "curve/params.hpp"

#include <blst.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace cuzk::curve {

/// The base field of BLS12-381: integers modulo p = (z - 1)²·r/3 + z, 381 bits in six 64-bit limbs,
/// least significant first; Montgomery form (x·2^384 mod p) throughout. Plain value; threads may
/// share const objects.
class Fp {
 public:
  static constexpr int kNumBits = 381;
  static constexpr std::size_t kBytes = 48;

  constexpr Fp() : value_{} {}

  static constexpr Fp zero() { return {}; }
  static constexpr Fp one() { return from_montgomery(kFpField.one); }
  static constexpr Fp from_u64(std::uint64_t value) {
    return from_montgomery(kFpField.from_u64(value));
  }
  /// The element whose Montgomery limbs are these; they must be below p.
  static constexpr Fp from_montgomery(const Limbs<6>& limbs) {
    Fp out;
    for (int i = 0; i < 6; ++i) out.value_.l[i] = limbs[i];
    return out;
  }

  Limbs<6> to_canonical() const {
    Limbs<6> out;
    blst_uint64_from_fp(out.data(), &value_);
    return out;
  }
  /// The Montgomery limbs, least significant first.
  const std::uint64_t* limbs() const { return value_.l; }
  std::uint64_t* limbs() { return value_.l; }

  bool is_zero() const {
    return (value_.l[0] | value_.l[1] | value_.l[2] | value_.l[3] | value_.l[4] | value_.l[5]) == 0;
  }

  friend Fp operator+(const Fp& a, const Fp& b) {
    Fp out;
    blst_fp_add(&out.value_, &a.value_, &b.value_);
    return out;
  }
  friend Fp operator-(const Fp& a, const Fp& b) {
    Fp out;
    blst_fp_sub(&out.value_, &a.value_, &b.value_);
    return out;
  }
  friend Fp operator*(const Fp& a, const Fp& b) {
    Fp out;
    blst_fp_mul(&out.value_, &a.value_, &b.value_);
    return out;
  }
  Fp operator-() const {
    Fp out;
    blst_fp_cneg(&out.value_, &value_, true);
    return out;
  }
  Fp& operator+=(const Fp& other) { return *this = *this + other; }
  Fp& operator-=(const Fp& other) { return *this = *this - other; }
  Fp& operator*=(const Fp& other) { return *this = *this * other; }
  Fp square() const {
    Fp out;
    blst_fp_sqr(&out.value_, &value_);
    return out;
  }
  Fp doubled() const { return *this + *this; }
  /// 1/x; zero for zero. Not in constant time.
  Fp inverse() const {
    Fp out;
    blst_fp_eucl_inverse(&out.value_, &value_);
    return out;
  }

  friend bool operator==(const Fp& a, const Fp& b) {
    std::uint64_t difference = 0;
    for (int i = 0; i < 6; ++i) difference |= a.value_.l[i] ^ b.value_.l[i];
    return difference == 0;
  }

  const blst_fp* blst() const { return &value_; }
  blst_fp* blst() { return &value_; }

 private:
  blst_fp value_;
};

static_assert(sizeof(Fp) == 48 && std::is_trivially_copyable_v<Fp>);

}  // namespace cuzk::curve
