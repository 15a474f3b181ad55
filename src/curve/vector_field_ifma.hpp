#pragma once

#if defined(__x86_64__)

#include "curve/params.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

/// Eight elements of a field at a time, on the integer multipliers of AVX-512 IFMA. Only for code
/// that is compiled for these (CUZK_IFMA) and reached after is_available(kIfma).
///
/// An element is a few limbs of 52 bits in lanes of 64: eight for Fp, five for Fr. One instruction
/// adds the low or the high 52 bits of a product of limbs to a lane, so that columns add up without
/// carries. A product divides by R' = 2^(52·limbs), which is 2^416 for Fp and 2^260 for Fr; the
/// classes Fp and Fr hold x·R with R = 2^384 and 2^256. Elements are loaded and stored as they are:
/// the user keeps account of the factor R'/R = 2^32 or 2^4 that each product lacks.
///
/// Values are non-negative integers v < 2^(52·limbs), reduced lazily. For the modulus m:
/// 1. A product of a <= α·m and b <= β·m is below (αβ·m/R' + 2)·m: the digits of its reduction add
///    less than 2·m·R' before the division (see detail::reduce_columns). m/R' is 2^-35 for Fp and
///    1/35 for Fr. Its operands have limbs below 2^52 ("carried"), and so has its result.
/// 2. Sums and differences add a multiple of m that keeps them from becoming negative.
/// 3. Limbs of values that are not operands of products are signed and may exceed 52 bits, within
///    ±2^60.
#define CUZK_IFMA __attribute__((target("avx512f,avx512ifma")))
#define CUZK_IFMA_INLINE __attribute__((target("avx512f,avx512ifma"), always_inline)) inline
#if defined(__clang__)
#define CUZK_IFMA_UNROLL _Pragma("unroll")
#else
#define CUZK_IFMA_UNROLL _Pragma("GCC unroll 16")
#endif

namespace cuzk::curve::ifma {

inline constexpr unsigned kBits = 52;
inline constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;

/// A field's limbs, kWords 64-bit words as kCount limbs. Values that are reduced or stored are
/// below 2^kReducible - m, which leaves 8·p in Fp and 34·r in Fr.
template <std::size_t kWords, unsigned kCount, unsigned kReducible>
struct Layout {
  static constexpr std::size_t words = kWords;
  static constexpr unsigned limbs = kCount;
  static constexpr unsigned reducible = kReducible;
};

struct FpVectorField : Layout<6, 8, 384> {
  static constexpr const PrimeField<6>& field = kFpField;
};
struct FrVectorField : Layout<4, 5, 260> {
  static constexpr const PrimeField<4>& field = kFrField;
};

/// One element for all lanes: limbs of 52 bits.
template <class V>
using Broadcast = std::array<std::uint64_t, V::limbs>;

/// The limbs of an integer below 2^(52·limbs).
template <class V, std::size_t N>
constexpr Broadcast<V> split(const Limbs<N>& value) {
  Broadcast<V> out{};
  for (unsigned k = 0; k < V::limbs; ++k) out[k] = wide::bits(value, k * kBits, kBits);
  return out;
}

template <class V>
struct Constants {
  Broadcast<V> modulus;
  /// 2^(52·limbs) - m: adding q times this subtracts q·m.
  Broadcast<V> complement;
  std::uint64_t inverse;  ///< c = -m⁻¹ mod 2^52
  /// (c·m + 1)/2^52. As c·m = -1 mod 2^52, a column's low bits are the digit that clears them.
  Broadcast<V> digit_factor;
  /// 2^(reducible + quotient_shift)/m, rounded down, of 52 bits: the top 52 of `reducible` bits
  /// times this, divided by 2^52, is the quotient by m times 2^quotient_shift.
  std::uint64_t quotient_factor;
  unsigned quotient_shift;

