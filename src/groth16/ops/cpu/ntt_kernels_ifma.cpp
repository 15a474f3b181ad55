#include "curve/vector_lanes_ifma.hpp"
#include "groth16/ops/cpu/ntt_kernels.hpp"

#include <array>
#include <utility>
#include <vector>

#if defined(__x86_64__)

namespace cuzk::groth16::ntt_kernels::ifma {

using curve::Fr;

namespace {

namespace vectors = curve::ifma;
using Field = vectors::FrVectorField;
using Fr8 = vectors::Vector<Field>;
using Fr1 = vectors::Broadcast<Field>;

std::vector<Fr1>& split_factors(RowFactors& factors) { return factors.ifma; }
const std::vector<Fr1>& split_factors(const RowFactors& factors) { return factors.ifma; }

// Products divide by 2^260.
constexpr unsigned kProductShift = 4;

// Bounds, in multiples of r. Values must stay below 2^260, which is 35.3. The product of x and a
// factor is below 0.06·x + 2: factors of rows are below 1, those of lanes and products of both
// below 2.1.

template <class Factor>
CUZK_IFMA __attribute__((noinline)) void multiply(const Fr8& a, const Factor& b, Fr8& out) {
  vectors::multiply_pairs<1, Field, Factor>({&a}, {&b}, out);
}

// a·b + c·d.
CUZK_IFMA __attribute__((noinline)) void multiply_sum(const Fr8& a, const Fr8& b, const Fr8& c,
                                                      const Fr8& d, Fr8& out) {
  vectors::multiply_pairs<2, Field, Fr8>({&a, &c}, {&b, &d}, out);
}

CUZK_IFMA_INLINE void add_factor(const Fr8& a, const Fr1& b, Fr8& out) {
  vectors::add(a, b, out);
  vectors::carry(out);
}

CUZK_IFMA_INLINE void to_operand(Fr8& row) { vectors::carry(row); }

// To values below 2.
CUZK_IFMA_INLINE void scale(Fr8& row, const Fr8& factor) {
  vectors::carry(row);
  multiply(row, factor, row);
  vectors::reduce(row);
}

// kMultiples[i]: i + 1.
template <unsigned... kBefore>
constexpr std::array<Fr1, sizeof...(kBefore)> multiples(
    std::integer_sequence<unsigned, kBefore...>) {
  return {vectors::kMultiple<Field, kBefore + 1>...};
}
constexpr auto kMultiples = multiples(std::make_integer_sequence<unsigned, 16>());

// x + y, and x - y + bias without carries.
CUZK_IFMA_INLINE void sum_and_difference(Fr8& x, Fr8& y, const Fr1& bias) {
  Fr8 difference;
  vectors::subtract(difference, x, y, bias);
  vectors::add(x, y, x);
  y = difference;
}

// Values are below 2 first, and after a reduction; each level doubles the bound, for products are
// below 0.06·32 + 2 at most. After four levels they are below 32.
constexpr unsigned kLevelsUnreduced = 4;

class ForwardButterfly {
 public:
  explicit ForwardButterfly(unsigned level) : bias_(kMultiples[(2U << level) - 1]) {}

  template <class Twiddle>
  CUZK_IFMA __attribute__((noinline)) void run(Fr8& upper, Fr8& lower,
                                               const Twiddle& twiddle) const {
    Fr8 difference;
    vectors::subtract(difference, upper, lower, bias_);
    vectors::carry(difference);
    vectors::add(upper, lower, upper);
    vectors::multiply_pairs<1, Field, Twiddle>({&difference}, {&twiddle}, lower);
  }
  CUZK_IFMA_INLINE void trivial(Fr8& upper, Fr8& lower) const {
    sum_and_difference(upper, lower, bias_);
  }

 private:
  const Fr1& bias_;
};

// From values below 2 on, each level adds a product or its bound, which is 3 while values are below
// 16, then 4: they are below 17 after five levels, 33 after nine. In the first two, some are not
// multiplied but doubled: they are below 4 and 8.
class BackwardButterfly {
 public:
  explicit BackwardButterfly(unsigned levels_before)
      : bias_(kMultiples[levels_before < 5 ? 2 : 3]),
        trivial_bias_(kMultiples[levels_before == 0 ? 1 : 3]) {}

  template <class Twiddle>
  CUZK_IFMA __attribute__((noinline)) void run(Fr8& upper, Fr8& lower,
                                               const Twiddle& twiddle) const {
    Fr8 product = lower;
    vectors::carry(product);
    vectors::multiply_pairs<1, Field, Twiddle>({&product}, {&twiddle}, product);
    vectors::subtract(lower, upper, product, bias_);
    vectors::add(upper, product, upper);
  }
  CUZK_IFMA_INLINE void trivial(Fr8& upper, Fr8& lower) const {
    sum_and_difference(upper, lower, trivial_bias_);
  }

 private:
  const Fr1& bias_;
  const Fr1& trivial_bias_;
};

}  // namespace

}  // namespace cuzk::groth16::ntt_kernels::ifma

#define CUZK_ARITHMETIC ifma
#define CUZK_TARGET CUZK_IFMA
#define CUZK_TARGET_INLINE CUZK_IFMA_INLINE
#include "groth16/ops/cpu/ntt_tile_loops.hpp"

namespace cuzk::groth16::ntt_kernels {

const Kernels& ifma_kernels() {
  static constexpr Kernels kernels = {ifma::prepare,        ifma::forward,
                                      ifma::backward,       ifma::scale_between,
                                      ifma::backward_cross, ifma::kProductShift};
  return kernels;
}

}  // namespace cuzk::groth16::ntt_kernels

#endif
