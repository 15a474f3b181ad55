#pragma once

#include "curve/device/fp.hpp"
#include "curve/device/fp2.hpp"
#include "curve/device/group.hpp"

#include <blst.h>

#include <cstring>

/// Between device types and blst's, on the host. Bytes are the same up to reduction: to_blst takes
/// values in [0, 8p), from_blst gives canonical ones.
namespace cuzk::curve::device {

inline blst_fp to_blst(const Fp& a) {
  const Fp c = canonical(a);
  blst_fp d;
  std::memcpy(&d, &c, sizeof(d));
  return d;
}
inline Fp from_blst(const blst_fp& a) {
  Fp d;
  std::memcpy(&d, &a, sizeof(d));
  return d;
}
inline blst_fp2 to_blst(const Fp2& a) { return {{to_blst(a.c0), to_blst(a.c1)}}; }
inline Fp2 from_blst(const blst_fp2& a) { return {from_blst(a.fp[0]), from_blst(a.fp[1])}; }
inline G1Affine from_blst(const blst_p1_affine& a) { return {from_blst(a.x), from_blst(a.y)}; }
inline G2Affine from_blst(const blst_p2_affine& a) { return {from_blst(a.x), from_blst(a.y)}; }
inline blst_p1 to_blst(const G1Affine& a) {
  const blst_p1_affine affine{to_blst(a.x), to_blst(a.y)};
  blst_p1 d;
  blst_p1_from_affine(&d, &affine);
  return d;
}
inline blst_p2 to_blst(const G2Affine& a) {
  const blst_p2_affine affine{to_blst(a.x), to_blst(a.y)};
  blst_p2 d;
  blst_p2_from_affine(&d, &affine);
  return d;
}
/// Jacobian with Z = ZZ: X' = X·ZZ, Y' = Y·ZZZ. (x = X/ZZ = X'/ZZ², y = Y/ZZZ = Y·ZZZ/ZZZ² =
/// Y'/ZZ³.)
inline blst_p1 to_blst(const G1Xyzz& a) {
  if (is_zero_limbs(a.zz)) return blst_p1{};
  return {to_blst(mul(a.x, a.zz)), to_blst(mul(a.y, a.zzz)), to_blst(a.zz)};
}
inline blst_p2 to_blst(const G2Xyzz& a) {
  if (is_zero_limbs(a.zz)) return blst_p2{};
  return {to_blst(mul(a.x, a.zz)), to_blst(mul(a.y, a.zzz)), to_blst(a.zz)};
}

inline blst_p1 sum(const blst_p1& a, const blst_p1& b) {
  blst_p1 d;
  blst_p1_add_or_double(&d, &a, &b);
  return d;
}
inline blst_p2 sum(const blst_p2& a, const blst_p2& b) {
  blst_p2 d;
  blst_p2_add_or_double(&d, &a, &b);
  return d;
}

}  // namespace cuzk::curve::device
