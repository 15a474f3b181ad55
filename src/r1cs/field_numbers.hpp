#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::r1cs {

/// Numbers the field elements among variables: those whose bit in the mask is zero.
class FieldNumbers {
 public:
  /// `bit_mask` has `count` bits and must outlive the object.
  FieldNumbers(std::span<const std::uint64_t> bit_mask, std::uint32_t count) : mask_(bit_mask) {
    std::uint32_t before = 0;
    for (std::size_t word = 0; 64 * word < count; ++word) {
      before_.push_back(before);
      before += static_cast<std::uint32_t>(std::popcount(~mask_[word]));
    }
  }

  bool is_bit(std::uint32_t variable) const { return (mask_[variable / 64] >> variable % 64 & 1); }
  /// How many field elements stand before the variable: its number if it is one.
  std::uint32_t number(std::uint32_t variable) const {
    const std::uint64_t below = (std::uint64_t{1} << variable % 64) - 1;
    return before_[variable / 64] +
           static_cast<std::uint32_t>(std::popcount(~mask_[variable / 64] & below));
  }

 private:
  std::span<const std::uint64_t> mask_;
  std::vector<std::uint32_t> before_;  // each word
};

}  // namespace cuzk::r1cs
