#pragma once

#if defined(__x86_64__)

#include "curve/params.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

/// Eight elements of a field at a time, on the floating-point units of AVX2 and FMA. Only for code
/// that is compiled for these (CUZK_AVX2) and reached after is_available(kAvx2).
///
/// An element is a few limbs of b bits: signed integers in doubles. For Fp they are eight of 48
/// bits, so that its Montgomery form (R = 2^384) is that of class Fp, cut differently; for Fr six
/// of 44 bits, with R = 2^264 in products. A product of limbs is split exactly with two fused
/// multiply-adds:
///   high = x·y + C1 with C1 = 1.5·2^(52 + b), which rounds x·y to a multiple of 2^b: C1 + H·2^b;
///   low  = x·y + ((C1 + C3) - high) with C3 = 1.5·2^52: C3 + (x·y - H·2^b), |x·y - H·2^b| <=
///   2^(b-1).
/// Read as integers, their bits are those of C1 plus H and those of C3 plus the low part, so that
/// columns add up in 64-bit integers; the sum of the constants is subtracted beforehand. [N.
/// Emmart, F. Zheng, C. Weems, "Faster modular exponentiation using double precision floating point
/// arithmetic on the GPU", ARITH 2018, for the splitting] Valid while |x·y| < 2^(51 + b) for all
/// limbs.
///
/// Values are reduced lazily: add and subtract do not reduce, and a product of |x| <= α·m and |y|
/// <= β·m (m the modulus) lies within ±(αβ·m/R + 0.5)·m.
#define CUZK_AVX2 __attribute__((target("avx2,fma")))
#define CUZK_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline
#if defined(__clang__)
#define CUZK_UNROLL _Pragma("unroll")
#else
#define CUZK_UNROLL _Pragma("GCC unroll 8")
#endif

namespace cuzk::curve::avx2 {

inline constexpr double kC3 = 1.5 * 0x1p52;
inline constexpr double kTwo52 = 0x1p52;

/// A field's limbs: kWords 64-bit words as kCount limbs of kBits bits.
template <std::size_t kWords, unsigned kCount, unsigned kBits>
struct Layout {
  static constexpr std::size_t words = kWords;
  static constexpr unsigned limbs = kCount;
  static constexpr unsigned bits = kBits;
  static constexpr std::int64_t mask = (std::int64_t{1} << kBits) - 1;
  static constexpr double c1 = 1.5 * 0x1p52 * static_cast<double>(std::int64_t{1} << kBits);
};

struct FpVectorField : Layout<6, 8, 48> {
  static constexpr const PrimeField<6>& field = kFpField;
};
struct FrVectorField : Layout<4, 6, 44> {
  static constexpr const PrimeField<4>& field = kFrField;
};

/// The limbs of an integer of V::words words.
template <class V>
constexpr std::array<double, V::limbs> split(const Limbs<V::words>& value) {
  std::array<double, V::limbs> out{};
  for (unsigned k = 0; k < V::limbs; ++k) {
    out[k] =
        static_cast<double>(static_cast<std::int64_t>(wide::bits(value, k * V::bits, V::bits)));
  }
  return out;
}

template <class V>
struct Constants {
  std::array<double, V::limbs> modulus;
  double inverse;          ///< -m⁻¹ mod 2^b, the representative nearest to zero
  double quotient_factor;  ///< 2^(b·(limbs - 1))/m

