#include "groth16/ops/cpu/ntt_kernels.hpp"

namespace cuzk::groth16::ntt_kernels {

using curve::Fr;

namespace {

using Lanes = std::array<Fr, kLanes>;

Fr element(std::span<const Fr> values, std::size_t index) {
  return index < values.size() ? values[index] : Fr::zero();
}

// A tile's elements, copied together so that the levels run in cache.
class LocalTile {
 public:
  LocalTile(const Tile& tile, std::span<const Fr> in) : tile_(tile), rows_(tile.rows()) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (unsigned l = 0; l < kLanes; ++l) rows_[r][l] = element(in, tile.index(r, l));
    }
  }
  void store(std::span<Fr> out) const {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (unsigned l = 0; l < kLanes; ++l) {
        if (tile_.index(r, l) < out.size()) out[tile_.index(r, l)] = rows_[r][l];
      }
    }
  }
  const Lanes& row(std::size_t r) const { return rows_[r]; }

  void forward(const RowFactors& twiddles) {
    for (unsigned level = 0; level < tile_.log_rows; ++level) {
      for_each_butterfly(level, twiddles, [](Fr& upper, Fr& lower, const Fr& twiddle) {
        const Fr difference = upper - lower;
        upper += lower;
        lower = difference * twiddle;
      });
    }
  }
  void backward(const RowFactors& twiddles) {
    for (unsigned level = tile_.log_rows; level-- > 0;) {
      for_each_butterfly(level, twiddles, [](Fr& upper, Fr& lower, const Fr& twiddle) {
        const Fr product = lower * twiddle;
        lower = upper - product;
        upper += product;
      });
    }
  }
  void scale(const RowFactors& row_factors, const Fr* lane_factors) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (unsigned l = 0; l < kLanes; ++l) rows_[r][l] *= row_factors.plain[r] + lane_factors[l];
    }
  }

 private:
  template <class Butterfly>
  void for_each_butterfly(unsigned level, const RowFactors& twiddles, Butterfly&& butterfly) {
    Lanes lane_factors;
    for (unsigned l = 0; l < kLanes; ++l) {
      lane_factors[l] = tile_.lane_twiddles == nullptr ? Fr::one() : tile_.lane_twiddles[l];
      for (unsigned i = 0; i < level; ++i) lane_factors[l] = lane_factors[l].square();
    }
    const std::size_t half = rows_.size() >> (level + 1);
    for (std::size_t j = 0; j < half; ++j) {
      for (unsigned l = 0; l < kLanes; ++l) {
        const Fr twiddle = twiddles.plain[j << level] * lane_factors[l];
        for (std::size_t r = j; r < rows_.size(); r += 2 * half)
          butterfly(rows_[r][l], rows_[r + half][l], twiddle);
      }
    }
  }

  const Tile& tile_;
  std::vector<Lanes> rows_;
};

void forward(const Tile& tile, const Vectors& vectors) {
  for (unsigned v = 0; v < vectors.count; ++v) {
    LocalTile local(tile, vectors.in[v]);
    local.forward(*tile.row_twiddles);
    local.store(vectors.out[v]);
  }
}

void backward(const Tile& tile, const Vectors& vectors) {
  for (unsigned v = 0; v < vectors.count; ++v) {
    LocalTile local(tile, vectors.in[v]);
    local.backward(*tile.row_twiddles);
    local.store(vectors.out[v]);
  }
}

void scale_between(const Tile& tile, const RowFactors& backward_twiddles,
                   const RowFactors& row_factors, const Fr* lane_factors, const Vectors& vectors) {
  for (unsigned v = 0; v < vectors.count; ++v) {
    LocalTile local(tile, vectors.in[v]);
    local.forward(*tile.row_twiddles);
    local.scale(row_factors, lane_factors);
    local.backward(backward_twiddles);
    local.store(vectors.out[v]);
  }
}

void backward_cross(const Tile& tile, const Vectors& vectors,
                    const std::array<std::span<const Fr>, 2>& factors) {
  LocalTile x(tile, vectors.in[0]), y(tile, vectors.in[1]);
  x.backward(*tile.row_twiddles);
  y.backward(*tile.row_twiddles);
  const std::span<Fr> out = vectors.out[0];
  for (std::size_t r = 0; r < tile.rows(); ++r) {
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::size_t i = tile.index(r, l);
      if (i >= out.size()) continue;
      out[i] = element(factors[1], i) * x.row(r)[l] + element(factors[0], i) * y.row(r)[l];
    }
  }
}

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kernels = {[](RowFactors&) {}, forward,        backward,
                                      scale_between,      backward_cross, 0};
  return kernels;
}

}  // namespace cuzk::groth16::ntt_kernels
