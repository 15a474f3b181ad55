#pragma once

#if defined(__x86_64__)

#include "curve/vector_field_ifma.hpp"

/// Between vectors of vector_field_ifma.hpp and elements in memory, as the classes Fp and Fr hold
/// them. Only for code that is compiled for AVX-512 IFMA.
namespace cuzk::curve::ifma {

namespace detail {

// Words, whose shifts are not those of signed limbs.
using Words = std::uint64_t __attribute__((vector_size(64)));

// Pairs of words, as pieces of 128 bits: the two first or last ones of a and of b; the even or odd
// ones of both.
CUZK_IFMA_INLINE Words low_halves(Words a, Words b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
}
CUZK_IFMA_INLINE Words high_halves(Words a, Words b) {
  return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}
CUZK_IFMA_INLINE Words even_pairs(Words a, Words b) {
  return __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13);
}
CUZK_IFMA_INLINE Words odd_pairs(Words a, Words b) {
  return __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
}
CUZK_IFMA_INLINE Words even_words(Words a, Words b) {
  return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
}
CUZK_IFMA_INLINE Words odd_words(Words a, Words b) {
  return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}

// Eight rows of 4 or 6 words to vectors of one word of all rows.
template <class V>
CUZK_IFMA_INLINE void load_words(const std::uint64_t* const (&sources)[8],
                                 Words (&words)[V::words]) {
  constexpr __mmask8 kAll = (1 << V::words) - 1;
  Words even[4], odd[4];  // words 0, 2, 4 of two rows, pair by pair; words 1, 3, 5
  CUZK_IFMA_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const Words first = reinterpret_cast<Words>(_mm512_maskz_loadu_epi64(kAll, sources[2 * i])),
                second =
                    reinterpret_cast<Words>(_mm512_maskz_loadu_epi64(kAll, sources[2 * i + 1]));
    even[i] = even_words(first, second);
    odd[i] = odd_words(first, second);
  }
  CUZK_IFMA_UNROLL
  for (unsigned parity = 0; parity < 2; ++parity) {
    const Words* const pairs = parity == 0 ? even : odd;
    const Words a = low_halves(pairs[0], pairs[1]), b = low_halves(pairs[2], pairs[3]);
    words[parity] = even_pairs(a, b);
    words[2 + parity] = odd_pairs(a, b);
    if constexpr (V::words == 6) {
      words[4 + parity] =
          even_pairs(high_halves(pairs[0], pairs[1]), high_halves(pairs[2], pairs[3]));
    }
  }
}

// The inverse of load_words.
template <class V>
CUZK_IFMA_INLINE void store_words(const Words (&words)[V::words],
                                  std::uint64_t* const (&targets)[8]) {
  constexpr __mmask8 kAll = (1 << V::words) - 1;
  CUZK_IFMA_UNROLL
  for (unsigned parity = 0; parity < 2; ++parity) {
    Words pairs[4] = {};  // words 2i and 2i + 1 of the even or odd rows
    CUZK_IFMA_UNROLL
    for (unsigned i = 0; i < V::words / 2; ++i) {
      pairs[i] = parity == 0 ? even_words(words[2 * i], words[2 * i + 1])
                             : odd_words(words[2 * i], words[2 * i + 1]);
    }
    const Words a = low_halves(pairs[0], pairs[1]), b = low_halves(pairs[2], pairs[3]),
                c = high_halves(pairs[0], pairs[1]), d = high_halves(pairs[2], pairs[3]);
    const Words rows[4] = {even_pairs(a, b), odd_pairs(a, b), even_pairs(c, d), odd_pairs(c, d)};
    CUZK_IFMA_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      _mm512_mask_storeu_epi64(targets[2 * i + parity], kAll, reinterpret_cast<__m512i>(rows[i]));
    }
  }
}

template <class V>
CUZK_IFMA_INLINE __m512i limb_from_words(const Words (&words)[V::words], unsigned k) {
  const unsigned bit = k * kBits, word = bit / 64, shift = bit % 64;
  Words limb = words[word] >> shift;
  if (shift > 64 - kBits && word + 1 < V::words) limb |= words[word + 1] << (64 - shift);
  return reinterpret_cast<__m512i>(limb) & _mm512_set1_epi64(kMask);
}

// From limbs below 2^52.
template <class V>
CUZK_IFMA_INLINE void words_from_limbs(const __m512i* limbs, Words (&words)[V::words]) {
  CUZK_IFMA_UNROLL
  for (unsigned word = 0; word < V::words; ++word) {
    const unsigned k = 64 * word / kBits, shift = 64 * word % kBits;
    __m512i out = limbs[k] >> shift | limbs[k + 1] << (kBits - shift);
    if (2 * kBits - shift < 64 && k + 2 < V::limbs) out |= limbs[k + 2] << (2 * kBits - shift);
    words[word] = reinterpret_cast<Words>(out);
  }
}

}  // namespace detail

/// Lane l is the element at the words sources[l], which is below m.
template <class V>
CUZK_IFMA_INLINE void load_lanes(const std::uint64_t* const (&sources)[8], Vector<V>& out) {
  detail::Words words[V::words];
  detail::load_words<V>(sources, words);
  CUZK_IFMA_UNROLL
  for (unsigned k = 0; k < V::limbs; ++k) set_limb(out, k, detail::limb_from_words<V>(words, k));
}

/// Reduces to [0, m) and writes lane l to the words targets[l]. For values below 2^reducible - m.
template <class V>
CUZK_IFMA_INLINE void store_lanes(const Vector<V>& value, std::uint64_t* const (&targets)[8]) {
  __m512i limbs[V::limbs];
  detail::Words words[V::words];
  detail::remainder<0>(value, limbs);
  const unsigned negative = _mm512_test_epi64_mask(
      limbs[V::limbs - 1], _mm512_set1_epi64(std::int64_t{1} << (kBits - 1)));
  detail::words_from_limbs<V>(limbs, words);
  detail::store_words<V>(words, targets);
  if (negative == 0) return;
  for (unsigned lane = 0; lane < 8; ++lane) {
    if ((negative >> lane & 1) == 0) continue;
    Limbs<V::words> integer;
    for (std::size_t i = 0; i < V::words; ++i) integer[i] = targets[lane][i];
    wide::add(integer, V::field.modulus);
    for (std::size_t i = 0; i < V::words; ++i) targets[lane][i] = integer[i];
  }
}

}  // namespace cuzk::curve::ifma

#endif
