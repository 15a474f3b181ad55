#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "curve/fp.hpp"
#include "curve/params.hpp"

/// Eight elements of Fp at a time, on the floating-point units of AVX2 and FMA. Only for code that is compiled for these
/// (CUZK_AVX2) and reached after is_available(kAvx2).
///
/// An element is eight limbs of 48 bits, so that it is Fp's Montgomery form (R = 2^384) cut differently; limbs are signed
/// integers in doubles. A product of limbs is split exactly with two fused multiply-adds:
///   high = a·b + C1 with C1 = 1.5·2^100, which rounds a·b to a multiple of 2^48: C1 + H·2^48;
///   low  = a·b + ((C1 + C3) - high) with C3 = 1.5·2^52: C3 + (a·b - H·2^48), |a·b - H·2^48| <= 2^47.
/// Read as integers, their bits are those of C1 plus H and those of C3 plus the low part, so that columns add up in 64-bit
/// integers; the sum of the constants is subtracted beforehand. [N. Emmart, F. Zheng, C. Weems, "Faster modular
/// exponentiation using double precision floating point arithmetic on the GPU", ARITH 2018, for the splitting]
/// Valid while |a·b| < 2^99 for all limbs: limbs up to 2^49.5.
///
/// Values are reduced lazily: add and subtract do not reduce, and a product of |a| <= α·p and |b| <= β·p lies within
/// ±(αβ/9.8 + 0.5)·p.
#define CUZK_AVX2 __attribute__((target("avx2,fma")))
#define CUZK_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline

namespace cuzk::curve::avx2 {

inline constexpr unsigned kLimbs = 8;
inline constexpr unsigned kLimbBits = 48;
inline constexpr std::int64_t kLimbMask = (std::int64_t{1} << kLimbBits) - 1;

inline constexpr double kC1 = 1.5 * 0x1p100;
inline constexpr double kC3 = 1.5 * 0x1p52;
inline constexpr double kTwo52 = 0x1p52;

/// The limbs of an integer of six 64-bit words.
constexpr std::array<std::int64_t, kLimbs> split_limbs(const Limbs<6>& words) {
  std::array<std::int64_t, kLimbs> out{};
  for (unsigned k = 0; k < kLimbs; ++k) {
    const unsigned bit = k * kLimbBits, word = bit / 64, shift = bit % 64;
    std::uint64_t limb = words[word] >> shift;
    if (shift > 64 - kLimbBits) limb |= words[word + 1] << (64 - shift);
    out[k] = static_cast<std::int64_t>(limb) & kLimbMask;
  }
  return out;
}

/// Constants four times over, as vectors in memory.
struct alignas(64) Constants {
  double modulus[kLimbs][4];
  double inverse;             ///< -p⁻¹ mod 2^48, the representative nearest to zero
  double quotient_factor;     ///< 2^336/p

