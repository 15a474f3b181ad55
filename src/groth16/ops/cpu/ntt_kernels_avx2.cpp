#include "curve/vector_field_avx2.hpp"
#include "groth16/ops/cpu/ntt_kernels.hpp"

#include <memory>

#if defined(__x86_64__)

namespace cuzk::groth16::ntt_kernels {

using curve::Fr;

namespace {

namespace avx2 = curve::avx2;
using Field = avx2::FrVectorField;
using Fr8 = avx2::Vector<Field>;
using Fr1 = avx2::Broadcast<Field>;

static_assert(kLanes == 8);

CUZK_AVX2 __attribute__((noinline)) void multiply(const Fr8& a, const Fr8& b, Fr8& out) {
  avx2::multiply_pairs<1, Field, Fr8>({&a}, {&b}, out);
}

CUZK_AVX2 __attribute__((noinline)) void multiply(const Fr8& a, const Fr1& b, Fr8& out) {
  avx2::multiply_pairs<1, Field, Fr1>({&a}, {&b}, out);
}

// a·b + c·d.
CUZK_AVX2 __attribute__((noinline)) void multiply_sum(const Fr8& a, const Fr8& b, const Fr8& c,
                                                      const Fr8& d, Fr8& out) {
  avx2::multiply_pairs<2, Field, Fr8>({&a, &c}, {&b, &d}, out);
}

CUZK_AVX2_INLINE void add(const Fr8& a, const Fr1& b, Fr8& out) {
  for (unsigned k = 0; k < Field::limbs; ++k) {
    for (unsigned half = 0; half < 2; ++half) {
      avx2::set_limb(out, k, half, _mm256_add_pd(avx2::limb_of(a, k, half), _mm256_set1_pd(b[k])));
    }
  }
}

// Products here divide by 2^264, so a factor enters as w·2^264: Montgomery's w·2^256 times 2^8, in
// words below r.
const Fr& factor_scale() {
  static const Fr scale = Fr::power_of_two(8);
  return scale;
}

void prepare(RowFactors& factors) {
  factors.split.resize(factors.plain.size());
  for (std::size_t i = 0; i < factors.plain.size(); ++i) {
    const Fr scaled = factors.plain[i] * factor_scale();
    factors.split[i] = avx2::split<Field>(
        {scaled.limbs()[0], scaled.limbs()[1], scaled.limbs()[2], scaled.limbs()[3]});
  }
}

CUZK_AVX2 void load_factors(const Fr* factors, Fr8& out) {
  Fr scaled[kLanes];
  const std::uint64_t* sources[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    scaled[l] = factors[l] * factor_scale();
    sources[l] = scaled[l].limbs();
  }
  avx2::load_lanes(sources, out);
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

CUZK_AVX2 void load_row(const Tile& tile, std::size_t row, std::span<const Fr> in, Fr8& out) {
  static constexpr Fr kZero = Fr::zero();
  const std::uint64_t* sources[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::size_t index = tile.index(row, l);
    sources[l] = (index < in.size() ? in[index] : kZero).limbs();
  }
  avx2::load_lanes(sources, out);
}

CUZK_AVX2 void store_row(const Tile& tile, std::size_t row, const Fr8& value, std::span<Fr> out) {
  Fr spare;
  std::uint64_t* targets[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::size_t index = tile.index(row, l);
    targets[l] = (index < out.size() ? out[index] : spare).blst()->l;
  }
  avx2::store_lanes(value, targets);
}

CUZK_AVX2 void load(const Tile& tile, std::span<const Fr> in, Rows& rows) {
  for (std::size_t r = 0; r < tile.rows(); ++r) load_row(tile, r, in, rows[r]);
}

CUZK_AVX2 void store(const Tile& tile, const Rows& rows, std::span<Fr> out) {
  for (std::size_t r = 0; r < tile.rows(); ++r) store_row(tile, r, rows[r], out);
}

// Twiddles of all levels with the lanes' in them, level 0 first: level d has rows >> (d + 1).
class Twiddles {
 public:
  CUZK_AVX2 Twiddles(const Tile& tile, const RowFactors& row_twiddles)
      : rows_(tile.rows()), row_twiddles_(row_twiddles), merged_(nullptr) {
    if (tile.lane_twiddles == nullptr) return;
    Fr8* next = buffers().twiddles.data();
    merged_ = next;
    Fr8 lanes;
    load_factors(tile.lane_twiddles, lanes);
    for (unsigned level = 0; level < tile.log_rows; ++level) {
      if (level > 0) multiply(lanes, lanes, lanes);
      for (std::size_t j = 0; j < rows_ >> (level + 1); ++j)
        multiply(lanes, row_twiddles.split[j << level], *next++);
    }
  }

  // Calls butterfly(upper row, lower row, twiddle) for every butterfly of a level; the twiddle is
  // one for all lanes, or a vector. Where it is 1 and the rows lie next to each other, or next but
  // one, calls trivial(upper row, lower row).
  template <class Butterfly>
  CUZK_AVX2_INLINE void level(unsigned level, Rows& rows) const {
    const std::size_t half = rows_ >> (level + 1);
    if (merged_ != nullptr) {
      const Fr8* const twiddles = merged_ + (rows_ - (rows_ >> level));
      for (std::size_t j = 0; j < half; ++j) {
        for (std::size_t r = j; r < rows_; r += 2 * half)
          Butterfly::run(rows[r], rows[r + half], twiddles[j]);
      }
      return;
    }
    for (std::size_t j = 0; j < half; ++j) {
      if (j == 0 && half <= 2) {
        for (std::size_t r = 0; r < rows_; r += 2 * half) trivial(rows[r], rows[r + half]);
        continue;
      }
      const Fr1& twiddle = row_twiddles_.split[j << level];
      for (std::size_t r = j; r < rows_; r += 2 * half)
        Butterfly::run(rows[r], rows[r + half], twiddle);
    }
  }

 private:
  static CUZK_AVX2_INLINE void trivial(Fr8& upper, Fr8& lower) {
    Fr8 difference;
    avx2::subtract(upper, lower, difference);
    avx2::add(upper, lower, upper);
    lower = difference;
  }

  std::size_t rows_;
  const RowFactors& row_twiddles_;
  const Fr8* merged_;
};

// Values double in each level where they are not multiplied: from |x| < r on, five levels later |x|
// < 2^5·r and limbs are within 2^49, so that a difference of two times a factor (limbs of 45 bits)
// is still exact. Four levels after a reduction |x| < 2^4·r.
constexpr unsigned kLevelsUnreduced = 5;

struct ForwardButterfly {
  template <class Twiddle>
  static CUZK_AVX2_INLINE void run(Fr8& upper, Fr8& lower, const Twiddle& twiddle) {
    Fr8 difference;
    avx2::subtract(upper, lower, difference);
    avx2::add(upper, lower, upper);
    multiply(difference, twiddle, lower);
  }
};

// A product is within ±0.6·r here, so values grow by that much in each level, and so do their limbs
// by 2^44; in the first two, where some are not multiplied, they double.
struct BackwardButterfly {
  template <class Twiddle>
  static CUZK_AVX2_INLINE void run(Fr8& upper, Fr8& lower, const Twiddle& twiddle) {
    Fr8 product;
    multiply(lower, twiddle, product);
    avx2::subtract(upper, product, lower);
    avx2::add(upper, product, upper);
  }
};

CUZK_AVX2 void forward_levels(const Tile& tile, const Twiddles& twiddles, Rows& rows) {
  for (unsigned level = 0; level < tile.log_rows; ++level) {
    if (level > 0 && level % kLevelsUnreduced == 0) {
      for (std::size_t r = 0; r < tile.rows(); ++r) avx2::reduce(rows[r]);
    }
    twiddles.level<ForwardButterfly>(level, rows);
  }
}

CUZK_AVX2 void backward_levels(const Tile& tile, const Twiddles& twiddles, Rows& rows) {
  for (unsigned level = tile.log_rows; level-- > 0;) twiddles.level<BackwardButterfly>(level, rows);
}

CUZK_AVX2 void forward(const Tile& tile, const Vectors& vectors) {
  const Twiddles twiddles(tile, *tile.row_twiddles);
  Rows& rows = buffers().rows[0];
  for (unsigned v = 0; v < vectors.count; ++v) {
    load(tile, vectors.in[v], rows);
    forward_levels(tile, twiddles, rows);
    store(tile, rows, vectors.out[v]);
  }
}

CUZK_AVX2 void backward(const Tile& tile, const Vectors& vectors) {
  const Twiddles twiddles(tile, *tile.row_twiddles);
  Rows& rows = buffers().rows[0];
  for (unsigned v = 0; v < vectors.count; ++v) {
    load(tile, vectors.in[v], rows);
    backward_levels(tile, twiddles, rows);
    store(tile, rows, vectors.out[v]);
  }
}

CUZK_AVX2 void scale_between(const Tile& tile, const RowFactors& backward_twiddles,
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
      add(lanes, row_factors.split[r], factor);
      multiply(rows[r], factor, rows[r]);
    }
    backward_levels(tile, back, rows);
    store(tile, rows, vectors.out[v]);
  }
}

// Factors are read as they are, so that the products of Montgomery forms x·2^256 lack 2^8.
constexpr unsigned kCrossShift = 8;

CUZK_AVX2 void backward_cross(const Tile& tile, const Vectors& vectors,
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
    multiply_sum(rows[0][r], y, rows[1][r], x, x);
    store_row(tile, r, x, vectors.out[0]);
  }
}

}  // namespace

const Kernels& avx2_kernels() {
  static constexpr Kernels kernels = {prepare,       forward,        backward,
                                      scale_between, backward_cross, kCrossShift};
  return kernels;
}

}  // namespace cuzk::groth16::ntt_kernels

#endif