  static constexpr Constants make() {
    Constants out{split<V>(V::field.modulus), 0, 0};
    std::int64_t inverse = static_cast<std::int64_t>(V::field.negative_inverse) & V::mask;
    if (inverse > V::mask / 2) inverse -= V::mask + 1;
    out.inverse = static_cast<double>(inverse);
    const double limb = static_cast<double>(V::mask + 1);
    out.quotient_factor = 1.0 / (out.modulus[V::limbs - 1] + out.modulus[V::limbs - 2] / limb);
    return out;
  }
};
template <class V>
inline constexpr Constants<V> kConstants = Constants<V>::make();

/// What a product adds up before its reduction: all pairs of limbs of one or two products, or of a
/// square, which needs half of them with a factor doubled.
enum class Terms { kProduct, kTwoProducts, kSquare };

/// What the columns of such sums and a reduction start with: minus the constants that they
/// will collect, plus 2^60 to stay positive, which the next column takes back as carry. The last
/// column carries into nothing and stays signed.
template <class V>
constexpr std::array<std::int64_t, 2 * V::limbs + 1> column_starts(Terms terms) {
  std::array<std::int64_t, 2 * V::limbs + 1> out{};
  for (unsigned column = 0; column < 2 * V::limbs; ++column) {
    std::uint64_t lows = 0, highs = 0;
    for (unsigned i = 0; i < V::limbs; ++i) {
      for (unsigned j = 0; j < V::limbs; ++j) {
        const std::uint64_t products = terms == Terms::kTwoProducts       ? 3
                                       : terms == Terms::kSquare && i > j ? 1
                                                                          : 2;
        lows += i + j == column ? products : 0;
        highs += i + j + 1 == column ? products : 0;
      }
    }
    std::uint64_t start = 0;
    start -= lows * std::bit_cast<std::uint64_t>(kC3) + highs * std::bit_cast<std::uint64_t>(V::c1);
    if (column < 2 * V::limbs - 1) start += std::uint64_t{1} << 60;
    if (column > 0) start -= std::uint64_t{1} << (60 - V::bits);
    out[column] = static_cast<std::int64_t>(start);
  }
  return out;
}

template <class V, Terms kTerms>
inline constexpr auto kColumnStarts = column_starts<V>(kTerms);

/// An integer in all lanes, read from memory: compilers build constants in three steps.
CUZK_AVX2_INLINE __m256i broadcast(const std::int64_t& value) {
  __m256i out;
  asm("vpbroadcastq %1, %0" : "=x"(out) : "m"(value));
  return out;
}

/// Eight elements: limb k of lane l is limb[k][l].
template <class V>
struct alignas(64) Vector {
  double limb[V::limbs][8];
};
/// One element for all lanes.
template <class V>
using Broadcast = std::array<double, V::limbs>;

/// A vector's limb for the lanes of a half, or a broadcast element's.
template <class V>
CUZK_AVX2_INLINE __m256d limb_of(const Vector<V>& value, unsigned k, unsigned half) {
  return _mm256_load_pd(&value.limb[k][4 * half]);
}
template <class V>
CUZK_AVX2_INLINE void set_limb(Vector<V>& value, unsigned k, unsigned half, __m256d limb) {
  _mm256_store_pd(&value.limb[k][4 * half], limb);
}

namespace detail {

// low += low part of x·y, high += high part, four lanes. In assembly because compilers reorder the
// integer additions and then spill the sums. x stays in memory: measured, 7 % faster than in a
// register. The second form takes one element for all lanes.
CUZK_AVX2_INLINE void multiply_add(const double* x, const double (&y)[4], __m256i& low,
                                   __m256i& high, __m256d c1, __m256d c2) {
  __m256d y_value, high_part, low_part;
  asm("vmovapd %[ym], %[y]\n\t"
      "vmovapd %[c1], %[h]\n\t"
      "vfmadd231pd %[x], %[y], %[h]\n\t"
      "vsubpd %[h], %[c2], %[l]\n\t"
      "vfmadd231pd %[x], %[y], %[l]\n\t"
      "vpaddq %[h], %[high], %[high]\n\t"
      "vpaddq %[l], %[low], %[low]"
      : [low] "+x"(low), [high] "+x"(high), [y] "=&x"(y_value), [h] "=&x"(high_part),
        [l] "=&x"(low_part)
      : [x] "m"(*reinterpret_cast<const __m256d*>(x)),
        [ym] "m"(*reinterpret_cast<const __m256d*>(&y)), [c1] "x"(c1), [c2] "x"(c2));
}
CUZK_AVX2_INLINE void multiply_add(const double* x, const double& y, __m256i& low, __m256i& high,
                                   __m256d c1, __m256d c2) {
  __m256d y_value, high_part, low_part;
  asm("vbroadcastsd %[ym], %[y]\n\t"
      "vmovapd %[c1], %[h]\n\t"
      "vfmadd231pd %[x], %[y], %[h]\n\t"
      "vsubpd %[h], %[c2], %[l]\n\t"
      "vfmadd231pd %[x], %[y], %[l]\n\t"
      "vpaddq %[h], %[high], %[high]\n\t"
      "vpaddq %[l], %[low], %[low]"
      : [low] "+x"(low), [high] "+x"(high), [y] "=&x"(y_value), [h] "=&x"(high_part),
        [l] "=&x"(low_part)
      : [x] "m"(*reinterpret_cast<const __m256d*>(x)), [ym] "m"(y), [c1] "x"(c1), [c2] "x"(c2));
}

template <class V>
CUZK_AVX2_INLINE const double (&half_of(const Vector<V>& value, unsigned k, unsigned half))[4] {
  return reinterpret_cast<const double(&)[4]>(value.limb[k][4 * half]);
}
template <std::size_t kCount>
CUZK_AVX2_INLINE const double& half_of(const std::array<double, kCount>& value, unsigned k,
                                       unsigned) {
  return value[k];
}

// The products x[i]·y[Column - i], I <= i < End, of one column; both halves of the lanes side by
// side.
template <unsigned Column, unsigned I, unsigned End, class V, class Y>
CUZK_AVX2_INLINE void column_products(const Vector<V>& x, const Y& y, __m256i (&low)[2],
                                      __m256i (&high)[2], __m256d c1, __m256d c2) {
  if constexpr (I < End) {
    if constexpr (I <= Column && Column - I < V::limbs) {
      multiply_add(&x.limb[I][0], half_of(y, Column - I, 0), low[0], high[0], c1, c2);
      multiply_add(&x.limb[I][4], half_of(y, Column - I, 1), low[1], high[1], c1, c2);
    }
    column_products<Column, I + 1, End>(x, y, low, high, c1, c2);
  }
}

// The operands of a sum of products. In a square, the second is the first one doubled.
template <Terms kTerms, class V, class Y>
struct Operands {
  static constexpr unsigned kPairs = kTerms == Terms::kTwoProducts ? 2 : 1;
  const Vector<V>* a[kPairs];
  const Y* b[kPairs];
};

template <unsigned Column, Terms kTerms, class V, class Y>
CUZK_AVX2_INLINE void operand_products(const Operands<kTerms, V, Y>& operands, __m256i (&low)[2],
                                       __m256i (&high)[2], __m256d c1, __m256d c2) {
  if constexpr (kTerms == Terms::kSquare) {
    column_products<Column, 0, (Column + 1) / 2>(*operands.a[0], *operands.b[0], low, high, c1, c2);
    if constexpr (Column % 2 == 0) {
      column_products<Column, Column / 2, Column / 2 + 1>(*operands.a[0], *operands.a[0], low, high,
                                                          c1, c2);
    }
  } else {
    column_products<Column, 0, V::limbs>(*operands.a[0], *operands.b[0], low, high, c1, c2);
    if constexpr (kTerms == Terms::kTwoProducts)
      column_products<Column, 0, V::limbs>(*operands.a[1], *operands.b[1], low, high, c1, c2);
  }
}

// The multiple of m that clears the low bits of a column, at most 2^(b-1) in magnitude.
template <class V>
CUZK_AVX2_INLINE __m256d reduction_digit(__m256i column, __m256d c1, __m256d c2) {
  const __m256d two52 = _mm256_set1_pd(kTwo52), factor = _mm256_set1_pd(kConstants<V>.inverse);
  const __m256i low = _mm256_and_si256(column, _mm256_set1_epi64x(V::mask));
  const __m256d x =
      _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(low, _mm256_castpd_si256(two52))), two52);
  const __m256d high = _mm256_fmadd_pd(x, factor, c1);
  return _mm256_sub_pd(_mm256_fmadd_pd(x, factor, _mm256_sub_pd(c2, high)), _mm256_set1_pd(kC3));
}

