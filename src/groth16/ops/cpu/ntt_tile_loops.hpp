// Tiles of the NTT with vectors. One text for all vector arithmetics, included by their sources,
// hence in an unnamed namespace and without an include guard: their functions need each its own
// target attribute. CUZK_ARITHMETIC is the arithmetic's namespace in cuzk::curve, CUZK_TARGET and
// CUZK_TARGET_INLINE the attribute of its functions. What differs stands in the source before the
// inclusion, in the same namespace:
//   Fr8, Fr1: eight elements; a factor of all lanes;
//   split_factors(RowFactors): the vector of Fr1 that prepare() fills;
//   kProductShift: products are x·y/2^kProductShift in the elements' Montgomery form;
//   multiply(a, b, out), multiply_sum(a, b, c, d, out), add_factor(a, b, out): of operands;
//   to_operand(row), and scale(row, factor) to what the levels of `backward` may begin with;
//   ForwardButterfly, BackwardButterfly: see Twiddles::level;
//   kLevelsUnreduced: the levels of `forward` after which all rows are reduced.
#ifndef CUZK_ARITHMETIC
#error "this text is included by an arithmetic's source"
#endif

#include "groth16/ops/cpu/ntt_kernels.hpp"

#include <memory>

namespace cuzk::groth16::ntt_kernels::CUZK_ARITHMETIC {

namespace {

static_assert(kLanes == 8);

// Products lack a power of two, so a factor w enters as w·2^kProductShift, in words below r.
const Fr& factor_scale() {
  static const Fr scale = Fr::power_of_two(kProductShift);
  return scale;
}

void prepare(RowFactors& factors) {
  split_factors(factors).resize(factors.plain.size());
  for (std::size_t i = 0; i < factors.plain.size(); ++i) {
    const Fr scaled = factors.plain[i] * factor_scale();
    split_factors(factors)[i] = vectors::split<Field>(curve::Limbs<4>{
        scaled.limbs()[0], scaled.limbs()[1], scaled.limbs()[2], scaled.limbs()[3]});
  }
}

CUZK_TARGET void load_factors(const Fr* factors, Fr8& out) {
  Fr scaled[kLanes];
  const std::uint64_t* sources[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    scaled[l] = factors[l] * factor_scale();
    sources[l] = scaled[l].limbs();
  }
  vectors::load_lanes(sources, out);
}

using Rows = std::array<Fr8, std::size_t{1} << kMaxLogRows>;

// Kept from tile to tile: memory of this size costs page faults whenever it is new.
struct Buffers {
  std::array<Rows, 2> rows;
  Rows twiddles;
};
Buffers& buffers() {
  thread_local const std::unique_ptr<Buffers> kept = std::make_unique<Buffers>();
  return *kept;
}

CUZK_TARGET void load_row(const Tile& tile, std::size_t row, std::span<const Fr> in, Fr8& out) {
  static constexpr Fr kZero = Fr::zero();
  const std::uint64_t* sources[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::size_t index = tile.index(row, l);
    sources[l] = (index < in.size() ? in[index] : kZero).limbs();
  }
  vectors::load_lanes(sources, out);
}

CUZK_TARGET void store_row(const Tile& tile, std::size_t row, const Fr8& value, std::span<Fr> out) {
  Fr spare;
  std::uint64_t* targets[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::size_t index = tile.index(row, l);
    targets[l] = (index < out.size() ? out[index] : spare).blst()->l;
  }
  vectors::store_lanes(value, targets);
}

CUZK_TARGET void load(const Tile& tile, std::span<const Fr> in, Rows& rows) {
  for (std::size_t r = 0; r < tile.rows(); ++r) load_row(tile, r, in, rows[r]);
}

CUZK_TARGET void store(const Tile& tile, const Rows& rows, std::span<Fr> out) {
  for (std::size_t r = 0; r < tile.rows(); ++r) store_row(tile, r, rows[r], out);
}

// Twiddles of all levels with the lanes' in them, level 0 first: level d has rows >> (d + 1).
class Twiddles {
 public:
  CUZK_TARGET Twiddles(const Tile& tile, const RowFactors& row_twiddles)
      : rows_(tile.rows()), row_twiddles_(split_factors(row_twiddles)), merged_(nullptr) {
    if (tile.lane_twiddles == nullptr) return;
    Fr8* next = buffers().twiddles.data();
    merged_ = next;
    Fr8 lanes;
    load_factors(tile.lane_twiddles, lanes);
    for (unsigned level = 0; level < tile.log_rows; ++level) {
      if (level > 0) multiply(lanes, lanes, lanes);
      for (std::size_t j = 0; j < rows_ >> (level + 1); ++j)
        multiply(lanes, row_twiddles_[j << level], *next++);
    }
  }

