#pragma once

#include "curve/fr.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::groth16 {

/// How the 255 bits of a scalar are cut up: the fewest windows of at most `max_bits` bits, whose
/// widths differ by one at most, so that no window is left with a few bits, hence few buckets.
class DigitWindows {
 public:
  /// max_bits: 2 to 20.
  explicit DigitWindows(unsigned max_bits)
      : count_((kBits + max_bits - 1) / max_bits),
        narrow_(kBits / count_),
        wide_count_(kBits % count_) {}

  unsigned count() const { return count_; }
  unsigned width(unsigned w) const { return narrow_ + (w < wide_count_ ? 1 : 0); }
  /// The lowest bit of window w.
  unsigned start(unsigned w) const { return w * narrow_ + std::min(w, wide_count_); }
  /// Digits are within ±limit(w).
  std::size_t limit(unsigned w) const { return std::size_t{1} << (width(w) - 1); }

 private:
  static constexpr unsigned kBits = curve::Fr::kNumBits;

  unsigned count_, narrow_, wide_count_;
};

/// Scalars recoded so that every digit can be read on its own, without a carry from below.
/// A scalar k is first halved in range: where k > r/2, -k is taken and the point negated. With W
/// windows of c_w bits that start at bit s_w, k + Σ_{w < W-1} 2^(s_w + c_w - 1) has in window w <
/// W-1 the signed digit plus 2^(c_w - 1), and in the top window the digit itself, which lies in
/// [0, 2^(c_w - 1)].
class SignedDigits {
 public:
  /// Scalars in Montgomery form. In parallel.
  SignedDigits(std::span<const curve::Fr> scalars, const DigitWindows& windows);

  std::size_t size() const { return recoded_.size(); }
  /// Digit w of scalar i, in [-limit(w), limit(w)].
  std::int32_t digit(std::size_t i, unsigned w) const {
    const Recoded& value = recoded_[i];
    const Place& place = places_[w];
    std::uint64_t window = value[place.word] >> place.shift;
    if (place.across) window |= value[place.word + 1] << (64 - place.shift);
    const auto out = static_cast<std::int32_t>(window & place.mask) - place.half;
    return (value[3] & kSignBit) != 0 ? -out : out;
  }

 private:
  using Recoded = std::array<std::uint64_t, 4>;
  static constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
  struct Place {
    unsigned word, shift;
    bool across;  // into the next word
    std::uint64_t mask;
    std::int32_t half;  // what the digit is stored too large by
  };

  std::vector<Place> places_;
  std::vector<Recoded> recoded_;
};

}  // namespace cuzk::groth16
