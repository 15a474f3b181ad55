#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cuzk::r1cs {

/// Numbers the field elements among variables: those whose bit in the mask is zero.
class FieldNumbers {
 public:
  FieldNumbers() = default;
  explicit FieldNumbers(std::vector<std::uint64_t> bit_mask) : mask_(std::move(bit_mask)) {
    before_.reserve(mask_.size());
    std::uint32_t before = 0;
    for (const std::uint64_t word : mask_) {
      before_.push_back(before);
      before += static_cast<std::uint32_t>(std::popcount(~word));
    }
  }
  explicit FieldNumbers(std::span<const std::uint64_t> bit_mask)
      : FieldNumbers(std::vector<std::uint64_t>(bit_mask.begin(), bit_mask.end())) {}

  std::span<const std::uint64_t> bit_mask() const { return mask_; }
  bool is_bit(std::uint32_t variable) const {
    return (mask_[variable / 64] >> variable % 64 & 1) != 0;
  }
  /// How many field elements stand before the variable: its number if it is one.
  std::uint32_t number(std::uint32_t variable) const {
    const std::uint64_t below = (std::uint64_t{1} << variable % 64) - 1;
    return before_[variable / 64] +
           static_cast<std::uint32_t>(std::popcount(~mask_[variable / 64] & below));
  }

 private:
  std::vector<std::uint64_t> mask_;
  std::vector<std::uint32_t> before_;  // each word
};

}  // namespace cuzk::r1cs
