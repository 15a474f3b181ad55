#include "curve/vector_field_avx2.hpp"
#include "groth16/ops/cpu/ntt_kernels.hpp"

#include <array>
#include <memory>
#include <span>

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

// Products here divide by 2^264, so a twiddle enters as w·2^264: Montgomery's w·2^256 times 2^8, in
// words below r.
const Fr& twiddle_scale() {
  static const Fr scale = Fr::power_of_two(8);
  return scale;
}

Fr1 prepare(const Fr& twiddle) {
  const Fr scaled = twiddle * twiddle_scale();
  return avx2::split<Field>(
      {scaled.limbs()[0], scaled.limbs()[1], scaled.limbs()[2], scaled.limbs()[3]});
}

// A tile in vectors: row r of all lanes is one of them.
class LocalTile {
 public:
  explicit LocalTile(const Tile& tile)
      : tile_(tile),
        rows_(std::size_t{1} << tile.log_rows),
        values_(buffers().values),
        row_twiddles_(buffers().twiddles) {
    for (std::size_t j = 0; j < rows_ / 2; ++j) row_twiddles_[j] = prepare(tile.row_twiddles[j]);
    if (tile.lane_twiddles != nullptr) {
      Fr scaled[kLanes];
      const std::uint64_t* sources[kLanes];
      for (unsigned l = 0; l < kLanes; ++l) {
        scaled[l] = tile.lane_twiddles[l] * twiddle_scale();
        sources[l] = scaled[l].limbs();
      }
      load_row(sources, lane_twiddles_);
    }
  }

  CUZK_AVX2 void load() {
    for (std::size_t r = 0; r < rows_; ++r) {
      const std::uint64_t* sources[kLanes];
      for (unsigned l = 0; l < kLanes; ++l) sources[l] = element(r, l).limbs();
      avx2::load_lanes(sources, values_[r]);
    }
  }
  CUZK_AVX2 void store() const {
    for (std::size_t r = 0; r < rows_; ++r) {
      std::uint64_t* targets[kLanes];
      for (unsigned l = 0; l < kLanes; ++l) targets[l] = element(r, l).blst()->l;
      avx2::store_lanes(values_[r], targets);
    }
  }
  CUZK_AVX2 void reduce() {
    for (std::size_t r = 0; r < rows_; ++r) avx2::reduce(values_[r]);
  }

  // The lanes' factors of level `level`: their twiddles to the power 2^level.
  CUZK_AVX2 Fr8 lane_factors(unsigned level) const {
    Fr8 out = lane_twiddles_;
    for (unsigned i = 0; i < level; ++i) multiply(out, out, out);
    return out;
  }

  // Calls butterfly(upper row, lower row, twiddle) for every butterfly of a level; the twiddle is
  // one for all lanes, or a vector.
  template <class Butterfly>
  CUZK_AVX2 void level(unsigned level, Butterfly&& butterfly) {
    const std::size_t half = rows_ >> (level + 1);
    const bool by_lanes = tile_.lane_twiddles != nullptr;
    const Fr8 factors = by_lanes ? lane_factors(level) : Fr8{};
    for (std::size_t j = 0; j < half; ++j) {
      const Fr1& row_twiddle = row_twiddles_[j << level];
      if (by_lanes) {
        Fr8 twiddle;
        multiply(factors, row_twiddle, twiddle);
        for (std::size_t r = j; r < rows_; r += 2 * half)
          butterfly(values_[r], values_[r + half], twiddle);
      } else {
        for (std::size_t r = j; r < rows_; r += 2 * half)
          butterfly(values_[r], values_[r + half], row_twiddle);
      }
    }
  }

 private:
  // Kept from tile to tile: memory of this size costs page faults whenever it is new.
  struct Buffers {
    std::array<Fr8, std::size_t{1} << kMaxLogRows> values;
    std::array<Fr1, (std::size_t{1} << kMaxLogRows) / 2> twiddles;
  };
  static Buffers& buffers() {
    thread_local const std::unique_ptr<Buffers> kept = std::make_unique<Buffers>();
    return *kept;
  }

  CUZK_AVX2 static void load_row(const std::uint64_t* const (&sources)[8], Fr8& out) {
    avx2::load_lanes(sources, out);
  }
  Fr& element(std::size_t row, unsigned lane) const {
    return tile_.data[row * tile_.row_stride + lane * tile_.lane_stride];
  }

  const Tile& tile_;
  std::size_t rows_;
  std::span<Fr8> values_;
  std::span<Fr1> row_twiddles_;
  Fr8 lane_twiddles_{};
};

// Sums double in each level: from |x| < r on, five levels later |x| < 2^5·r and limbs are within
// 2^49, so that a difference of two times a twiddle (limbs of 44 bits) is still exact.
constexpr unsigned kLevelsUnreduced = 5;

struct ForwardButterfly {
  template <class Twiddle>
  CUZK_AVX2 void operator()(Fr8& upper, Fr8& lower, const Twiddle& twiddle) const {
    Fr8 difference;
    avx2::subtract(upper, lower, difference);
    avx2::add(upper, lower, upper);
    multiply(difference, twiddle, lower);
  }
};

// A product is within ±0.6·r here, so sums grow by that much in each level, and so do their limbs
// by 2^44.
struct BackwardButterfly {
  template <class Twiddle>
  CUZK_AVX2 void operator()(Fr8& upper, Fr8& lower, const Twiddle& twiddle) const {
    Fr8 product;
    multiply(lower, twiddle, product);
    avx2::subtract(upper, product, lower);
    avx2::add(upper, product, upper);
  }
};

}  // namespace

CUZK_AVX2 void forward_avx2(const Tile& tile) {
  LocalTile local(tile);
  local.load();
  for (unsigned level = 0; level < tile.log_rows; ++level) {
    if (level > 0 && level % kLevelsUnreduced == 0) local.reduce();
    local.level(level, ForwardButterfly{});
  }
  local.store();
}

CUZK_AVX2 void backward_avx2(const Tile& tile) {
  LocalTile local(tile);
  local.load();
  for (unsigned level = tile.log_rows; level-- > 0;) local.level(level, BackwardButterfly{});
  local.store();
}

}  // namespace cuzk::groth16::ntt_kernels

#endif