  static constexpr Constants make() {
    constexpr std::size_t kWide = V::words + 1;
    Constants out{split<V>(V::field.modulus), {}, V::field.negative_inverse & kMask, {}, 0, 0};
    Limbs<kWide> complement{};
    complement[kBits * V::limbs / 64] = std::uint64_t{1} << (kBits * V::limbs % 64);
    wide::subtract(complement, wide::resize<kWide>(V::field.modulus));
    out.complement = split<V>(complement);
    Limbs<kWide> multiple = wide::multiply(V::field.modulus, Limbs<1>{out.inverse});
    wide::add(multiple, Limbs<kWide>{1});
    out.digit_factor = split<V>(wide::shift_right(multiple, kBits));
    // Long division of powers of two, bit by bit, until the quotient has 52 bits.
    Limbs<kWide> rest{1};
    for (unsigned bit = 0; out.quotient_factor >> (kBits - 1) == 0; ++bit) {
      wide::add(rest, Limbs<kWide>{rest});
      const bool one = !wide::less(rest, wide::resize<kWide>(V::field.modulus));
      if (one) wide::subtract(rest, wide::resize<kWide>(V::field.modulus));
      out.quotient_factor = 2 * out.quotient_factor + (one ? 1 : 0);
      out.quotient_shift = bit + 1 - V::reducible;
    }
    return out;
  }
};
template <class V>
inline constexpr Constants<V> kConstants = Constants<V>::make();

/// kFactor·m.
template <class V, unsigned kFactor>
inline constexpr Broadcast<V> kMultiple = split<V>(wide::multiply(V::field.modulus,
                                                                  Limbs<1>{kFactor}));

/// Eight elements: limb k of lane l is limb[k][l].
template <class V>
struct alignas(64) Vector {
  std::uint64_t limb[V::limbs][8];
};

template <class V>
CUZK_IFMA_INLINE const __m512i& limb_of(const Vector<V>& value, unsigned k) {
  return reinterpret_cast<const __m512i&>(value.limb[k]);
}
template <std::size_t kCount>
CUZK_IFMA_INLINE const std::uint64_t& limb_of(const std::array<std::uint64_t, kCount>& value,
                                              unsigned k) {
  return value[k];
}
template <class V>
CUZK_IFMA_INLINE void set_limb(Vector<V>& value, unsigned k, __m512i limb) {
  _mm512_store_si512(&value.limb[k], limb);
}

/// A limb in all lanes.
template <class V>
CUZK_IFMA_INLINE __m512i lanes_of(const Vector<V>& value, unsigned k) {
  return limb_of(value, k);
}
template <std::size_t kCount>
CUZK_IFMA_INLINE __m512i lanes_of(const std::array<std::uint64_t, kCount>& value, unsigned k) {
  return _mm512_set1_epi64(static_cast<std::int64_t>(value[k]));
}

namespace detail {

// sum += low or high half of x·y. In assembly so that y stays in memory, where compilers would load
// it once and then spill the sums: measured, 8 % faster. The second forms take one y for all lanes.
CUZK_IFMA_INLINE void add_low(__m512i& sum, __m512i x, const __m512i& y) {
  asm("vpmadd52luq %[y], %[x], %[sum]" : [sum] "+v"(sum) : [x] "v"(x), [y] "m"(y));
}
CUZK_IFMA_INLINE void add_high(__m512i& sum, __m512i x, const __m512i& y) {
  asm("vpmadd52huq %[y], %[x], %[sum]" : [sum] "+v"(sum) : [x] "v"(x), [y] "m"(y));
}
CUZK_IFMA_INLINE void add_low(__m512i& sum, __m512i x, const std::uint64_t& y) {
  asm("vpmadd52luq %[y]%{1to8%}, %[x], %[sum]" : [sum] "+v"(sum) : [x] "v"(x), [y] "m"(y));
}
CUZK_IFMA_INLINE void add_high(__m512i& sum, __m512i x, const std::uint64_t& y) {
  asm("vpmadd52huq %[y]%{1to8%}, %[x], %[sum]" : [sum] "+v"(sum) : [x] "v"(x), [y] "m"(y));
}

// columns[first + j] and up += x·y_j for the limbs j of y from `first_limb` on.
template <class V, class Y>
CUZK_IFMA_INLINE void add_row(__m512i* columns, __m512i x, const Y& y, unsigned first_limb = 0) {
  CUZK_IFMA_UNROLL
  for (unsigned j = first_limb; j < V::limbs; ++j) add_low(columns[j], x, limb_of(y, j));
  CUZK_IFMA_UNROLL
  for (unsigned j = first_limb; j < V::limbs; ++j) add_high(columns[j + 1], x, limb_of(y, j));
}

// Limbs below 2^52 but for the top one, which is signed.
template <class V>
CUZK_IFMA_INLINE void propagate_carries(__m512i* limbs) {
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k + 1 < V::limbs; ++k) {
    limbs[k + 1] += limbs[k] >> kBits;
    limbs[k] &= _mm512_set1_epi64(kMask);
  }
}

template <class V>
CUZK_IFMA_INLINE void load_limbs(const Vector<V>& value, __m512i* limbs) {
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) limbs[k] = limb_of(value, k);
}
template <class V>
CUZK_IFMA_INLINE void store_limbs(const __m512i* limbs, Vector<V>& value) {
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) set_limb(value, k, limbs[k]);
}

