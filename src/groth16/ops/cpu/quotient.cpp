#include "groth16/ops/quotient.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/ops/cpu/ntt_passes.hpp"

#include <array>
#include <utility>
#include <vector>

namespace cuzk::groth16 {

using curve::Fr;

namespace {

constexpr std::size_t kGrain = 4096;

// Element k of a polynomial's coefficients is to be multiplied by k/n, the transforms' factor
// included.
Fr derivative_factor(const Domain& domain, std::size_t k) {
  return Fr::from_u64(k) * domain.n_inverse();
}

// For domains whose transforms are not done in tiles.
base::LargeArray<Fr> derivative_small(const Domain& domain, std::span<const Fr> a,
                                      std::span<const Fr> b) {
  std::array<std::vector<Fr>, 2> star;
  for (const auto& [values, out] : {std::pair(a, &star[0]), std::pair(b, &star[1])}) {
    out->assign(values.begin(), values.end());
    out->resize(domain.n());
    intt_unscaled(domain, *out);
    for (std::size_t i = 0; i < domain.n(); ++i)
      (*out)[i] *= derivative_factor(domain, reverse_bits(i, domain.log_n()));
    ntt_from_bit_reversed(domain, *out);
  }
  base::LargeArray<Fr> out(a.size(), base::LargePages::kNo);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = b[i] * star[0][i] + a[i] * star[1][i];
  return out;
}

// Both vectors together, so that they share their twiddles. The last pass of the inverse transform,
// the factors k, and the first pass of the transform back are one sweep; so are its last pass and
// the products.
base::LargeArray<Fr> derivative_tiled(const Domain& domain, std::span<const Fr> a,
                                      std::span<const Fr> b, curve::Arithmetic arithmetic) {
  using ntt_kernels::kLanes;
  using ntt_kernels::Tile;
  const unsigned log_n = domain.log_n();
  const NttPasses inverse(log_n, domain.omega_inverse(), arithmetic),
      back(log_n, domain.omega(), arithmetic);
  const ntt_kernels::Kernels& kernels = inverse.kernels();
  const std::size_t last = inverse.last();
  std::array<base::LargeArray<Fr>, 2> work = {
      base::LargeArray<Fr>(domain.n(), base::LargePages::kNo),
      base::LargeArray<Fr>(domain.n(), base::LargePages::kNo)};
  const ntt_kernels::Vectors first_sweep = {2, {a, b}, {work[0], work[1]}},
                             in_place = {2, {work[0], work[1]}, {work[0], work[1]}};
  for (std::size_t pass = 0; pass < last; ++pass) {
    inverse.for_each_tile(
        pass, [&](const Tile& tile) { kernels.forward(tile, pass == 0 ? first_sweep : in_place); });
  }
  // The element with row r in block q of the last pass has natural index reverse(r)·2^(log_n -
  // log_rows) + reverse(q).
  const unsigned log_rows = inverse.log_rows(last), log_blocks = log_n - log_rows;
  const Fr scale = Fr::power_of_two(kernels.cross_shift);
  ntt_kernels::RowFactors row_factors;
  for (std::size_t r = 0; r < std::size_t{1} << log_rows; ++r) {
    row_factors.plain.push_back(derivative_factor(domain, reverse_bits(r, log_rows) << log_blocks) *
                                scale);
  }
  kernels.prepare(row_factors);
  inverse.for_each_tile(last, [&](const Tile& tile) {
    std::array<Fr, kLanes> lane_factors;
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::size_t block = (tile.first >> log_rows) + l;
      lane_factors[l] = derivative_factor(domain, reverse_bits(block, log_blocks)) * scale;
    }
    kernels.scale_between(tile, back.row_twiddles(last), row_factors, lane_factors.data(),
                          in_place);
  });
  for (std::size_t pass = last; pass-- > 1;)
    back.for_each_tile(pass, [&](const Tile& tile) { kernels.backward(tile, in_place); });
  base::LargeArray<Fr> out(a.size(), base::LargePages::kNo);
  const ntt_kernels::Vectors last_sweep = {2, {work[0], work[1]}, {out, {}}};
  back.for_each_tile(0, [&](const Tile& tile) {
    kernels.backward_cross(tile, last_sweep, {a, b});
  });
  return out;
}

}  // namespace

void quotient_textbook(const Domain& domain, std::span<Fr> a, std::span<Fr> b, std::span<Fr> c) {
  for (const std::span<Fr> values : {a, b, c}) {
    intt_unscaled(domain, values);
    scale_by_powers_bit_reversed(domain, values, domain.n_inverse(), Domain::coset_shift());
    ntt_from_bit_reversed(domain, values);
  }
  const Fr t_inverse = domain.vanishing(Domain::coset_shift()).inverse();
  base::parallel_ranges(a.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) a[i] = (a[i] * b[i] - c[i]) * t_inverse;
  });
  coset_intt(domain, a);
}

base::LargeArray<Fr> quotient_derivative(const Domain& domain, std::span<const Fr> a,
                                         std::span<const Fr> b, curve::Arithmetic arithmetic) {
  base::require(a.size() == b.size() && a.size() <= domain.n(),
                "quotient: {} and {} rows over a domain of {}", a.size(), b.size(), domain.n());
  return domain.log_n() < NttPasses::kMinLog ? derivative_small(domain, a, b)
                                             : derivative_tiled(domain, a, b, arithmetic);
}

}  // namespace cuzk::groth16
