#pragma once

#include "curve/device/fr.hpp"

#include <cstdint>

/// Rows of A·w and B·w in short: almost all values of a circuit of bits are small integers.
namespace cuzk::groth16::cuda {

/// A vector of mostly small elements may come as one signed byte each: the value, -127 .. 127, or
/// kWideCode where it stands elsewhere in full.
inline constexpr int kWideCode = -128;

/// A row whose values do not fit a byte: a and b canonical.
struct WideRow {
  curve::device::Fr a, b;
  std::uint32_t row;
  std::uint32_t unused[3];
};
static_assert(sizeof(WideRow) == 80);

/// What the derivative form reads of one partition, all on the device.
struct ConstraintValues {
  const std::int8_t* code_a =
      nullptr;  // n; the value of a small row, kWideCode for a wide one (in both at once)
  const std::int8_t* code_b = nullptr;
  const WideRow* wide = nullptr;
  std::uint32_t wide_count = 0;
  const std::uint32_t* beta = nullptr;  // a bit a row: its favourite a, a constant of the circuit;
                                        // null: zeros
};

}  // namespace cuzk::groth16::cuda
