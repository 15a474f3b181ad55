#pragma once

#include "base/parallel.hpp"
#include "groth16/ops/cpu/ntt_kernels.hpp"
#include "groth16/ops/ntt.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace cuzk::groth16 {

/// How a transform of n = 2^log_n elements is done in a few sweeps over the vector. The vector is a
/// matrix: first (forward) or last (backward) its columns are transformed, with the twiddles
/// between the two steps merged into their butterflies; then each row is, in the same way. The last
/// pass has the rows that lie together. [D. Bailey 1990, "FFTs in external or hierarchical memory"]
/// Forward takes natural to bit-reversed order, backward bit-reversed to natural.
class NttPasses {
 public:
  /// Below, tiles would not fill their lanes.
  static constexpr unsigned kMinLog = 6;

  /// ω of order 2^log_n; log_n >= kMinLog.
  NttPasses(unsigned log_n, const curve::Fr& omega, curve::Arithmetic arithmetic);

  const ntt_kernels::Kernels& kernels() const { return *kernels_; }
  std::size_t count() const { return passes_.size(); }
  std::size_t last() const { return passes_.size() - 1; }
  /// Of a pass.
  unsigned log_rows(std::size_t pass) const { return passes_[pass].log_rows; }
  const ntt_kernels::RowFactors& row_twiddles(std::size_t pass) const {
    return passes_[pass].row_twiddles;
  }

  /// Calls body(tile) for all tiles of a pass, in parallel. Tile t of the last pass has the
  /// elements from 8·2^log_rows·t on, and no lane twiddles.
  template <class Body>
  void for_each_tile(std::size_t pass, Body&& body) const;

 private:
  struct Pass {
    unsigned log_rows, log_columns;
    curve::Fr root;  // of order 2^(log_rows + log_columns)
    ntt_kernels::RowFactors row_twiddles;
  };

  unsigned log_n_;
  const ntt_kernels::Kernels* kernels_;
  std::vector<Pass> passes_;
};

template <class Body>
void NttPasses::for_each_tile(std::size_t index, Body&& body) const {
  using ntt_kernels::kLanes;
  const Pass& pass = passes_[index];
  const std::size_t rows = std::size_t{1} << pass.log_rows;
  const std::size_t columns = std::size_t{1} << pass.log_columns;
  const std::size_t tiles = (std::size_t{1} << log_n_) / (rows * kLanes);
  base::parallel_for(tiles, [&](std::size_t t) {
    if (index == last()) {  // lanes are neighbouring rows of the matrix
      body(ntt_kernels::Tile{t * kLanes * rows, 1, rows, pass.log_rows, &pass.row_twiddles,
                             nullptr});
      return;
    }
    const std::size_t block = t / (columns / kLanes), column = t % (columns / kLanes) * kLanes;
    std::array<curve::Fr, kLanes> lane_twiddles;
    lane_twiddles[0] = pass.root.pow(column);
    for (unsigned l = 1; l < kLanes; ++l) lane_twiddles[l] = lane_twiddles[l - 1] * pass.root;
    body(ntt_kernels::Tile{block * rows * columns + column, columns, 1, pass.log_rows,
                           &pass.row_twiddles, lane_twiddles.data()});
  });
}

/// 1, base, ..., base^(count - 1).
std::vector<curve::Fr> powers(const curve::Fr& base, std::size_t count);

}  // namespace cuzk::groth16
