#pragma once

#include "curve/fr.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuzk::groth16 {

/// The evaluation domain D = {ω^i} of n = 2^log_n points, ω = root^(2^(32 - log_n)) for the field's
/// 2^32-th root of unity (params.hpp). Points are in natural order: point i is ω^i.
class Domain {
 public:
  static constexpr unsigned kMaxLog = 32;

  /// Throws InvalidInput if log_n > kMaxLog.
  explicit Domain(unsigned log_n);

  unsigned log_n() const { return log_n_; }
  std::size_t n() const { return std::size_t{1} << log_n_; }
  const curve::Fr& omega() const { return omega_; }
  const curve::Fr& omega_inverse() const { return omega_inverse_; }
  const curve::Fr& n_inverse() const { return n_inverse_; }
  /// g = 7: the coset g·D is disjoint from D.
  static const curve::Fr& coset_shift();
  static const curve::Fr& coset_shift_inverse();
  /// The vanishing polynomial t(x) = x^n - 1.
  curve::Fr vanishing(const curve::Fr& x) const;

 private:
  unsigned log_n_;
  curve::Fr omega_, omega_inverse_, n_inverse_;
};

/// The low `bits` bits of `value` in reverse order; the others must be zero. bits <= 64.
constexpr std::size_t reverse_bits(std::size_t value, unsigned bits) {
  value = (value >> 1 & 0x5555555555555555) | (value & 0x5555555555555555) << 1;
  value = (value >> 2 & 0x3333333333333333) | (value & 0x3333333333333333) << 2;
  value = (value >> 4 & 0x0f0f0f0f0f0f0f0f) | (value & 0x0f0f0f0f0f0f0f0f) << 4;
  return bits == 0 ? 0 : __builtin_bswap64(value) >> (64 - bits);
}

}  // namespace cuzk::groth16
