#pragma once

#include "curve/fp2.hpp"
#include "curve/vector_field_avx2.hpp"

#if defined(__x86_64__)

/// Eight elements of a coordinate field side by side (field8.hpp); bounds as in
/// vector_field_avx2.hpp. Only for code that is compiled for AVX2 and FMA.
namespace cuzk::curve::avx2 {

using Fp8 = Vector<FpVectorField>;

// Compiled once: a product is some ten kB of code.

/// out = a·b.
void multiply_fp(const Fp8& a, const Fp8& b, Fp8& out);
/// out = a·a.
void square_fp(const Fp8& a, Fp8& out);
/// out = a·b + c·d.
void multiply_sum_fp(const Fp8& a, const Fp8& b, const Fp8& c, const Fp8& d, Fp8& out);
void load_fp(const std::uint64_t* const (&sources)[8], Fp8& out);
void store_fp(const Fp8& value, std::uint64_t* const (&targets)[8]);

/// Products are Montgomery's: R' = R.
inline constexpr unsigned kHalfShift = 0;
template <unsigned kShift>
CUZK_AVX2_INLINE void shift_left(Fp8&) {
  static_assert(kShift == 0);
}

/// out = a - Σ b; signed values need no bound.
template <unsigned kBound, class... B>
CUZK_AVX2_INLINE void difference(Fp8& out, const Fp8& a, const Fp8& first, const B&... b) {
  subtract(a, first, out);
  (subtract(out, b, out), ...);
}

/// Sums are operands as they are.
CUZK_AVX2_INLINE void carry(Fp8&) {}

struct Signs {
  double of_lane[8] = {1, 1, 1, 1, 1, 1, 1, 1};

  void set(unsigned lane, bool negate) { of_lane[lane] = negate ? -1.0 : 1.0; }
};

CUZK_AVX2_INLINE void apply_signs(const Fp8& a, const Signs& signs, Fp8& out) {
  apply_signs(a, signs.of_lane, out);
}

CUZK_AVX2_INLINE void negate(const Fp8& a, Fp8& out) {
  static constexpr double kMinus[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  apply_signs(a, kMinus, out);
}

}  // namespace cuzk::curve::avx2

#define CUZK_ARITHMETIC avx2
#define CUZK_TARGET_INLINE CUZK_AVX2_INLINE
#include "curve/field8.hpp"

#endif
