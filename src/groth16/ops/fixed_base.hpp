#pragma once

#include "curve/batch_add.hpp"
#include "curve/fr.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <span>
#include <vector>

namespace cuzk::groth16 {

/// Many multiples of one point: for each window of at most c bits of a scalar a table of the
/// multiples of 2^(the window's first bit)·base, then ⌈255/c⌉ affine additions a scalar. The tables
/// take ⌈255/c⌉·2^(c-1) points: 50 MB in G1 at c = 16.
template <class F>
class FixedBase {
 public:
  /// `scalars` is how many multiplications are to come; it chooses the window. In parallel.
  FixedBase(const curve::AffinePoint<F>& base, std::size_t scalars);

  /// out[i] = scalars[i]·base, in affine form. In parallel. Throws InvalidInput if the sizes
  /// differ.
  void multiply(std::span<const curve::Fr> scalars, std::span<curve::AffinePoint<F>> out) const;

 private:
  unsigned window_bits_;
  // tables_[w][k - 1] = k·2^start·base, k <= limit, for window w of cpu/digits.hpp's windows.
  std::vector<std::vector<curve::AffinePoint<F>>> tables_;
};

extern template class FixedBase<curve::Fp>;
extern template class FixedBase<curve::Fp2>;

}  // namespace cuzk::groth16
