#pragma once

#include "curve/fr.hpp"
#include "curve/params.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::groth16 {

/// How the bits of a scalar, or of its parts, are cut up: the fewest windows of at most `max_bits`
/// bits, whose widths differ by one at most, so that no window is left with a few bits, hence few
/// buckets.
class DigitWindows {
 public:
  /// max_bits: 2 to 20, and 3 to 20 for two parts; parts: 1, 2 or 4.
  explicit DigitWindows(unsigned max_bits, unsigned parts = 1)
      : parts_(parts),
        count_((bits_of(parts) + max_bits - 1) / max_bits),
        narrow_(bits_of(parts) / count_),
        wide_count_(bits_of(parts) % count_) {}

  unsigned parts() const { return parts_; }

  unsigned count() const { return count_; }
  unsigned width(unsigned w) const { return narrow_ + (w < wide_count_ ? 1 : 0); }
  /// The lowest bit of window w.
  unsigned start(unsigned w) const { return w * narrow_ + std::min(w, wide_count_); }
  /// Digits are within ±limit(w).
  std::size_t limit(unsigned w) const { return std::size_t{1} << (width(w) - 1); }

 private:
  static constexpr unsigned bits_of(unsigned parts) {
    return parts == 1 ? curve::Fr::kNumBits : 256 / parts;
  }

  unsigned parts_, count_, narrow_, wide_count_;
};

/// Scalars recoded so that every digit can be read on its own, without a carry from below.
/// A scalar k is taken whole, or as the parts of k = Σ k_i·M^i, M = X² for two parts and X for four
/// (see curve/endomorphism.hpp). Each is first halved in range: of a whole k > r/2, -k is taken, of
/// a part its magnitude, and the point negated. Magnitudes are at most r/2, (X² + X)/2 or X/2,
/// below half of what the windows hold. With W windows of c_w bits that start at bit s_w, k +
/// Σ_{w < W-1} 2^(s_w + c_w - 1) has in window w < W-1 the signed digit plus 2^(c_w - 1), and in
/// the top window the digit itself, which lies in [0, 2^(c_w - 1)].
class SignedDigits {
 public:
  /// Scalars in Montgomery form. In parallel.
  SignedDigits(std::span<const curve::Fr> scalars, const DigitWindows& windows);

  /// Digit w of part i / n of scalar i mod n, n the number of scalars; in [-limit(w), limit(w)].
  std::int32_t digit(std::size_t i, unsigned w) const {
    const std::uint64_t* const value = &recoded_[i * words_];
    const Place& place = places_[w];
    std::uint64_t window = value[place.word] >> place.shift;
    if (place.across) window |= value[place.word + 1] << (64 - place.shift);
    const auto out = static_cast<std::int32_t>(window & place.mask) - place.half;
    return (value[words_ - 1] & kSignBit) != 0 ? -out : out;
  }

 private:
  static constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
  struct Place {
    unsigned word, shift;
    bool across;  // into the next word
    std::uint64_t mask;
    std::int32_t half;  // what the digit is stored too large by
  };

  void recode_whole(const curve::Fr& scalar, std::uint64_t* out) const;
  void recode_parts(const curve::Fr& scalar, unsigned parts, std::size_t i, std::size_t n);

  std::size_t words_;  // of one recoded value; its sign is the top bit
  std::vector<Place> places_;
  curve::Limbs<4> offset_{};  // what is added to each value
  std::vector<std::uint64_t> recoded_;
};

}  // namespace cuzk::groth16
