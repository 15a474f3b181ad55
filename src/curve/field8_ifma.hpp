#pragma once

#include "curve/fp2.hpp"
#include "curve/vector_field_ifma.hpp"

#if defined(__x86_64__)

/// Eight elements of a coordinate field side by side (field8.hpp); bounds as in
/// vector_field_ifma.hpp. Only for code that is compiled for AVX-512 IFMA.
namespace cuzk::curve::ifma {

using Fp8 = Vector<FpVectorField>;

/// Products lack R'/R = 2^(2·kHalfShift).
inline constexpr unsigned kHalfShift = 16;

// Compiled once: a product is some two kB of code.

/// out = a·b/R'.
void multiply_fp(const Fp8& a, const Fp8& b, Fp8& out);
/// out = a·a/R'.
void square_fp(const Fp8& a, Fp8& out);
/// out = (a·b + c·d)/R'.
void multiply_sum_fp(const Fp8& a, const Fp8& b, const Fp8& c, const Fp8& d, Fp8& out);
void load_fp(const std::uint64_t* const (&sources)[8], Fp8& out);
/// For values below 8·p.
void store_fp(const Fp8& value, std::uint64_t* const (&targets)[8]);

/// out = a - Σ b + kBound·p.
template <unsigned kBound, class... B>
CUZK_IFMA_INLINE void difference(Fp8& out, const Fp8& a, const B&... b) {
  subtract<kBound>(out, a, b...);
}

/// out = 4·p - a.
CUZK_IFMA_INLINE void negate(const Fp8& a, Fp8& out) {
  static constexpr Fp8 kZero{};
  subtract<4>(out, kZero, a);
  carry(out);
}

/// Which lanes are to be negated.
struct Signs {
  __mmask8 negative = 0;

  void set(unsigned lane, bool negate) {
    negative = static_cast<__mmask8>(negative | static_cast<unsigned>(negate) << lane);
  }
};

/// For a <= p; the result is, too.
CUZK_IFMA_INLINE void apply_signs(const Fp8& a, const Signs& signs, Fp8& out) {
  negate_lanes(a, signs.negative, out);
}

}  // namespace cuzk::curve::ifma

#define CUZK_ARITHMETIC ifma
#define CUZK_TARGET_INLINE CUZK_IFMA_INLINE
#include "curve/field8.hpp"

#endif