// (Σ columns[k]·2^(52k) + a multiple of m)/R'. The digit d of each column but the last adds
// d·(c·m)·2^(52k), altogether less than (c·m)·R'/2^52 < m·R'; that of the last column is one of
// Montgomery's and adds less than m·R', too. Columns stay below 2^60: in each, up to six times
// `limbs` halves of products, and a carry.
template <class V>
CUZK_IFMA_INLINE void reduce_columns(__m512i* columns, Vector<V>& out) {
  constexpr const Constants<V>& kField = kConstants<V>;
  constexpr unsigned kLast = V::limbs - 1;
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < kLast; ++k) {
    const __m512i digit = columns[k];  // products take its low 52 bits
    columns[k + 1] += digit >> kBits;
    add_row<V>(columns + k + 1, digit, kField.digit_factor);
  }
  __m512i digit = _mm512_setzero_si512();
  add_low(digit, columns[kLast], kField.inverse);
  // The column's low bits become zero, with a carry unless they were.
  const __m512i carry = (columns[kLast] + _mm512_set1_epi64(kMask)) >> kBits;
  add_high(columns[V::limbs], digit, kField.modulus[0]);
  add_row<V>(columns + kLast, digit, kField.modulus, 1);
  columns[V::limbs] += carry;
  propagate_carries<V>(columns + V::limbs);
  store_limbs(columns + V::limbs, out);
}

template <class V>
CUZK_IFMA_INLINE void clear_columns(__m512i (&columns)[2 * V::limbs]) {
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < 2 * V::limbs; ++k) columns[k] = _mm512_setzero_si512();
}

}  // namespace detail

/// out = Σ a[i]·b[i]/R' over 1 or 2 pairs, with one reduction. Best with what was computed last in
/// `a`. Not to be inlined at many places: some two kB of code.
template <unsigned Pairs, class V, class Y>
CUZK_IFMA_INLINE void multiply_pairs(const Vector<V>* const (&a)[Pairs], const Y* const (&b)[Pairs],
                                     Vector<V>& out) {
  __m512i columns[2 * V::limbs];
  detail::clear_columns<V>(columns);
  CUZK_IFMA_UNROLL
  for (unsigned pair = 0; pair < Pairs; ++pair) {
    CUZK_IFMA_UNROLL
    for (unsigned i = 0; i < V::limbs; ++i)
      detail::add_row<V>(columns + i, limb_of(*a[pair], i), *b[pair]);
  }
  detail::reduce_columns<V>(columns, out);
}

/// out = a·a/R', as multiply_pairs; products of different limbs are added up once and doubled.
template <class V>
CUZK_IFMA_INLINE void square(const Vector<V>& a, Vector<V>& out) {
  __m512i columns[2 * V::limbs];
  detail::clear_columns<V>(columns);
  CUZK_IFMA_UNROLL
  for (unsigned i = 0; i + 1 < V::limbs; ++i)
    detail::add_row<V>(columns + i, limb_of(a, i), a, i + 1);
  CUZK_IFMA_UNROLL
  for (unsigned i = 0; i < V::limbs; ++i) {
    for (const unsigned k : {2 * i, 2 * i + 1}) columns[k] += columns[k];
    detail::add_low(columns[2 * i], limb_of(a, i), limb_of(a, i));
    detail::add_high(columns[2 * i + 1], limb_of(a, i), limb_of(a, i));
  }
  detail::reduce_columns<V>(columns, out);
}

/// Limb by limb, without carries.
template <class V, class B>
CUZK_IFMA_INLINE void add(const Vector<V>& a, const B& b, Vector<V>& out) {
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) set_limb(out, k, limb_of(a, k) + lanes_of(b, k));
}

