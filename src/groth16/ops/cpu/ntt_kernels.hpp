#pragma once

#include "curve/fr.hpp"

#include <cstddef>

/// The inner loops of the NTT: `lanes` transforms of 2^log_rows elements side by side. Element r of
/// lane l stands at data[r·row_stride + l·lane_stride].
namespace cuzk::groth16::ntt_kernels {

/// One call's shape and twiddles.
struct Tile {
  curve::Fr* data;
  std::size_t row_stride, lane_stride;
  unsigned log_rows;
  /// row_twiddles[j] = ρ^j, j < 2^(log_rows - 1), for the root ρ of order 2^log_rows.
  const curve::Fr* row_twiddles;
  /// lane_twiddles[l] = τ_l: butterfly j of level d multiplies by ρ^(j·2^d) · τ_l^(2^d). Null: all
  /// ones.
  const curve::Fr* lane_twiddles;
};

inline constexpr unsigned kLanes = 8;
/// log2 of the rows that a tile may have: its copy in vectors takes 200 kB then.
inline constexpr unsigned kMaxLogRows = 9;

/// Decimation in frequency: (x, y) -> (x + y, (x - y)·w), from level 0 (distance rows/2) to the
/// last. Natural order in, bit-reversed order out.
void forward_scalar(const Tile& tile);
/// Decimation in time, the exact mirror: (x, y) -> (x + w·y, x - w·y), from the last level to level
/// 0.
void backward_scalar(const Tile& tile);

/// The same with AVX2 and FMA; only call where curve::cpu_has_avx2_fma().
void forward_avx2(const Tile& tile);
void backward_avx2(const Tile& tile);

}  // namespace cuzk::groth16::ntt_kernels
