#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::groth16::cuda {

/// Which of a vector's entries are wanted, in ascending order: result k is the entry at the k-th
/// one of the mask. Host side of query_inputs.cuh; a static property of the circuit.
struct Selection {
  std::vector<std::uint32_t> mask;    ///< bit i % 32 of word i / 32: entry i is wanted
  std::vector<std::uint32_t> starts;  ///< where the 32·k-th one stands
  std::size_t count = 0;              ///< ones

  /// 64-bit words, bit i % 64 of word i / 64.
  explicit Selection(std::span<const std::uint64_t> words) : mask(2 * words.size()) {
    for (std::size_t w = 0; w < words.size(); ++w) {
      mask[2 * w] = static_cast<std::uint32_t>(words[w]);
      mask[2 * w + 1] = static_cast<std::uint32_t>(words[w] >> 32);
      const auto ones = static_cast<std::size_t>(std::popcount(words[w]));
      // At most two multiples of 32 lie in a word's ones.
      for (std::size_t next = starts.size() * 32; next < count + ones; next += 32)
        starts.push_back(static_cast<std::uint32_t>(64 * w + nth_one(words[w], next - count)));
      count += ones;
    }
  }

 private:
  static std::size_t nth_one(std::uint64_t word, std::size_t n) {
    for (; n > 0; --n) word &= word - 1;
    return static_cast<std::size_t>(std::countr_zero(word));
  }
};

}  // namespace cuzk::groth16::cuda