/// out = a - b + bias, limb by limb, without carries. `bias` is a multiple of m.
template <class V>
CUZK_IFMA_INLINE void subtract(Vector<V>& out, const Vector<V>& a, const Vector<V>& b,
                               const Broadcast<V>& bias) {
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k)
    set_limb(out, k, limb_of(a, k) + lanes_of(bias, k) - limb_of(b, k));
}

/// out = a - Σ b + kFactor·m, limb by limb, without carries.
template <unsigned kFactor, class V, class... B>
CUZK_IFMA_INLINE void subtract(Vector<V>& out, const Vector<V>& a, const B&... b) {
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) {
    __m512i limb = limb_of(a, k) + lanes_of(kMultiple<V, kFactor>, k);
    ((limb -= limb_of(b, k)), ...);
    set_limb(out, k, limb);
  }
}

/// Makes a value an operand of products. It must be in [0, 2^(52·limbs)).
template <class V>
CUZK_IFMA_INLINE void carry(Vector<V>& value) {
  __m512i limbs[V::limbs];
  detail::load_limbs(value, limbs);
  detail::propagate_carries<V>(limbs);
  detail::store_limbs(limbs, value);
}

/// value = 2^kShift·value, for limbs below 2^52. The result must be below 2^(52·limbs).
template <unsigned kShift, class V>
CUZK_IFMA_INLINE void shift_left(Vector<V>& value) {
  const __m512i factor = _mm512_set1_epi64(std::int64_t{1} << kShift);
  __m512i carry = _mm512_setzero_si512();
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) {
    const __m512i limb = limb_of(value, k);
    set_limb(value, k, _mm512_madd52lo_epu64(carry, limb, factor));
    carry = _mm512_madd52hi_epu64(_mm512_setzero_si512(), limb, factor);
  }
}

/// out = m - a in the lanes of a mask, a elsewhere; without carries.
template <class V>
CUZK_IFMA_INLINE void negate_lanes(const Vector<V>& a, __mmask8 lanes, Vector<V>& out) {
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) {
    set_limb(out, k,
             _mm512_mask_sub_epi64(limb_of(a, k), lanes, lanes_of(kConstants<V>.modulus, k),
                                   limb_of(a, k)));
  }
}

namespace detail {

// The limbs of value - q·m + kFactor·m, carried, modulo 2^(52·limbs), with a quotient q by m that
// is right but for values next below a multiple of m, for which it may be one too large. It is that
// of the value's top 52 bits, plus 8: these are up to 2 too small (carries from below are
// neglected), the product with the quotient's factor, which is between 1/2 and 1, loses up to 2
// more.
template <unsigned kFactor, class V>
CUZK_IFMA_INLINE void remainder(const Vector<V>& value, __m512i* limbs) {
  constexpr const Constants<V>& kField = kConstants<V>;
  constexpr unsigned kTop = V::limbs - 1, kTopBits = V::reducible - kBits * kTop;
  load_limbs(value, limbs);
  __m512i top = limbs[kTop] + (limbs[kTop - 1] >> kBits);
  if constexpr (kTopBits < kBits) {
    const __m512i low = limbs[kTop - 1] & _mm512_set1_epi64(kMask);
    top = (top << (kBits - kTopBits)) + (low >> kTopBits);
  }
  top += _mm512_set1_epi64(8);
  __m512i quotient = _mm512_setzero_si512();
  add_high(quotient, top, kField.quotient_factor);
  quotient = quotient >> kField.quotient_shift;
  if constexpr (kFactor > 0) {
    CUZK_IFMA_UNROLL
    for (unsigned k = 0; k < V::limbs; ++k) limbs[k] += lanes_of(kMultiple<V, kFactor>, k);
  }
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) add_low(limbs[k], quotient, kField.complement[k]);
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k + 1 < V::limbs; ++k)
    add_high(limbs[k + 1], quotient, kField.complement[k]);
  propagate_carries<V>(limbs);
  limbs[kTop] &= _mm512_set1_epi64(kMask);
}

}  // namespace detail

/// Reduces to (0, 2m), carried. For values below 2^reducible - m.
template <class V>
CUZK_IFMA_INLINE void reduce(Vector<V>& value) {
  __m512i limbs[V::limbs];
  detail::remainder<1>(value, limbs);
  detail::store_limbs(limbs, value);
}

}  // namespace cuzk::curve::ifma

#endif
