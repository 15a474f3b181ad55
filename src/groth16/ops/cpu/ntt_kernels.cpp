#include "groth16/ops/cpu/ntt_kernels.hpp"

#include <array>
#include <vector>

namespace cuzk::groth16::ntt_kernels {

using curve::Fr;

namespace {

// A tile's elements, copied together so that the levels run in cache; the destructor does not write
// back.
class LocalTile {
 public:
  explicit LocalTile(const Tile& tile)
      : tile_(tile), rows_(std::size_t{1} << tile.log_rows), values_(rows_ * kLanes) {
    for (std::size_t r = 0; r < rows_; ++r) {
      for (unsigned l = 0; l < kLanes; ++l)
        values_[r * kLanes + l] = tile.data[r * tile.row_stride + l * tile.lane_stride];
    }
  }
  void store() const {
    for (std::size_t r = 0; r < rows_; ++r) {
      for (unsigned l = 0; l < kLanes; ++l)
        tile_.data[r * tile_.row_stride + l * tile_.lane_stride] = values_[r * kLanes + l];
    }
  }
  std::size_t rows() const { return rows_; }
  Fr* row(std::size_t r) { return &values_[r * kLanes]; }

  // Calls butterfly(upper row, lower row, twiddle of each lane) for every butterfly of a level.
  template <class Butterfly>
  void level(unsigned level, Butterfly&& butterfly) {
    std::array<Fr, kLanes> lane_factors, twiddles;
    if (tile_.lane_twiddles != nullptr) {
      for (unsigned l = 0; l < kLanes; ++l) {
        lane_factors[l] = tile_.lane_twiddles[l];
        for (unsigned i = 0; i < level; ++i) lane_factors[l] = lane_factors[l].square();
      }
    }
    const std::size_t half = rows_ >> (level + 1);
    for (std::size_t j = 0; j < half; ++j) {
      const Fr& row_twiddle = tile_.row_twiddles[j << level];
      for (unsigned l = 0; l < kLanes; ++l) {
        twiddles[l] = tile_.lane_twiddles == nullptr ? row_twiddle : row_twiddle * lane_factors[l];
      }
      for (std::size_t r = j; r < rows_; r += 2 * half) butterfly(row(r), row(r + half), twiddles);
    }
  }

 private:
  const Tile& tile_;
  std::size_t rows_;
  std::vector<Fr> values_;
};

}  // namespace

void forward_scalar(const Tile& tile) {
  LocalTile local(tile);
  for (unsigned level = 0; level < tile.log_rows; ++level) {
    local.level(level, [](Fr* upper, Fr* lower, const std::array<Fr, kLanes>& twiddles) {
      for (unsigned l = 0; l < kLanes; ++l) {
        const Fr difference = upper[l] - lower[l];
        upper[l] += lower[l];
        lower[l] = difference * twiddles[l];
      }
    });
  }
  local.store();
}

void backward_scalar(const Tile& tile) {
  LocalTile local(tile);
  for (unsigned level = tile.log_rows; level-- > 0;) {
    local.level(level, [](Fr* upper, Fr* lower, const std::array<Fr, kLanes>& twiddles) {
      for (unsigned l = 0; l < kLanes; ++l) {
        const Fr product = lower[l] * twiddles[l];
        lower[l] = upper[l] - product;
        upper[l] += product;
      }
    });
  }
  local.store();
}

}  // namespace cuzk::groth16::ntt_kernels
