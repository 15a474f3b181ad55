#include "groth16/cuda/key_order.hpp"

#include "base/error.hpp"

namespace cuzk::groth16::cuda {

namespace {

// The bits of `values` where `mask` has ones, moved together at the low end.
std::uint64_t gather_bits(std::uint64_t values, std::uint64_t mask) {
  if (mask == ~std::uint64_t{0}) return values;
  std::uint64_t out = 0;
  for (unsigned i = 0; mask != 0; mask &= mask - 1, ++i)
    out |= (values >> std::countr_zero(mask) & 1) << i;
  return out;
}

}  // namespace

KeyOrder::KeyOrder(const QueryLayout& layout)
    : layout_(layout),
      size_(layout.size()),
      points_before_word_(layout.aux_mask.size()),
      kinds_((size_ + 31) / 32),
      bits_before_word_(kinds_.size()) {
  base::require(size_ < std::size_t{1} << 31, "a query of {} points: at most 2^31 - 1", size_);
  std::size_t point = layout.inputs.size();
  for (std::size_t word = 0; word < layout.aux_mask.size(); ++word) {
    points_before_word_[word] = static_cast<std::uint32_t>(point);
    std::uint64_t bits = gather_bits(layout.bit_mask[word], layout.aux_mask[word]);
    const auto count = static_cast<std::size_t>(std::popcount(layout.aux_mask[word]));
    // At most three words: the rest of one, a whole one, the start of one.
    for (std::size_t at = point; bits != 0;) {
      kinds_[at / 32] |= static_cast<std::uint32_t>(bits) << at % 32;
      const std::size_t taken = 32 - at % 32;
      bits >>= taken;
      at += taken;
    }
    point += count;
  }
  std::uint32_t bits = 0;
  for (std::size_t word = 0; word < kinds_.size(); ++word) {
    bits_before_word_[word] = bits;
    bits += static_cast<std::uint32_t>(std::popcount(kinds_[word]));
  }
}

std::size_t KeyOrder::bits_before(std::size_t p) const {
  if (p == size_) return bit_count();
  const std::uint32_t before = kinds_[p / 32] & ((std::uint32_t{1} << p % 32) - 1);
  return bits_before_word_[p / 32] + static_cast<std::size_t>(std::popcount(before));
}

}  // namespace cuzk::groth16::cuda
