#include "groth16/ops/cpu/digits.hpp"

#include "base/parallel.hpp"
#include "curve/params.hpp"

namespace cuzk::groth16 {

namespace {

constexpr curve::Limbs<4> kHalfModulus = curve::wide::shift_right(curve::kFrField.modulus, 1);

}  // namespace

SignedDigits::SignedDigits(std::span<const curve::Fr> scalars, const DigitWindows& windows)
    : recoded_(scalars.size()) {
  curve::Limbs<4> offset{};
  for (unsigned w = 0; w < windows.count(); ++w) {
    // The top window ends below the sign bit.
    const unsigned start = windows.start(w), width = windows.width(w);
    Place place{start / 64, start % 64, start % 64 + width > 64, (std::uint64_t{1} << width) - 1,
                0};
    if (w + 1 < windows.count()) {
      place.half = std::int32_t{1} << (width - 1);
      const unsigned bit = start + width - 1;
      offset[bit / 64] |= std::uint64_t{1} << bit % 64;
    }
    places_.push_back(place);
  }
  base::parallel_ranges(scalars.size(), 4096, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      curve::Limbs<4> value = scalars[i].to_canonical();
      const bool negative = curve::wide::less(kHalfModulus, value);
      if (negative) {
        curve::Limbs<4> negated = curve::kFrField.modulus;
        curve::wide::subtract(negated, value);
        value = negated;
      }
      curve::wide::add(value, offset);
      if (negative) value[3] |= kSignBit;
      recoded_[i] = value;
    }
  });
}

}  // namespace cuzk::groth16
