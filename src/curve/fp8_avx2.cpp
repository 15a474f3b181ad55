#include "curve/fp8_avx2.hpp"

#if defined(__x86_64__)

namespace cuzk::curve::avx2 {

namespace {

CUZK_AVX2_INLINE void transpose(__m256i (&rows)[4]) {
  const __m256i a = _mm256_unpacklo_epi64(rows[0], rows[1]), b = _mm256_unpackhi_epi64(rows[0], rows[1]);
  const __m256i c = _mm256_unpacklo_epi64(rows[2], rows[3]), d = _mm256_unpackhi_epi64(rows[2], rows[3]);
  rows[0] = _mm256_permute2x128_si256(a, c, 0x20);
  rows[1] = _mm256_permute2x128_si256(b, d, 0x20);
  rows[2] = _mm256_permute2x128_si256(a, c, 0x31);
  rows[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

CUZK_AVX2_INLINE __m256d limb_to_double(__m256i limb) {
  const __m256d two52 = _mm256_set1_pd(kTwo52);
  return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(limb, _mm256_castpd_si256(two52))), two52);
}

// Three words are four limbs.
CUZK_AVX2_INLINE void split(__m256i w0, __m256i w1, __m256i w2, __m256d (&limbs)[4]) {
  const __m256i mask = _mm256_set1_epi64x(kLimbMask);
  limbs[0] = limb_to_double(_mm256_and_si256(w0, mask));
  limbs[1] = limb_to_double(_mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64(w0, 48), _mm256_slli_epi64(w1, 16)), mask));
  limbs[2] = limb_to_double(_mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64(w1, 32), _mm256_slli_epi64(w2, 32)), mask));
  limbs[3] = limb_to_double(_mm256_srli_epi64(w2, 16));
}

CUZK_AVX2_INLINE void join(const __m256i (&limbs)[4], __m256i& w0, __m256i& w1, __m256i& w2) {
  w0 = _mm256_or_si256(limbs[0], _mm256_slli_epi64(limbs[1], 48));
  w1 = _mm256_or_si256(_mm256_srli_epi64(limbs[1], 16), _mm256_slli_epi64(limbs[2], 32));
  w2 = _mm256_or_si256(_mm256_srli_epi64(limbs[2], 32), _mm256_slli_epi64(limbs[3], 16));
}

// The exact remainder of a lane whose estimated quotient was off by one.
void correct(std::uint64_t* words, bool negative) {
  Limbs<6> value;
  for (unsigned i = 0; i < 6; ++i) value[i] = words[i];
  if (negative) {
    wide::add(value, kFpField.modulus);
  } else if (!wide::less(value, kFpField.modulus)) {
    wide::subtract(value, kFpField.modulus);
  }
  for (unsigned i = 0; i < 6; ++i) words[i] = value[i];
}

template <unsigned Half>
CUZK_AVX2_INLINE void store_half(const Fp8& a, std::uint64_t* const (&targets)[8]) {
  // Subtract the multiple of p that the top limbs suggest; it is right but for values next to a multiple of p.
  const __m256d top = _mm256_fmadd_pd(_mm256_load_pd(&a.limb[6][Half]), _mm256_set1_pd(0x1p-48), _mm256_load_pd(&a.limb[7][Half]));
  const __m256d quotient = _mm256_floor_pd(_mm256_mul_pd(top, _mm256_set1_pd(kConstants.quotient_factor)));
  // To integers, each with 2^52 on top so that carries are positive; the next limb takes them back.
  __m256i limbs[kLimbs];
  for (unsigned k = 0; k < kLimbs; ++k) {
    const __m256d limb =
        _mm256_fnmadd_pd(quotient, _mm256_load_pd(kConstants.modulus[k]), _mm256_load_pd(&a.limb[k][Half]));
    const __m256i bits = _mm256_castpd_si256(_mm256_add_pd(limb, _mm256_set1_pd(kC3)));
    const std::int64_t start = (k < 7 ? std::int64_t{1} << 52 : 0) - (k > 0 ? std::int64_t{1} << 4 : 0);
    limbs[k] = _mm256_add_epi64(bits, _mm256_set1_epi64x(start - std::bit_cast<std::int64_t>(kC3)));
  }
  for (unsigned k = 0; k + 1 < kLimbs; ++k) {
    limbs[k + 1] = _mm256_add_epi64(limbs[k + 1], _mm256_srli_epi64(limbs[k], kLimbBits));
    limbs[k] = _mm256_and_si256(limbs[k], _mm256_set1_epi64x(kLimbMask));
  }
  const __m256i modulus_top = _mm256_set1_epi64x(static_cast<std::int64_t>(kConstants.modulus[7][0]));
  const int negative = _mm256_movemask_pd(_mm256_castsi256_pd(limbs[7]));
  const int suspect =
      negative | _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(
                     limbs[7], _mm256_sub_epi64(modulus_top, _mm256_set1_epi64x(1)))));
  __m256i words[6];
  const __m256i low[4] = {limbs[0], limbs[1], limbs[2], limbs[3]}, high[4] = {limbs[4], limbs[5], limbs[6], limbs[7]};
  join(low, words[0], words[1], words[2]);
  join(high, words[3], words[4], words[5]);
  __m256i first[4] = {words[0], words[1], words[2], words[3]};
  __m256i last[4] = {words[4], words[5], words[4], words[5]};
  transpose(first);
  transpose(last);
  for (unsigned lane = 0; lane < 4; ++lane) {
    std::uint64_t* const target = targets[Half + lane];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), first[lane]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + 4), _mm256_castsi256_si128(last[lane]));
  }
  if (suspect != 0) {
    for (unsigned lane = 0; lane < 4; ++lane) {
      if ((suspect >> lane & 1) != 0) correct(targets[Half + lane], (negative >> lane & 1) != 0);
    }
  }
}

template <unsigned Half>
CUZK_AVX2_INLINE void load_half(const std::uint64_t* const (&sources)[8], Fp8& out) {
  __m256i first[4], last[4];
  for (unsigned lane = 0; lane < 4; ++lane) {
    const std::uint64_t* const source = sources[Half + lane];
    first[lane] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source));
    last[lane] = _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source + 4)));
  }
  transpose(first);
  transpose(last);
  __m256d limbs[2][4];
  split(first[0], first[1], first[2], limbs[0]);
  split(first[3], last[0], last[1], limbs[1]);
  for (unsigned k = 0; k < kLimbs; ++k) _mm256_store_pd(&out.limb[k][Half], limbs[k / 4][k % 4]);
}

}  // namespace

CUZK_AVX2 void multiply(const Fp8& a, const Fp8& b, Fp8& out) { detail::multiply_pairs<1>({&a}, {&b}, out); }

CUZK_AVX2 void multiply_sum(const Fp8& a, const Fp8& b, const Fp8& c, const Fp8& d, Fp8& out) {
  detail::multiply_pairs<2>({&a, &c}, {&b, &d}, out);
}

CUZK_AVX2 void load(const std::uint64_t* const (&sources)[8], Fp8& out) {
  load_half<0>(sources, out);
  load_half<4>(sources, out);
}

CUZK_AVX2 void store(const Fp8& a, std::uint64_t* const (&targets)[8]) {
  store_half<0>(a, targets);
  store_half<4>(a, targets);
}

}  // namespace cuzk::curve::avx2

#endif
