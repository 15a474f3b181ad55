#pragma once

#include "curve/fr.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::groth16 {

/// Scalars recoded so that every digit can be read on its own, without a carry from below.
/// A scalar k is first halved in range: where k > r/2, -k is taken and the point negated. With
/// windows of c bits and W = ⌈255/c⌉ of them, k + Σ_{w < W-1} 2^(cw + c - 1) has in window w < W-1
/// the signed digit plus 2^(c-1), and in the top window the digit itself, which lies in [0,
/// 2^(c-1)].
class SignedDigits {
 public:
  /// Scalars in Montgomery form. In parallel.
  SignedDigits(std::span<const curve::Fr> scalars, unsigned window_bits);

  unsigned windows() const { return windows_; }
  std::size_t size() const { return recoded_.size(); }
  /// Digit w of scalar i, in [-2^(c-1), 2^(c-1)].
  std::int32_t digit(std::size_t i, unsigned w) const {
    const Recoded& value = recoded_[i];
    const unsigned bit = w * window_bits_, word = bit / 64, shift = bit % 64;
    std::uint64_t window = value[word] >> shift;
    if (shift + window_bits_ > 64 && word + 1 < value.size())
      window |= value[word + 1] << (64 - shift);
    const bool negative = (value[3] & kSignBit) != 0;
    std::int32_t out;
    if (w + 1 == windows_) {
      out = static_cast<std::int32_t>(window & top_mask_);
    } else {
      out = static_cast<std::int32_t>(window & mask_) - half_;
    }
    return negative ? -out : out;
  }

 private:
  using Recoded = std::array<std::uint64_t, 4>;
  static constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

  unsigned window_bits_, windows_;
  std::uint64_t mask_, top_mask_;
  std::int32_t half_;
  std::vector<Recoded> recoded_;
};

}  // namespace cuzk::groth16
