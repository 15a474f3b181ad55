#include "groth16/ops/ntt.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "curve/cpu_features.hpp"
#include "groth16/ops/cpu/ntt_kernels.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace cuzk::groth16 {

using curve::Fr;

namespace {

using ntt_kernels::kLanes;
using ntt_kernels::Tile;

constexpr unsigned kLogLanes = 3;
// Below, tiles would not fill their lanes.
constexpr unsigned kMinTiledLog = 2 * kLogLanes;

void require_size(const Domain& domain, std::span<const Fr> values) {
  base::require(values.size() == domain.n(), "NTT over 2^{} points called with {} elements",
                domain.log_n(), values.size());
}

std::vector<Fr> powers(const Fr& base, std::size_t count) {
  std::vector<Fr> out(count);
  Fr power = Fr::one();
  for (Fr& value : out) {
    value = power;
    power *= base;
  }
  return out;
}

// All levels over the whole vector, one element at a time.
void transform_small(std::span<Fr> values, const Fr& omega, bool forward) {
  const std::size_t n = values.size();
  const std::vector<Fr> twiddles = powers(omega, std::max<std::size_t>(n / 2, 1));
  const auto level = [&](std::size_t half) {
    const std::size_t step = n / (2 * half);
    for (std::size_t first = 0; first < n; first += 2 * half) {
      for (std::size_t j = 0; j < half; ++j) {
        Fr &upper = values[first + j], &lower = values[first + half + j];
        const Fr& twiddle = twiddles[j * step];
        if (forward) {
          const Fr difference = upper - lower;
          upper += lower;
          lower = difference * twiddle;
        } else {
          const Fr product = lower * twiddle;
          lower = upper - product;
          upper += product;
        }
      }
    }
  };
  if (forward) {
    for (std::size_t half = n / 2; half > 0; half /= 2) level(half);
  } else {
    for (std::size_t half = 1; half < n; half *= 2) level(half);
  }
}

// The vector as a matrix of `rows` rows: first (forward) or last (backward) the transforms of the
// columns, with the twiddles between the two steps merged into their butterflies; then each row on
// its own. [D. Bailey 1990, "FFTs in external or hierarchical memory"] Forward takes natural to
// bit-reversed order, backward bit-reversed to natural.
class TiledTransform {
 public:
  TiledTransform(std::span<Fr> values, unsigned log_n, const Fr& omega, bool forward,
                 NttArithmetic arithmetic)
      : values_(values),
        forward_(forward),
        kernel_(forward ? ntt_kernels::forward_scalar : ntt_kernels::backward_scalar) {
#if defined(__x86_64__)
    if (arithmetic == NttArithmetic::kBest && curve::cpu_has_avx2_fma()) {
      kernel_ = forward ? ntt_kernels::forward_avx2 : ntt_kernels::backward_avx2;
    }
#endif
    // Passes of at most 2^kMaxLogRows points, as equal as possible.
    const unsigned passes = (log_n + ntt_kernels::kMaxLogRows - 1) / ntt_kernels::kMaxLogRows;
    unsigned left = log_n;
    Fr root = omega;  // of order 2^left
    for (unsigned pass = 0; pass < std::max(passes, 2U); ++pass) {
      const unsigned log_rows = left / (std::max(passes, 2U) - pass);
      const unsigned log_columns = left - log_rows;
      passes_.push_back({log_rows, log_columns, root, root});
      for (unsigned i = 0; i < log_columns; ++i)
        passes_.back().row_root = passes_.back().row_root.square();
      for (unsigned i = 0; i < log_rows; ++i) root = root.square();
      left = log_columns;
    }
  }

  void run() {
    if (forward_) {
      for (std::size_t i = 0; i < passes_.size(); ++i) run_pass(i);
    } else {
      for (std::size_t i = passes_.size(); i-- > 0;) run_pass(i);
    }
  }

 private:
  struct Pass {
    unsigned log_rows, log_columns;
    Fr root;      // of order 2^(log_rows + log_columns)
    Fr row_root;  // of order 2^log_rows
  };

