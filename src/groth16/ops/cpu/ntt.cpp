#include "groth16/ops/ntt.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/ops/cpu/ntt_passes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cuzk::groth16 {

using curve::Fr;

namespace {

void require_size(const Domain& domain, std::span<const Fr> values) {
  base::require(values.size() == domain.n(), "NTT over 2^{} points called with {} elements",
                domain.log_n(), values.size());
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

void transform(const Domain& domain, std::span<Fr> values, const Fr& omega, bool forward,
               curve::Arithmetic arithmetic) {
  require_size(domain, values);
  if (domain.log_n() < NttPasses::kMinLog) return transform_small(values, omega, forward);
  const NttPasses passes(domain.log_n(), omega, arithmetic);
  const auto run = forward ? passes.kernels().forward : passes.kernels().backward;
  const ntt_kernels::Vectors vectors = {1, {values}, {values}};
  for (std::size_t i = 0; i < passes.count(); ++i) {
    passes.for_each_tile(forward ? i : passes.last() - i,
                         [&](const ntt_kernels::Tile& tile) { run(tile, vectors); });
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

void intt_unscaled(const Domain& domain, std::span<Fr> values, curve::Arithmetic arithmetic) {
  transform(domain, values, domain.omega_inverse(), true, arithmetic);
}

void ntt_from_bit_reversed(const Domain& domain, std::span<Fr> values,
                           curve::Arithmetic arithmetic) {
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