  static constexpr Constants make() {
    Constants out{};
    const auto limbs = split_limbs(kFpField.modulus);
    for (unsigned k = 0; k < kLimbs; ++k) {
      for (double& lane : out.modulus[k]) lane = static_cast<double>(limbs[k]);
    }
    std::int64_t inverse = static_cast<std::int64_t>(kFpField.negative_inverse) & kLimbMask;
    if (inverse > kLimbMask / 2) inverse -= kLimbMask + 1;
    out.inverse = static_cast<double>(inverse);
    out.quotient_factor = 1.0 / (static_cast<double>(limbs[7]) + static_cast<double>(limbs[6]) * 0x1p-48);
    return out;
  }
};
inline constexpr Constants kConstants = Constants::make();

/// What the 16 columns of `pairs` products and a reduction start with: minus the constants that they will collect, plus
/// 2^60 to stay positive, which the next column takes back as carry. The last column carries into nothing and stays signed.
constexpr std::array<std::int64_t, 17> column_starts(unsigned pairs) {
  std::array<std::int64_t, 17> out{};
  for (unsigned column = 0; column < 16; ++column) {
    std::uint64_t lows = 0, highs = 0;
    for (unsigned i = 0; i < kLimbs; ++i) {
      for (unsigned j = 0; j < kLimbs; ++j) {
        lows += i + j == column ? pairs + 1 : 0;
        highs += i + j + 1 == column ? pairs + 1 : 0;
      }
    }
    std::uint64_t start = 0;
    start -= lows * std::bit_cast<std::uint64_t>(kC3) + highs * std::bit_cast<std::uint64_t>(kC1);
    if (column < 15) start += std::uint64_t{1} << 60;
    if (column > 0) start -= std::uint64_t{1} << 12;
    out[column] = static_cast<std::int64_t>(start);
  }
  return out;
}

/// Eight elements: limb k of lane l is limb[k][l].
struct alignas(64) Fp8 {
  double limb[kLimbs][8];
};

namespace detail {

/// low += low part of x·y, high += high part, four lanes. In assembly because compilers reorder the integer additions and
/// then spill the sums.
CUZK_AVX2_INLINE void multiply_add(const double* x, const double* y, __m256i& low, __m256i& high, __m256d c1, __m256d c2) {
  __m256d x_value, y_value, high_part, low_part;
  asm("vmovapd %[xm], %[x]\n\t"
      "vmovapd %[ym], %[y]\n\t"
      "vmovapd %[c1], %[h]\n\t"
      "vfmadd231pd %[x], %[y], %[h]\n\t"
      "vsubpd %[h], %[c2], %[l]\n\t"
      "vfmadd231pd %[x], %[y], %[l]\n\t"
      "vpaddq %[h], %[high], %[high]\n\t"
      "vpaddq %[l], %[low], %[low]"
      : [low] "+x"(low), [high] "+x"(high), [x] "=&x"(x_value), [y] "=&x"(y_value), [h] "=&x"(high_part),
        [l] "=&x"(low_part)
      : [xm] "m"(*reinterpret_cast<const __m256d*>(x)), [ym] "m"(*reinterpret_cast<const __m256d*>(y)), [c1] "x"(c1),
        [c2] "x"(c2));
}

/// Column `Column` of x·y over the pairs (i, Column - i) from i = First on, i < End; both halves of the lanes side by side.
template <unsigned Column, unsigned I, unsigned End, unsigned YStride>
CUZK_AVX2_INLINE void column_products(const double (&x)[kLimbs][8], const double* y, __m256i (&low)[2], __m256i (&high)[2],
                                      __m256d c1, __m256d c2) {
  if constexpr (I < End) {
    if constexpr (I <= Column && Column - I < kLimbs) {
      const double* const y_limb = y + (Column - I) * YStride;
      multiply_add(&x[I][0], y_limb, low[0], high[0], c1, c2);
      multiply_add(&x[I][4], y_limb + (YStride == 8 ? 4 : 0), low[1], high[1], c1, c2);
    }
    column_products<Column, I + 1, End, YStride>(x, y, low, high, c1, c2);
  }
}

/// The multiple q of p that clears the low 48 bits of a column, |q| <= 2^47.
CUZK_AVX2_INLINE __m256d reduction_digit(__m256i column, __m256d c1, __m256d c2) {
  const __m256d two52 = _mm256_set1_pd(kTwo52), factor = _mm256_set1_pd(kConstants.inverse);
  const __m256i low = _mm256_and_si256(column, _mm256_set1_epi64x(kLimbMask));
  const __m256d x = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(low, _mm256_castpd_si256(two52))), two52);
  const __m256d high = _mm256_fmadd_pd(x, factor, c1);
  return _mm256_sub_pd(_mm256_fmadd_pd(x, factor, _mm256_sub_pd(c2, high)), _mm256_set1_pd(kC3));
}

/// A signed integer below 2^51 in magnitude as a double.
CUZK_AVX2_INLINE __m256d to_double(__m256i value) {
  const __m256d c3 = _mm256_set1_pd(kC3);
  return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(value, _mm256_castpd_si256(c3))), c3);
}