  // Calls butterfly.run(upper row, lower row, twiddle) for every butterfly of a level; the twiddle
  // is one for all lanes, or a vector. Where it is 1 and the rows lie next to each other, or next
  // but one, calls butterfly.trivial(upper row, lower row).
  template <class Butterfly>
  CUZK_TARGET_INLINE void level(unsigned level, Rows& rows, const Butterfly& butterfly) const {
    const std::size_t half = rows_ >> (level + 1);
    if (merged_ != nullptr) {
      const Fr8* const twiddles = merged_ + (rows_ - (rows_ >> level));
      for (std::size_t j = 0; j < half; ++j) {
        for (std::size_t r = j; r < rows_; r += 2 * half)
          butterfly.run(rows[r], rows[r + half], twiddles[j]);
      }
      return;
    }
    for (std::size_t j = 0; j < half; ++j) {
      if (j == 0 && half <= 2) {
        for (std::size_t r = 0; r < rows_; r += 2 * half)
          butterfly.trivial(rows[r], rows[r + half]);
        continue;
      }
      const Fr1& twiddle = row_twiddles_[j << level];
      for (std::size_t r = j; r < rows_; r += 2 * half)
        butterfly.run(rows[r], rows[r + half], twiddle);
    }
  }

 private:
  std::size_t rows_;
  const std::vector<Fr1>& row_twiddles_;
  const Fr8* merged_;
};

CUZK_TARGET void forward_levels(const Tile& tile, const Twiddles& twiddles, Rows& rows) {
  for (unsigned level = 0; level < tile.log_rows; ++level) {
    if (level > 0 && level % kLevelsUnreduced == 0) {
      for (std::size_t r = 0; r < tile.rows(); ++r) vectors::reduce(rows[r]);
    }
    twiddles.level(level, rows, ForwardButterfly(level % kLevelsUnreduced));
  }
}

CUZK_TARGET void backward_levels(const Tile& tile, const Twiddles& twiddles, Rows& rows) {
  for (unsigned level = tile.log_rows; level-- > 0;)
    twiddles.level(level, rows, BackwardButterfly(tile.log_rows - 1 - level));
}

CUZK_TARGET void forward(const Tile& tile, const Vectors& vectors) {
  const Twiddles twiddles(tile, *tile.row_twiddles);
  Rows& rows = buffers().rows[0];
  for (unsigned v = 0; v < vectors.count; ++v) {
    load(tile, vectors.in[v], rows);
    forward_levels(tile, twiddles, rows);
    store(tile, rows, vectors.out[v]);
  }
}

CUZK_TARGET void backward(const Tile& tile, const Vectors& vectors) {
  const Twiddles twiddles(tile, *tile.row_twiddles);
  Rows& rows = buffers().rows[0];
  for (unsigned v = 0; v < vectors.count; ++v) {
    load(tile, vectors.in[v], rows);
    backward_levels(tile, twiddles, rows);
    store(tile, rows, vectors.out[v]);
  }
}

CUZK_TARGET void scale_between(const Tile& tile, const RowFactors& backward_twiddles,
                               const RowFactors& row_factors, const Fr* lane_factors,
                               const Vectors& vectors) {
  const Twiddles twiddles(tile, *tile.row_twiddles), back(tile, backward_twiddles);
  Fr8 lanes;
  load_factors(lane_factors, lanes);
  Rows& rows = buffers().rows[0];
  for (unsigned v = 0; v < vectors.count; ++v) {
    load(tile, vectors.in[v], rows);
    forward_levels(tile, twiddles, rows);
    for (std::size_t r = 0; r < tile.rows(); ++r) {
      Fr8 factor;
      add_factor(lanes, split_factors(row_factors)[r], factor);
      scale(rows[r], factor);
    }
    backward_levels(tile, back, rows);
    store(tile, rows, vectors.out[v]);
  }
}

// Factors are read as they are, so the products lack 2^kProductShift.
CUZK_TARGET void backward_cross(const Tile& tile, const Vectors& vectors,
                                const std::array<std::span<const Fr>, 2>& factors) {
  const Twiddles twiddles(tile, *tile.row_twiddles);
  std::array<Rows, 2>& rows = buffers().rows;
  for (unsigned v = 0; v < 2; ++v) {
    load(tile, vectors.in[v], rows[v]);
    backward_levels(tile, twiddles, rows[v]);
  }
  for (std::size_t r = 0; r < tile.rows(); ++r) {
    if (tile.index(r, 0) >= vectors.out[0].size()) continue;
    Fr8 x, y;
    load_row(tile, r, factors[0], x);
    load_row(tile, r, factors[1], y);
    to_operand(rows[0][r]);
    to_operand(rows[1][r]);
    multiply_sum(rows[0][r], y, rows[1][r], x, x);
    store_row(tile, r, x, vectors.out[0]);
  }
}

}  // namespace

}  // namespace cuzk::groth16::ntt_kernels::CUZK_ARITHMETIC

#undef CUZK_ARITHMETIC
#undef CUZK_TARGET
#undef CUZK_TARGET_INLINE
