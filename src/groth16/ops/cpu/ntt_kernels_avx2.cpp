#include "curve/vector_field_avx2.hpp"
#include "groth16/ops/cpu/ntt_kernels.hpp"

#if defined(__x86_64__)

namespace cuzk::groth16::ntt_kernels::avx2 {

using curve::Fr;

namespace {

namespace vectors = curve::avx2;
using Field = vectors::FrVectorField;
using Fr8 = vectors::Vector<Field>;
using Fr1 = vectors::Broadcast<Field>;

std::vector<Fr1>& split_factors(RowFactors& factors) { return factors.avx2; }
const std::vector<Fr1>& split_factors(const RowFactors& factors) { return factors.avx2; }

// Products divide by 2^264.
constexpr unsigned kProductShift = 8;

template <class Factor>
CUZK_AVX2 __attribute__((noinline)) void multiply(const Fr8& a, const Factor& b, Fr8& out) {
  vectors::multiply_pairs<1, Field, Factor>({&a}, {&b}, out);
}

// a·b + c·d.
CUZK_AVX2 __attribute__((noinline)) void multiply_sum(const Fr8& a, const Fr8& b, const Fr8& c,
                                                      const Fr8& d, Fr8& out) {
  vectors::multiply_pairs<2, Field, Fr8>({&a, &c}, {&b, &d}, out);
}

CUZK_AVX2_INLINE void add_factor(const Fr8& a, const Fr1& b, Fr8& out) {
  for (unsigned k = 0; k < Field::limbs; ++k) {
    for (unsigned half = 0; half < 2; ++half) {
      vectors::set_limb(out, k, half,
                        _mm256_add_pd(vectors::limb_of(a, k, half), _mm256_set1_pd(b[k])));
    }
  }
}

// Sums are operands as they are.
CUZK_AVX2_INLINE void to_operand(Fr8&) {}

CUZK_AVX2_INLINE void scale(Fr8& row, const Fr8& factor) { multiply(row, factor, row); }

// Values double in each level where they are not multiplied: from |x| < r on, five levels later |x|
// < 2^5·r and limbs are within 2^49, so that a difference of two times a factor (limbs of 45 bits)
// is still exact. Four levels after a reduction |x| < 2^4·r.
constexpr unsigned kLevelsUnreduced = 5;

CUZK_AVX2_INLINE void sum_and_difference(Fr8& upper, Fr8& lower) {
  Fr8 difference;
  vectors::subtract(upper, lower, difference);
  vectors::add(upper, lower, upper);
  lower = difference;
}

struct ForwardButterfly {
  explicit ForwardButterfly(unsigned /*level since a reduction*/) {}

  template <class Twiddle>
  CUZK_AVX2_INLINE void run(Fr8& upper, Fr8& lower, const Twiddle& twiddle) const {
    Fr8 difference;
    vectors::subtract(upper, lower, difference);
    vectors::add(upper, lower, upper);
    multiply(difference, twiddle, lower);
  }
  CUZK_AVX2_INLINE void trivial(Fr8& upper, Fr8& lower) const { sum_and_difference(upper, lower); }
};

// A product is within ±0.6·r here, so values grow by that much in each level, and so do their limbs
// by 2^44; in the first two, where some are not multiplied, they double.
struct BackwardButterfly {
  explicit BackwardButterfly(unsigned /*levels before*/) {}

  template <class Twiddle>
  CUZK_AVX2_INLINE void run(Fr8& upper, Fr8& lower, const Twiddle& twiddle) const {
    Fr8 product;
    multiply(lower, twiddle, product);
    vectors::subtract(upper, product, lower);
    vectors::add(upper, product, upper);
  }
  CUZK_AVX2_INLINE void trivial(Fr8& upper, Fr8& lower) const { sum_and_difference(upper, lower); }
};

}  // namespace

}  // namespace cuzk::groth16::ntt_kernels::avx2

#define CUZK_ARITHMETIC avx2
#define CUZK_TARGET CUZK_AVX2
#define CUZK_TARGET_INLINE CUZK_AVX2_INLINE
#include "groth16/ops/cpu/ntt_tile_loops.hpp"

namespace cuzk::groth16::ntt_kernels {

const Kernels& avx2_kernels() {
  static constexpr Kernels kernels = {avx2::prepare,        avx2::forward,
                                      avx2::backward,       avx2::scale_between,
                                      avx2::backward_cross, avx2::kProductShift};
  return kernels;
}

}  // namespace cuzk::groth16::ntt_kernels

#endif
