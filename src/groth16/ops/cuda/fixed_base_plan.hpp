#pragma once

#include "base/error.hpp"

#include <cstddef>

namespace cuzk::groth16::cuda {

/// How multiples of a fixed base are cut up: scalars into windows of `window_bits` bits, each digit
/// looked up in the window's table of 1 ... 2^(window_bits - 1) times 2^(window_bits·w)·base.
///
/// Digits are signed, |digit| <= 2^(window_bits - 1), and windows·window_bits >= 256: a scalar has
/// 255 bits, so the top window's digit with the carry into it is never negative.
struct FixedBasePlan {
  static constexpr unsigned kScalarBits = 256;
  static constexpr unsigned kMinBits = 2, kMaxBits = 24;

  unsigned window_bits = 16;
  unsigned windows = 16;

  /// Throws InvalidInput unless kMinBits <= window_bits <= kMaxBits.
  static FixedBasePlan make(unsigned window_bits) {
    base::require(window_bits >= kMinBits && window_bits <= kMaxBits,
                  "fixed base: a window of {} bits: {} to {} are possible", window_bits, kMinBits,
                  kMaxBits);
    return {window_bits, (kScalarBits + window_bits - 1) / window_bits};
  }
  /// The window that makes table and multiples cheapest together.
  static FixedBasePlan for_count(std::size_t scalars) {
    FixedBasePlan best = make(4);
    // Past 16 bits the table no longer fits the L2 cache of a large device.
    for (unsigned bits = 5; bits <= 16; ++bits) {
      const FixedBasePlan plan = make(bits);
      if (plan.cost(scalars) < best.cost(scalars)) best = plan;
    }
    return best;
  }

  std::size_t window_entries() const { return std::size_t{1} << (window_bits - 1); }
  std::size_t table_points() const { return windows * window_entries(); }

 private:
  std::size_t cost(std::size_t scalars) const { return table_points() + windows * scalars; }
};

}  // namespace cuzk::groth16::cuda
