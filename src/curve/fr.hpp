#pragma once

#include "base/bytes.hpp"
#include "curve/params.hpp"

#include <blst.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuzk::curve {

/// The scalar field of BLS12-381: integers modulo
///   r = z⁴ - z² + 1 = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001, z =
///   -0xd201000000010000.
/// 255 bits in four 64-bit limbs, least significant first; Montgomery form (x·2^256 mod r)
/// throughout. Plain value, no invariants beyond limbs() < r; threads may share const objects.
class Fr {
 public:
  /// Bits of r, and the bits that always fit: any integer of kCapacity bits is below r.
  static constexpr int kNumBits = 255;
  static constexpr int kCapacity = 254;
  static constexpr std::size_t kBytes = 32;
  /// r as an integer.
  static constexpr std::array<std::uint64_t, 4> kModulus = {0xffffffff00000001, 0x53bda402fffe5bfe,
                                                            0x3339d80809a1d805, 0x73eda753299d7d48};

  constexpr Fr() : value_{} {}

  static constexpr Fr zero() { return {}; }
  /// The element whose Montgomery limbs are these; they must be below r.
  static constexpr Fr from_montgomery(const std::array<std::uint64_t, 4>& limbs) {
    Fr out;
    for (int i = 0; i < 4; ++i) out.value_.l[i] = limbs[i];
    return out;
  }
  static const Fr& one();
  static Fr from_u64(std::uint64_t value);
  /// `value` must be below r (not checked; use from_bytes_le for input).
  static Fr from_canonical(const std::array<std::uint64_t, 4>& value);
  /// Empty unless the 32 little-endian bytes are an integer below r.
  static std::optional<Fr> from_bytes_le(std::span<const std::uint8_t, 32> bytes);
  /// The 32 little-endian bytes modulo r.
  static Fr from_bytes_le_reduced(std::span<const std::uint8_t, 32> bytes);
  /// 2^exponent.
  static Fr power_of_two(unsigned exponent);

  std::array<std::uint64_t, 4> to_canonical() const;
  base::Bytes32 to_bytes_le() const;
  /// The Montgomery limbs, least significant first.
  const std::uint64_t* limbs() const { return value_.l; }

  bool is_zero() const { return (value_.l[0] | value_.l[1] | value_.l[2] | value_.l[3]) == 0; }
  bool is_one() const { return *this == one(); }

  friend Fr operator+(const Fr& a, const Fr& b) {
    Fr out;
    blst_fr_add(&out.value_, &a.value_, &b.value_);
    return out;
  }
  friend Fr operator-(const Fr& a, const Fr& b) {
    Fr out;
    blst_fr_sub(&out.value_, &a.value_, &b.value_);
    return out;
  }
  friend Fr operator*(const Fr& a, const Fr& b) {
    Fr out;
    blst_fr_mul(&out.value_, &a.value_, &b.value_);
    return out;
  }
  Fr operator-() const {
    Fr out;
    blst_fr_cneg(&out.value_, &value_, true);
    return out;
  }
  Fr& operator+=(const Fr& other) { return *this = *this + other; }
  Fr& operator-=(const Fr& other) { return *this = *this - other; }
  Fr& operator*=(const Fr& other) { return *this = *this * other; }
  Fr square() const {
    Fr out;
    blst_fr_sqr(&out.value_, &value_);
    return out;
  }
  Fr doubled() const { return *this + *this; }
  /// 1/x; zero for zero.
  Fr inverse() const;
  Fr pow(std::uint64_t exponent) const;

  friend bool operator==(const Fr& a, const Fr& b) {
    return ((a.value_.l[0] ^ b.value_.l[0]) | (a.value_.l[1] ^ b.value_.l[1]) |
            (a.value_.l[2] ^ b.value_.l[2]) | (a.value_.l[3] ^ b.value_.l[3])) == 0;
  }

  const blst_fr* blst() const { return &value_; }
  blst_fr* blst() { return &value_; }

 private:
  blst_fr value_;
};

static_assert(Fr::kModulus == kFrField.modulus);

namespace detail {
inline constexpr Fr kFrOne = Fr::from_montgomery(kFrField.one);
}  // namespace detail

inline const Fr& Fr::one() { return detail::kFrOne; }

static_assert(sizeof(Fr) == 32 && std::is_trivially_copyable_v<Fr>);

/// Of to_bytes_le(), as the file formats spell elements.
inline std::string to_hex(const Fr& value) { return base::to_hex(value.to_bytes_le()); }

/// Replaces every element by its inverse with one inversion and 3(n-1) multiplications; zeros stay
/// zero.
void batch_invert(std::span<Fr> elements);

}  // namespace cuzk::curve
