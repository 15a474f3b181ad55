#pragma once

#include "curve/fr.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The inner loops of the NTT: kLanes transforms of 2^log_rows elements side by side, a tile of a
/// vector, or the same tile of two vectors, which then share their twiddles.
namespace cuzk::groth16::ntt_kernels {

inline constexpr unsigned kLanes = 8;
/// log2 of the rows that a tile may have: its copy in vectors takes 200 kB then.
inline constexpr unsigned kMaxLogRows = 9;

/// ρ^j, j < 2^(log_rows - 1), for the root ρ of order 2^log_rows; or any other factors of rows.
struct RowFactors {
  std::vector<curve::Fr> plain;
  std::vector<std::array<double, 6>> avx2;         ///< what the AVX2 kernels read
  std::vector<std::array<std::uint64_t, 5>> ifma;  ///< what the IFMA kernels read
};

/// Which elements a tile has and which roots it is transformed with.
struct Tile {
  /// Element r of lane l stands at index first + r·row_stride + l·lane_stride.
  std::size_t first, row_stride, lane_stride;
  unsigned log_rows;
  const RowFactors* row_twiddles;
  /// lane_twiddles[l] = τ_l: butterfly j of level d multiplies by ρ^(j·2^d) · τ_l^(2^d). Null: all
  /// ones.
  const curve::Fr* lane_twiddles;

  std::size_t rows() const { return std::size_t{1} << log_rows; }
  std::size_t index(std::size_t row, unsigned lane) const {
    return first + row * row_stride + lane * lane_stride;
  }
};

/// One or two vectors that the same is done to. Elements of `in` beyond its end are zeros; `out`
/// may be the same memory and is not written beyond its end.
struct Vectors {
  unsigned count;
  std::array<std::span<const curve::Fr>, 2> in;
  std::array<std::span<curve::Fr>, 2> out;
};

/// All with one arithmetic.
struct Kernels {
  /// Fills what these kernels read besides `plain`.
  void (*prepare)(RowFactors& factors);
  /// Decimation in frequency: (x, y) -> (x + y, (x - y)·w), from level 0 (distance rows/2) to the
  /// last. Natural order in, bit-reversed order out.
  void (*forward)(const Tile& tile, const Vectors& vectors);
  /// Decimation in time, the exact mirror: (x, y) -> (x + w·y, x - w·y), from the last level to
  /// level 0.
  void (*backward)(const Tile& tile, const Vectors& vectors);
  /// forward; then element r of lane l is multiplied by row_factors[r] + lane_factors[l]; then
  /// backward with other roots. The tile has no lane twiddles.
  void (*scale_between)(const Tile& tile, const RowFactors& backward_twiddles,
                        const RowFactors& row_factors, const curve::Fr* lane_factors,
                        const Vectors& vectors);
  /// backward of two vectors, to X and Y; then out[0] = (y·X + x·Y)/2^cross_shift for the elements
  /// x, y of `factors` at the same places. out[1] is not used.
  void (*backward_cross)(const Tile& tile, const Vectors& vectors,
                         const std::array<std::span<const curve::Fr>, 2>& factors);
  unsigned cross_shift;
};

const Kernels& scalar_kernels();
/// With AVX2 and FMA; only call where curve::is_available(kAvx2).
const Kernels& avx2_kernels();
/// With AVX-512 IFMA; only call where curve::is_available(kIfma).
const Kernels& ifma_kernels();

}  // namespace cuzk::groth16::ntt_kernels