// A signed integer below 2^51 in magnitude as a double.
CUZK_AVX2_INLINE __m256d to_double(__m256i value) {
  const __m256d c3 = _mm256_set1_pd(kC3);
  return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(value, _mm256_castpd_si256(c3))), c3);
}

// The columns from `Column` on. `low` is that column without the digits' products, `high` what the
// next one has so far. The products of a and b for the next column stand between a digit's
// computation and its use, which takes 30 cycles.
template <unsigned Column, Terms kTerms, class V, class Y>
CUZK_AVX2_INLINE void columns(const Operands<kTerms, V, Y>& operands, Vector<V>& digits,
                              Vector<V>& out, __m256i (&low)[2], __m256i (&high)[2], __m256d c1,
                              __m256d c2) {
  constexpr unsigned kLimbs = V::limbs;
  if constexpr (Column < 2 * kLimbs) {
    constexpr auto& kStarts = kColumnStarts<V, kTerms>;
    column_products<Column, 0, (Column < kLimbs ? Column : kLimbs)>(digits, kConstants<V>.modulus,
                                                                    low, high, c1, c2);
    __m256d digit[2] = {};
    if constexpr (Column < kLimbs) {
      CUZK_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        digit[half] = reduction_digit<V>(low[half], c1, c2);
        set_limb(digits, Column, half, digit[half]);
      }
    }
    const __m256i start =
        Column + 2 < kStarts.size() ? broadcast(kStarts[Column + 2]) : _mm256_setzero_si256();
    __m256i next[2] = {start, start};
    operand_products<Column + 1>(operands, high, next, c1, c2);
    CUZK_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      if constexpr (Column < kLimbs) {
        const __m256d modulus = _mm256_set1_pd(kConstants<V>.modulus[0]);
        const __m256d product = _mm256_fmadd_pd(digit[half], modulus, c1);
        const __m256d rest = _mm256_fmadd_pd(digit[half], modulus, _mm256_sub_pd(c2, product));
        high[half] = _mm256_add_epi64(high[half], _mm256_castpd_si256(product));
        low[half] = _mm256_add_epi64(low[half], _mm256_castpd_si256(rest));
      } else {
        const __m256i mask = _mm256_set1_epi64x(Column < 2 * kLimbs - 1 ? V::mask : -1);
        set_limb(out, Column - kLimbs, half, to_double(_mm256_and_si256(low[half], mask)));
      }
      high[half] = _mm256_add_epi64(high[half], _mm256_srli_epi64(low[half], V::bits));
    }
    columns<Column + 1>(operands, digits, out, high, next, c1, c2);
  }
}

}  // namespace detail

