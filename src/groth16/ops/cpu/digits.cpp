#include "groth16/ops/cpu/digits.hpp"

#include "base/parallel.hpp"
#include "curve/endomorphism.hpp"

namespace cuzk::groth16 {

namespace {

constexpr curve::Limbs<4> kHalfModulus = curve::wide::shift_right(curve::kFrField.modulus, 1);

}  // namespace

SignedDigits::SignedDigits(std::span<const curve::Fr> scalars, const DigitWindows& windows)
    : words_(windows.parts() == 1 ? 4 : 2), recoded_(scalars.size() * windows.parts() * words_) {
  for (unsigned w = 0; w < windows.count(); ++w) {
    // The top window ends below the sign bit, or just there with its highest bit unused.
    const unsigned start = windows.start(w), width = windows.width(w);
    Place place{start / 64, start % 64, start % 64 + width > 64, (std::uint64_t{1} << width) - 1,
                0};
    if (w + 1 < windows.count()) {
      place.half = std::int32_t{1} << (width - 1);
      const unsigned bit = start + width - 1;
      offset_[bit / 64] |= std::uint64_t{1} << bit % 64;
    } else if (windows.parts() == 2) {
      place.mask >>= 1;  // the sign's place
    }
    places_.push_back(place);
  }
  base::parallel_ranges(scalars.size(), 4096, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (windows.parts() == 1) {
        recode_whole(scalars[i], &recoded_[i * words_]);
      } else {
        recode_parts(scalars[i], windows.parts(), i, scalars.size());
      }
    }
  });
}

void SignedDigits::recode_whole(const curve::Fr& scalar, std::uint64_t* out) const {
  curve::Limbs<4> value = scalar.to_canonical();
  const bool negative = curve::wide::less(kHalfModulus, value);
  if (negative) {
    curve::Limbs<4> negated = curve::kFrField.modulus;
    curve::wide::subtract(negated, value);
    value = negated;
  }
  curve::wide::add(value, offset_);
  if (negative) value[3] |= kSignBit;
  std::copy(value.begin(), value.end(), out);
}

void SignedDigits::recode_parts(const curve::Fr& scalar, unsigned parts, std::size_t i,
                                std::size_t n) {
  const std::array<std::int64_t, 4> digits = curve::digits_to_base_x(scalar);
  const unsigned __int128 offset = static_cast<unsigned __int128>(offset_[1]) << 64 | offset_[0];
  for (unsigned part = 0; part < parts; ++part) {
    const __int128 value =
        parts == 4 ? __int128{digits[part]}
                   : digits[2 * part] + digits[2 * part + 1] * static_cast<__int128>(curve::kX);
    const bool negative = value < 0;
    const unsigned __int128 sum =
        static_cast<unsigned __int128>(negative ? -value : value) + offset;
    std::uint64_t* const out = &recoded_[(part * n + i) * words_];
    out[0] = static_cast<std::uint64_t>(sum);
    out[1] = static_cast<std::uint64_t>(sum >> 64) | (negative ? kSignBit : 0);
  }
}

}  // namespace cuzk::groth16
