#include "groth16/ops/quotient.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "curve/params.hpp"
#include "groth16/ops/ntt.hpp"

#include <algorithm>

namespace cuzk::groth16 {

using curve::Fr;

namespace {

constexpr std::size_t kGrain = 4096;

// X*_i over D for the evaluations `values`, extended by zeros.
std::vector<Fr> derivative_times_x(const Domain& domain, std::span<const Fr> values) {
  std::vector<Fr> out(domain.n());
  std::copy(values.begin(), values.end(), out.begin());
  intt_unscaled(domain, out);
  // Element k is to be multiplied by k/n. The raw limbs {k, 0, 0, 0} are the Montgomery form of
  // k/R.
  const Fr r_over_n = Fr::from_montgomery(curve::kFrField.r2) * domain.n_inverse();
  base::parallel_ranges(out.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t k = reverse_bits(i, domain.log_n());
      out[i] *= Fr::from_montgomery({k, 0, 0, 0}) * r_over_n;
    }
  });
  ntt_from_bit_reversed(domain, out);
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

std::vector<Fr> quotient_derivative(const Domain& domain, std::span<const Fr> a,
                                    std::span<const Fr> b) {
  base::require(a.size() == b.size() && a.size() <= domain.n(),
                "quotient: {} and {} rows over a domain of {}", a.size(), b.size(), domain.n());
  std::vector<Fr> out = derivative_times_x(domain, a);
  out.resize(a.size());
  const std::vector<Fr> b_star = derivative_times_x(domain, b);
  base::parallel_ranges(out.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) out[i] = b[i] * out[i] + a[i] * b_star[i];
  });
  return out;
}

}  // namespace cuzk::groth16