template <unsigned Pairs, unsigned Column>
CUZK_AVX2_INLINE void columns(const Fp8* const (&a)[Pairs], const Fp8* const (&b)[Pairs], Fp8& digits, Fp8& out,
                              __m256i (&low)[2], __m256d c1, __m256d c2) {
  if constexpr (Column < 16) {
    static constexpr auto kStarts = column_starts(Pairs);
    __m256i high[2] = {_mm256_set1_epi64x(kStarts[Column + 1]), _mm256_set1_epi64x(kStarts[Column + 1])};
    column_products<Column, 0, kLimbs, 8>(a[0]->limb, b[0]->limb[0], low, high, c1, c2);
    if constexpr (Pairs > 1) column_products<Column, 0, kLimbs, 8>(a[1]->limb, b[1]->limb[0], low, high, c1, c2);
    column_products<Column, 0, Column < kLimbs ? Column : kLimbs, 4>(digits.limb, kConstants.modulus[0], low, high, c1, c2);
    if constexpr (Column < kLimbs) {
      _mm256_store_pd(&digits.limb[Column][0], reduction_digit(low[0], c1, c2));
      _mm256_store_pd(&digits.limb[Column][4], reduction_digit(low[1], c1, c2));
      multiply_add(&digits.limb[Column][0], kConstants.modulus[0], low[0], high[0], c1, c2);
      multiply_add(&digits.limb[Column][4], kConstants.modulus[0], low[1], high[1], c1, c2);
    } else {
      const __m256i mask = _mm256_set1_epi64x(Column < 15 ? kLimbMask : -1);
      _mm256_store_pd(&out.limb[Column - kLimbs][0], to_double(_mm256_and_si256(low[0], mask)));
      _mm256_store_pd(&out.limb[Column - kLimbs][4], to_double(_mm256_and_si256(low[1], mask)));
    }
    high[0] = _mm256_add_epi64(high[0], _mm256_srli_epi64(low[0], kLimbBits));
    high[1] = _mm256_add_epi64(high[1], _mm256_srli_epi64(low[1], kLimbBits));
    columns<Pairs, Column + 1>(a, b, digits, out, high, c1, c2);
  }
}

template <unsigned Pairs>
CUZK_AVX2_INLINE void multiply_pairs(const Fp8* const (&a)[Pairs], const Fp8* const (&b)[Pairs], Fp8& out) {
  static constexpr auto kStarts = column_starts(Pairs);
  const __m256d c1 = _mm256_set1_pd(kC1), c2 = _mm256_set1_pd(kC1 + kC3);
  __m256i low[2] = {_mm256_set1_epi64x(kStarts[0]), _mm256_set1_epi64x(kStarts[0])};
  Fp8 digits, result;  // `out` may be an operand
  columns<Pairs, 0>(a, b, digits, result, low, c1, c2);
  out = result;
}

}  // namespace detail

/// out = a·b/R; limbs in [0, 2^48) but for the top one, which is signed.
CUZK_AVX2 void multiply(const Fp8& a, const Fp8& b, Fp8& out);
/// out = (a·b + c·d)/R with one reduction, likewise.
CUZK_AVX2 void multiply_sum(const Fp8& a, const Fp8& b, const Fp8& c, const Fp8& d, Fp8& out);

/// Limb by limb, without reduction.
CUZK_AVX2_INLINE void add(const Fp8& a, const Fp8& b, Fp8& out) {
  for (unsigned k = 0; k < kLimbs; ++k) {
    for (unsigned half = 0; half < 8; half += 4) {
      _mm256_store_pd(&out.limb[k][half], _mm256_add_pd(_mm256_load_pd(&a.limb[k][half]), _mm256_load_pd(&b.limb[k][half])));
    }
  }
}
CUZK_AVX2_INLINE void subtract(const Fp8& a, const Fp8& b, Fp8& out) {
  for (unsigned k = 0; k < kLimbs; ++k) {
    for (unsigned half = 0; half < 8; half += 4) {
      _mm256_store_pd(&out.limb[k][half], _mm256_sub_pd(_mm256_load_pd(&a.limb[k][half]), _mm256_load_pd(&b.limb[k][half])));
    }
  }
}
/// out = signs·a with signs of ±1, one a lane.
CUZK_AVX2_INLINE void apply_signs(const Fp8& a, const double (&signs)[8], Fp8& out) {
  for (unsigned k = 0; k < kLimbs; ++k) {
    for (unsigned half = 0; half < 8; half += 4) {
      _mm256_store_pd(&out.limb[k][half], _mm256_mul_pd(_mm256_load_pd(&a.limb[k][half]), _mm256_loadu_pd(&signs[half])));
    }
  }
}

/// Lane l is the element at the six words sources[l].
CUZK_AVX2 void load(const std::uint64_t* const (&sources)[8], Fp8& out);
inline constexpr double kMaxStored = 4;
/// Reduces to [0, p) and writes lane l to the six words targets[l]. Values must lie within ±kMaxStored·p.
CUZK_AVX2 void store(const Fp8& a, std::uint64_t* const (&targets)[8]);

}  // namespace cuzk::curve::avx2
