#pragma once

#include "curve/fp2.hpp"
#include "curve/vector_field_avx2.hpp"

#if defined(__x86_64__)

/// Eight elements of a coordinate field side by side, with the arithmetic that points need; bounds
/// as in vector_field_avx2.hpp. Only for code that is compiled for AVX2 and FMA.
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

template <class F>
struct Field8;

template <>
struct Field8<Fp> {
  Fp8 value;

  CUZK_AVX2_INLINE void load(const std::uint64_t* const (&sources)[8]) { load_fp(sources, value); }
  CUZK_AVX2_INLINE void store(std::uint64_t* const (&targets)[8]) const {
    store_fp(value, targets);
  }

  static CUZK_AVX2_INLINE void subtract(const Field8& a, const Field8& b, Field8& out) {
    avx2::subtract(a.value, b.value, out.value);
  }
  static CUZK_AVX2_INLINE void apply_signs(const Field8& a, const double (&signs)[8], Field8& out) {
    avx2::apply_signs(a.value, signs, out.value);
  }
  static CUZK_AVX2_INLINE void multiply(const Field8& a, const Field8& b, Field8& out) {
    multiply_fp(a.value, b.value, out.value);
  }
  static CUZK_AVX2_INLINE void square(const Field8& a, Field8& out) {
    square_fp(a.value, out.value);
  }
};

/// `sources` and `targets` are of c0; c1's words follow.
template <>
struct Field8<Fp2> {
  Fp8 c0, c1;

  CUZK_AVX2_INLINE void load(const std::uint64_t* const (&sources)[8]) {
    const std::uint64_t* second[8];
    for (unsigned lane = 0; lane < 8; ++lane) second[lane] = sources[lane] + 6;
    load_fp(sources, c0);
    load_fp(second, c1);
  }
  CUZK_AVX2_INLINE void store(std::uint64_t* const (&targets)[8]) const {
    std::uint64_t* second[8];
    for (unsigned lane = 0; lane < 8; ++lane) second[lane] = targets[lane] + 6;
    store_fp(c0, targets);
    store_fp(c1, second);
  }

  static CUZK_AVX2_INLINE void subtract(const Field8& a, const Field8& b, Field8& out) {
    avx2::subtract(a.c0, b.c0, out.c0);
    avx2::subtract(a.c1, b.c1, out.c1);
  }
  static CUZK_AVX2_INLINE void apply_signs(const Field8& a, const double (&signs)[8], Field8& out) {
    avx2::apply_signs(a.c0, signs, out.c0);
    avx2::apply_signs(a.c1, signs, out.c1);
  }
  // (a0 b0 - a1 b1) + (a0 b1 + a1 b0)·u, each with one reduction.
  static CUZK_AVX2_INLINE void multiply(const Field8& a, const Field8& b, Field8& out) {
    static constexpr double kMinus[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    Fp8 minus_a1, real;
    avx2::apply_signs(a.c1, kMinus, minus_a1);
    multiply_sum_fp(a.c0, b.c0, minus_a1, b.c1, real);
    multiply_sum_fp(a.c0, b.c1, a.c1, b.c0, out.c1);
    out.c0 = real;
  }
  // (a0 + a1)(a0 - a1) + 2 a0 a1·u.
  static CUZK_AVX2_INLINE void square(const Field8& a, Field8& out) {
    Fp8 sum, difference, twice;
    avx2::add(a.c0, a.c1, sum);
    avx2::subtract(a.c0, a.c1, difference);
    avx2::add(a.c0, a.c0, twice);
    multiply_fp(twice, a.c1, out.c1);
    multiply_fp(sum, difference, out.c0);
  }
};

}  // namespace cuzk::curve::avx2

#endif
