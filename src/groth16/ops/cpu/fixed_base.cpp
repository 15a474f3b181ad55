#include "groth16/ops/fixed_base.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/ops/cpu/digits.hpp"

#include <algorithm>

namespace cuzk::groth16 {

using curve::AffinePoint;
using curve::Fr;

namespace {

unsigned window_bits_for(std::size_t scalars) {
  unsigned best = 4;
  std::size_t best_cost = ~std::size_t{0};
  for (unsigned bits = 4; bits <= 16; ++bits) {
    const std::size_t windows = (Fr::kNumBits + bits - 1) / bits;
    const std::size_t cost = windows * (scalars + (std::size_t{1} << (bits - 1)));
    if (cost < best_cost) {
      best = bits;
      best_cost = cost;
    }
  }
  return best;
}

// The multiples 1 ... count of a point, count a power of two: each step adds the last known one to
// all known ones.
template <class F>
std::vector<AffinePoint<F>> multiples(const AffinePoint<F>& base, std::size_t count) {
  std::vector<AffinePoint<F>> out = {base};
  out.reserve(count);
  std::vector<curve::PointAddition<F>> additions;
  curve::BatchAdder<F> adder;
  while (out.size() < count) {
    const std::size_t known = out.size();
    out.insert(out.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(known));
    additions.clear();
    for (std::size_t i = 0; i < known; ++i)
      additions.push_back({&out[known + i], &out[known - 1], false});
    adder.add(additions);
  }
  return out;
}

}  // namespace

template <class F>
FixedBase<F>::FixedBase(const AffinePoint<F>& base, std::size_t scalars)
    : window_bits_(window_bits_for(scalars)) {
  const DigitWindows windows(window_bits_);
  std::vector<curve::JacobianPoint<F>> bases = {curve::JacobianPoint<F>::from(base)};
  for (unsigned w = 0; w + 1 < windows.count(); ++w) {
    curve::JacobianPoint<F> next = bases.back();
    for (unsigned i = 0; i < windows.width(w); ++i) next = next.doubled();
    bases.push_back(next);
  }
  const std::vector<AffinePoint<F>> affine_bases = curve::normalize<F>(bases);
  tables_.resize(windows.count());
  base::parallel_tasks(tables_.size(), [&](std::size_t w) {
    tables_[w] = multiples(affine_bases[w], windows.limit(static_cast<unsigned>(w)));
  });
}

template <class F>
void FixedBase<F>::multiply(std::span<const Fr> scalars, std::span<AffinePoint<F>> out) const {
  base::require(scalars.size() == out.size(), "fixed base: {} scalars and room for {}",
                scalars.size(), out.size());
  const SignedDigits digits(scalars, DigitWindows(window_bits_));
  // Of one window after the other, so that a table stays in cache for a whole run of scalars.
  base::parallel_ranges(
      scalars.size(), 8 * curve::BatchAdder<F>::kCapacity,
      [&](std::size_t first, std::size_t last) {
        curve::BatchAdder<F> adder;
        std::vector<curve::PointAddition<F>> additions;
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(first),
                  out.begin() + static_cast<std::ptrdiff_t>(last), AffinePoint<F>::identity());
        for (unsigned w = 0; w < tables_.size(); ++w) {
          additions.clear();
          for (std::size_t i = first; i < last; ++i) {
            const std::int32_t digit = digits.digit(i, w);
            if (digit == 0) continue;
            const std::size_t multiple = static_cast<std::size_t>(digit < 0 ? -digit : digit);
            additions.push_back({&out[i], &tables_[w][multiple - 1], digit < 0});
          }
          adder.add(additions);
        }
      });
}

template class FixedBase<curve::Fp>;
template class FixedBase<curve::Fp2>;

}  // namespace cuzk::groth16