namespace detail {

template <Terms kTerms, class V, class Y>
CUZK_AVX2_INLINE void reduced_sum(const Operands<kTerms, V, Y>& operands, Vector<V>& out) {
  constexpr auto& kStarts = kColumnStarts<V, kTerms>;
  const __m256d c1 = _mm256_set1_pd(V::c1), c2 = _mm256_set1_pd(V::c1 + kC3);
  __m256i low[2] = {broadcast(kStarts[0]), broadcast(kStarts[0])};
  __m256i high[2] = {broadcast(kStarts[1]), broadcast(kStarts[1])};
  Vector<V> digits, result;  // `out` may be an operand
  operand_products<0>(operands, low, high, c1, c2);
  columns<0>(operands, digits, result, low, high, c1, c2);
  out = result;
}

}  // namespace detail

/// out = Σ a[i]·b[i]/R over 1 or 2 pairs, with one reduction. Limbs in [0, 2^b) but for the top
/// one, which is signed. Not to be inlined at many places: some ten kB of code.
template <unsigned Pairs, class V, class Y>
CUZK_AVX2_INLINE void multiply_pairs(const Vector<V>* const (&a)[Pairs], const Y* const (&b)[Pairs],
                                     Vector<V>& out) {
  static_assert(Pairs == 1 || Pairs == 2);
  if constexpr (Pairs == 1) {
    detail::reduced_sum<Terms::kProduct, V, Y>({{a[0]}, {b[0]}}, out);
  } else {
    detail::reduced_sum<Terms::kTwoProducts, V, Y>({{a[0], a[1]}, {b[0], b[1]}}, out);
  }
}

