#pragma once

#include "curve/batch_add.hpp"
#include "curve/fr.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <span>
#include <vector>

namespace cuzk::groth16 {

/// Many multiples of one point: tables of the multiples of 2^(cw)·base for each window w of c bits,
/// then ⌈255/c⌉ affine additions a scalar. A table takes ⌈255/c⌉·2^(c-1) points: 50 MB in G1 at c
/// = 16.
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
  std::vector<std::vector<curve::AffinePoint<F>>>
      tables_;  // tables_[w][k - 1] = k·2^(cw)·base, k <= 2^(c-1)
};

extern template class FixedBase<curve::Fp>;
extern template class FixedBase<curve::Fp2>;

}  // namespace cuzk::groth16
