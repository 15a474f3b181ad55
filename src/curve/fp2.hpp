#pragma once

#include "curve/fp.hpp"

namespace cuzk::curve {

/// The quadratic extension Fp[u]/(u² + 1): c0 + c1·u.
struct Fp2 {
  Fp c0, c1;

  static constexpr Fp2 zero() { return {}; }
  static constexpr Fp2 one() { return {Fp::one(), Fp::zero()}; }

  bool is_zero() const { return c0.is_zero() && c1.is_zero(); }

  friend Fp2 operator+(const Fp2& a, const Fp2& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
  friend Fp2 operator-(const Fp2& a, const Fp2& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
  friend Fp2 operator*(const Fp2& a, const Fp2& b) {
    Fp2 out;
    blst_fp2_mul(out.blst(), a.blst(), b.blst());
    return out;
  }
  Fp2 operator-() const { return {-c0, -c1}; }
  Fp2& operator+=(const Fp2& other) { return *this = *this + other; }
  Fp2& operator-=(const Fp2& other) { return *this = *this - other; }
  Fp2& operator*=(const Fp2& other) { return *this = *this * other; }
  Fp2 square() const {
    Fp2 out;
    blst_fp2_sqr(out.blst(), blst());
    return out;
  }
  Fp2 doubled() const { return {c0.doubled(), c1.doubled()}; }
  /// 1/x; zero for zero. Not in constant time.
  Fp2 inverse() const {
    Fp2 out;
    blst_fp2_eucl_inverse(out.blst(), blst());
    return out;
  }

  friend bool operator==(const Fp2&, const Fp2&) = default;

  /// The Montgomery limbs, those of c0 first.
  const std::uint64_t* limbs() const { return c0.limbs(); }
  std::uint64_t* limbs() { return c0.limbs(); }

  const blst_fp2* blst() const { return reinterpret_cast<const blst_fp2*>(this); }
  blst_fp2* blst() { return reinterpret_cast<blst_fp2*>(this); }
};

static_assert(sizeof(Fp2) == sizeof(blst_fp2) && std::is_trivially_copyable_v<Fp2>);

}  // namespace cuzk::curve