  void run_pass(std::size_t index) {
    const Pass& pass = passes_[index];
    const std::vector<Fr> row_twiddles =
        powers(pass.row_root, std::size_t{1} << pass.log_rows >> 1);
    const std::size_t columns = std::size_t{1} << pass.log_columns;
    const std::size_t tiles = values_.size() >> pass.log_rows >> kLogLanes;
    if (index + 1 == passes_.size()) {  // rows lie together; lanes are neighbouring rows
      const std::size_t rows = std::size_t{1} << pass.log_rows;
      base::parallel_for(tiles, [&](std::size_t tile) {
        kernel_(
            {&values_[tile * kLanes * rows], 1, rows, pass.log_rows, row_twiddles.data(), nullptr});
      });
      return;
    }
    const std::size_t tiles_per_block = columns / kLanes;
    base::parallel_for(tiles, [&](std::size_t tile) {
      const std::size_t block = tile / tiles_per_block, column = tile % tiles_per_block * kLanes;
      std::array<Fr, kLanes> lane_twiddles;
      lane_twiddles[0] = pass.root.pow(column);
      for (unsigned l = 1; l < kLanes; ++l) lane_twiddles[l] = lane_twiddles[l - 1] * pass.root;
      kernel_({&values_[(block << pass.log_rows << pass.log_columns) + column], columns, 1,
               pass.log_rows, row_twiddles.data(), lane_twiddles.data()});
    });
  }

  std::span<Fr> values_;
  bool forward_;
  void (*kernel_)(const Tile&);
  std::vector<Pass> passes_;
};

void transform(const Domain& domain, std::span<Fr> values, const Fr& omega, bool forward,
               NttArithmetic arithmetic) {
  require_size(domain, values);
  if (domain.log_n() < kMinTiledLog) {
    transform_small(values, omega, forward);
  } else {
    TiledTransform(values, domain.log_n(), omega, forward, arithmetic).run();
  }
}

void scale(std::span<Fr> values, const Fr& factor) {
  base::parallel_ranges(values.size(), 4096, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) values[i] *= factor;
  });
}

void scale_by_powers(std::span<Fr> values, const Fr& ratio) {
  base::parallel_ranges(values.size(), 4096, [&](std::size_t first, std::size_t last) {
    Fr power = ratio.pow(first);
    for (std::size_t i = first; i < last; ++i, power *= ratio) values[i] *= power;
  });
}

}  // namespace

void intt_unscaled(const Domain& domain, std::span<Fr> values, NttArithmetic arithmetic) {
  transform(domain, values, domain.omega_inverse(), true, arithmetic);
}

void ntt_from_bit_reversed(const Domain& domain, std::span<Fr> values, NttArithmetic arithmetic) {
  transform(domain, values, domain.omega(), false, arithmetic);
}

void permute_bit_reversed(const Domain& domain, std::span<Fr> values) {
  require_size(domain, values);
  base::parallel_ranges(values.size(), 4096, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t j = reverse_bits(i, domain.log_n());
      if (i < j) std::swap(values[i], values[j]);
    }
  });
}

// With the index split in two halves, the power of a reversed index is a product of two table
// entries.
void scale_by_powers_bit_reversed(const Domain& domain, std::span<Fr> values, const Fr& first,
                                  const Fr& ratio) {
  require_size(domain, values);
  const unsigned log_low = domain.log_n() / 2, log_high = domain.log_n() - log_low;
  // Position high·2^log_low + low holds natural index reverse(low)·2^log_high + reverse(high).
  std::vector<Fr> by_high(std::size_t{1} << log_high), by_low(std::size_t{1} << log_low);
  const std::vector<Fr> small = powers(ratio, by_high.size());
  const std::vector<Fr> large = powers(ratio.pow(by_high.size()), by_low.size());
  for (std::size_t i = 0; i < by_high.size(); ++i)
    by_high[i] = first * small[reverse_bits(i, log_high)];
  for (std::size_t i = 0; i < by_low.size(); ++i) by_low[i] = large[reverse_bits(i, log_low)];
  base::parallel_for(by_high.size(), [&](std::size_t high) {
    for (std::size_t low = 0; low < by_low.size(); ++low)
      values[(high << log_low) + low] *= by_high[high] * by_low[low];
  });
}

void ntt(const Domain& domain, std::span<Fr> values) {
  permute_bit_reversed(domain, values);
  ntt_from_bit_reversed(domain, values);
}

void intt(const Domain& domain, std::span<Fr> values) {
  intt_unscaled(domain, values);
  scale(values, domain.n_inverse());
  permute_bit_reversed(domain, values);
}

void coset_ntt(const Domain& domain, std::span<Fr> values) {
  require_size(domain, values);
  scale_by_powers(values, Domain::coset_shift());
  ntt(domain, values);
}

void coset_intt(const Domain& domain, std::span<Fr> values) {
  intt_unscaled(domain, values);
  scale_by_powers_bit_reversed(domain, values, domain.n_inverse(), Domain::coset_shift_inverse());
  permute_bit_reversed(domain, values);
}

}  // namespace cuzk::groth16