/// Limb by limb, without reduction.
template <class V>
CUZK_AVX2_INLINE void add(const Vector<V>& a, const Vector<V>& b, Vector<V>& out) {
  CUZK_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) {
    CUZK_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      set_limb(out, k, half, _mm256_add_pd(limb_of(a, k, half), limb_of(b, k, half)));
    }
  }
}
template <class V>
CUZK_AVX2_INLINE void subtract(const Vector<V>& a, const Vector<V>& b, Vector<V>& out) {
  CUZK_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) {
    CUZK_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      set_limb(out, k, half, _mm256_sub_pd(limb_of(a, k, half), limb_of(b, k, half)));
    }
  }
}
/// out = a·a/R, as multiply_pairs; two fifths of the operands' products less.
template <class V>
CUZK_AVX2_INLINE void square(const Vector<V>& a, Vector<V>& out) {
  Vector<V> twice;
  add(a, a, twice);
  detail::reduced_sum<Terms::kSquare, V, Vector<V>>({{&a}, {&twice}}, out);
}
/// out = signs·a with signs of ±1, one a lane.
template <class V>
CUZK_AVX2_INLINE void apply_signs(const Vector<V>& a, const double (&signs)[8], Vector<V>& out) {
  CUZK_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) {
    CUZK_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      set_limb(out, k, half, _mm256_mul_pd(limb_of(a, k, half), _mm256_loadu_pd(&signs[4 * half])));
    }
  }
}

