#include "groth16/ops/cpu/digits.hpp"

#include "base/parallel.hpp"
#include "curve/params.hpp"

namespace cuzk::groth16 {

namespace {

constexpr curve::Limbs<4> kHalfModulus = curve::wide::shift_right(curve::kFrField.modulus, 1);

}  // namespace

SignedDigits::SignedDigits(std::span<const curve::Fr> scalars, unsigned window_bits)
    : window_bits_(window_bits),
      windows_((curve::Fr::kNumBits + window_bits - 1) / window_bits),
      mask_((std::uint64_t{1} << window_bits) - 1),
      half_(std::int32_t{1} << (window_bits - 1)),
      recoded_(scalars.size()) {
  // The top window ends below the sign bit.
  const unsigned top_bits = curve::Fr::kNumBits - (windows_ - 1) * window_bits;
  top_mask_ = (std::uint64_t{1} << top_bits) - 1;
  curve::Limbs<4> offset{};
  for (unsigned w = 0; w + 1 < windows_; ++w) {
    const unsigned bit = w * window_bits + window_bits - 1;
    offset[bit / 64] |= std::uint64_t{1} << bit % 64;
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
