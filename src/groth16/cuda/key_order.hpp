#pragma once

#include "groth16/variables.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::groth16::cuda {

/// The points of one query in the order in which a key has them: where each goes when the query is
/// split into fields and bits, and which variable it belongs to. Constant after construction, apart
/// from which the layout must outlive it; threads may share it.
class KeyOrder {
 public:
  explicit KeyOrder(const QueryLayout& layout);

  std::size_t size() const { return size_; }
  std::size_t bit_count() const { return layout_.bit_count; }
  std::size_t field_count() const { return layout_.field_count(); }
  /// Bit p % 32 of word p / 32: point p is a bit's.
  std::span<const std::uint32_t> kinds() const { return kinds_; }
  /// Bits' points before point 32·w, for every word w of kinds().
  std::span<const std::uint32_t> bits_before_word() const { return bits_before_word_; }
  /// Bits' points before point p <= size().
  std::size_t bits_before(std::size_t p) const;

  /// Calls visit(point, is_aux, index) for the points [first, last), in order: the variable is
  /// input or aux variable `index`. last <= size().
  template <class Visit>
  void for_each(std::size_t first, std::size_t last, Visit&& visit) const {
    const std::vector<std::uint32_t>& inputs = layout_.inputs;
    std::size_t point = first;
    for (; point < last && point < inputs.size(); ++point) visit(point, false, inputs[point]);
    if (point >= last) return;
    const auto after = std::upper_bound(points_before_word_.begin(), points_before_word_.end(),
                                        static_cast<std::uint32_t>(point));
    auto word = static_cast<std::size_t>(after - points_before_word_.begin()) - 1;
    std::uint64_t left = layout_.aux_mask[word];
    for (std::size_t skip = point - points_before_word_[word]; skip > 0; --skip) left &= left - 1;
    for (; point < last; ++point, left &= left - 1) {
      while (left == 0) left = layout_.aux_mask[++word];
      visit(point, true,
            static_cast<std::uint32_t>(64 * word + static_cast<unsigned>(std::countr_zero(left))));
    }
  }

 private:
  const QueryLayout& layout_;
  std::size_t size_;
  std::vector<std::uint32_t> points_before_word_;  // of the layout's aux_mask, inputs included
  std::vector<std::uint32_t> kinds_, bits_before_word_;
};

}  // namespace cuzk::groth16::cuda