/// Rounds towards the multiple of m next to the value, by the top limbs, and subtracts it; then
/// brings all limbs but the top one to 2^(b-1) and a little. For |value| < 2^7·m and limbs below
/// 2^50; the result is within ±0.51·m.
template <class V>
CUZK_AVX2_INLINE void reduce(Vector<V>& value) {
  constexpr unsigned kTop = V::limbs - 1;
  constexpr double kLimb = static_cast<double>(V::mask + 1);
  CUZK_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    const __m256d top = _mm256_fmadd_pd(limb_of(value, kTop - 1, half), _mm256_set1_pd(1 / kLimb),
                                        limb_of(value, kTop, half));
    const __m256d quotient =
        _mm256_round_pd(_mm256_mul_pd(top, _mm256_set1_pd(kConstants<V>.quotient_factor)),
                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256d carry = _mm256_setzero_pd();
    CUZK_UNROLL
    for (unsigned k = 0; k < V::limbs; ++k) {
      const __m256d limb = _mm256_fnmadd_pd(quotient, _mm256_set1_pd(kConstants<V>.modulus[k]),
                                            limb_of(value, k, half));
      if (k == kTop) {
        set_limb(value, k, half, _mm256_add_pd(limb, carry));
        break;
      }
      const __m256d next = _mm256_round_pd(_mm256_mul_pd(limb, _mm256_set1_pd(1 / kLimb)),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      set_limb(value, k, half,
               _mm256_add_pd(_mm256_fnmadd_pd(next, _mm256_set1_pd(kLimb), limb), carry));
      carry = next;
    }
  }
}

namespace detail {

CUZK_AVX2_INLINE void transpose(__m256i (&rows)[4]) {
  const __m256i a = _mm256_unpacklo_epi64(rows[0], rows[1]),
                b = _mm256_unpackhi_epi64(rows[0], rows[1]);
  const __m256i c = _mm256_unpacklo_epi64(rows[2], rows[3]),
                d = _mm256_unpackhi_epi64(rows[2], rows[3]);
  rows[0] = _mm256_permute2x128_si256(a, c, 0x20);
  rows[1] = _mm256_permute2x128_si256(b, d, 0x20);
  rows[2] = _mm256_permute2x128_si256(a, c, 0x31);
  rows[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

template <class V>
CUZK_AVX2_INLINE __m256d limb_from_words(const __m256i (&words)[V::words], unsigned k) {
  const unsigned bit = k * V::bits, word = bit / 64, shift = bit % 64;
  __m256i limb = _mm256_srli_epi64(words[word], static_cast<int>(shift));
  if (shift > 64 - V::bits && word + 1 < V::words) {
    limb = _mm256_or_si256(limb, _mm256_slli_epi64(words[word + 1], static_cast<int>(64 - shift)));
  }
  const __m256d two52 = _mm256_set1_pd(kTwo52);
  limb = _mm256_or_si256(_mm256_and_si256(limb, _mm256_set1_epi64x(V::mask)),
                         _mm256_castpd_si256(two52));
  return _mm256_sub_pd(_mm256_castsi256_pd(limb), two52);
}

template <class V>
CUZK_AVX2_INLINE void words_from_limbs(const __m256i (&limbs)[V::limbs],
                                       __m256i (&words)[V::words]) {
  CUZK_UNROLL
  for (unsigned word = 0; word < V::words; ++word) words[word] = _mm256_setzero_si256();
  CUZK_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) {
    const unsigned bit = k * V::bits, word = bit / 64, shift = bit % 64;
    words[word] =
        _mm256_or_si256(words[word], _mm256_slli_epi64(limbs[k], static_cast<int>(shift)));
    if (shift + V::bits > 64 && word + 1 < V::words) {
      words[word + 1] = _mm256_or_si256(words[word + 1],
                                        _mm256_srli_epi64(limbs[k], static_cast<int>(64 - shift)));
    }
  }
}

// The exact remainder of a lane whose estimated quotient was off by one.
template <class V>
void correct(std::uint64_t* words, bool negative) {
  Limbs<V::words> value;
  for (std::size_t i = 0; i < V::words; ++i) value[i] = words[i];
  if (negative) {
    wide::add(value, V::field.modulus);
  } else if (!wide::less(value, V::field.modulus)) {
    wide::subtract(value, V::field.modulus);
  }
  for (std::size_t i = 0; i < V::words; ++i) words[i] = value[i];
}

// Words 4 and up, of which there are two or none.
template <class V>
CUZK_AVX2_INLINE void store_words(const __m256i (&words)[V::words], std::uint64_t* const* targets) {
  __m256i first[4] = {words[0], words[1], words[2], words[3]};
  transpose(first);
  CUZK_UNROLL
  for (unsigned lane = 0; lane < 4; ++lane) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(targets[lane]), first[lane]);
  }
  if constexpr (V::words == 6) {
    const __m256i even = _mm256_unpacklo_epi64(words[4], words[5]),
                  odd = _mm256_unpackhi_epi64(words[4], words[5]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(targets[0] + 4), _mm256_castsi256_si128(even));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(targets[1] + 4), _mm256_castsi256_si128(odd));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(targets[2] + 4), _mm256_extracti128_si256(even, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(targets[3] + 4), _mm256_extracti128_si256(odd, 1));
  }
}

template <class V>
CUZK_AVX2_INLINE void load_words(const std::uint64_t* const* sources, __m256i (&words)[V::words]) {
  __m256i first[4];
  CUZK_UNROLL
  for (unsigned lane = 0; lane < 4; ++lane) {
    first[lane] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sources[lane]));
  }
  transpose(first);
  CUZK_UNROLL
  for (unsigned word = 0; word < 4; ++word) words[word] = first[word];
  if constexpr (V::words == 6) {
    const auto pair = [&](unsigned lane) CUZK_AVX2 {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(sources[lane] + 4));
    };
    const __m256i even = _mm256_set_m128i(pair(2), pair(0)),
                  odd = _mm256_set_m128i(pair(3), pair(1));
    words[4] = _mm256_unpacklo_epi64(even, odd);
    words[5] = _mm256_unpackhi_epi64(even, odd);
  }
}

template <class V>
CUZK_AVX2_INLINE void store_half(const Vector<V>& a, unsigned half, std::uint64_t* const* targets) {
  constexpr unsigned kTop = V::limbs - 1;
  constexpr double kLimb = static_cast<double>(V::mask + 1);
  // Subtract the multiple of m that the top limbs suggest; it is right but for values next to a
  // multiple of m.
  const __m256d top = _mm256_fmadd_pd(limb_of(a, kTop - 1, half), _mm256_set1_pd(1 / kLimb),
                                      limb_of(a, kTop, half));
  const __m256d quotient =
      _mm256_floor_pd(_mm256_mul_pd(top, _mm256_set1_pd(kConstants<V>.quotient_factor)));
  // To integers, each with 2^52 on top so that carries are positive; the next limb takes them back.
  __m256i limbs[V::limbs];
  CUZK_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) {
    const __m256d limb =
        _mm256_fnmadd_pd(quotient, _mm256_set1_pd(kConstants<V>.modulus[k]), limb_of(a, k, half));
    const __m256i bits = _mm256_castpd_si256(_mm256_add_pd(limb, _mm256_set1_pd(kC3)));
    const std::int64_t start =
        (k < kTop ? std::int64_t{1} << 52 : 0) - (k > 0 ? std::int64_t{1} << (52 - V::bits) : 0);
    limbs[k] = _mm256_add_epi64(bits, _mm256_set1_epi64x(start - std::bit_cast<std::int64_t>(kC3)));
  }
  CUZK_UNROLL
  for (unsigned k = 0; k < kTop; ++k) {
    limbs[k + 1] = _mm256_add_epi64(limbs[k + 1], _mm256_srli_epi64(limbs[k], V::bits));
    limbs[k] = _mm256_and_si256(limbs[k], _mm256_set1_epi64x(V::mask));
  }
  const __m256i modulus_top =
      _mm256_set1_epi64x(static_cast<std::int64_t>(kConstants<V>.modulus[kTop]) - 1);
  const int negative = _mm256_movemask_pd(_mm256_castsi256_pd(limbs[kTop]));
  const int suspect =
      negative |
      _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limbs[kTop], modulus_top)));
  __m256i words[V::words];
  words_from_limbs<V>(limbs, words);
  store_words<V>(words, targets);
  if (suspect != 0) {
    CUZK_UNROLL
    for (unsigned lane = 0; lane < 4; ++lane) {
      if ((suspect >> lane & 1) != 0) correct<V>(targets[lane], (negative >> lane & 1) != 0);
    }
  }
}

}  // namespace detail

/// Lane l is the element at the words sources[l], which is below 2^(64·words).
template <class V>
CUZK_AVX2_INLINE void load_lanes(const std::uint64_t* const (&sources)[8], Vector<V>& out) {
  CUZK_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    __m256i words[V::words];
    detail::load_words<V>(sources + 4 * half, words);
    CUZK_UNROLL
    for (unsigned k = 0; k < V::limbs; ++k)
      set_limb(out, k, half, detail::limb_from_words<V>(words, k));
  }
}

/// Reduces to [0, m) and writes lane l to the words targets[l]. For limbs within ±2^50 and |value|
/// <= 2^(50-b)·m: 4·m in Fp, 64·m in Fr.
template <class V>
CUZK_AVX2_INLINE void store_lanes(const Vector<V>& a, std::uint64_t* const (&targets)[8]) {
  CUZK_UNROLL
  for (unsigned half = 0; half < 2; ++half) detail::store_half<V>(a, half, targets + 4 * half);
}

}  // namespace cuzk::curve::avx2

#endif
