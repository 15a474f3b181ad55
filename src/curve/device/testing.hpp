#pragma once

#include "curve/device/blst.hpp"
#include "curve/device/fp.hpp"
#include "curve/device/fr.hpp"
#include "curve/device/group.hpp"

#include <blst.h>

#include <cstdint>
#include <cstring>
#include <vector>

/// What tests of device code share: reproducible values, the edges of the lazy ranges, and points
/// from blst, which is the oracle. Host and device draw the same values.
namespace cuzk::curve::device::testing {

using device::from_blst;
using device::sum;
using device::to_blst;

/// splitmix64's output function.
CUZK_HD std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A canonical element, below 2^254.
CUZK_HD Fr random_fr(std::uint64_t seed) {
  Fr x;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t word = mix(seed * 4 + static_cast<std::uint64_t>(i));
    x.limbs[2 * i] = static_cast<std::uint32_t>(word);
    x.limbs[2 * i + 1] = static_cast<std::uint32_t>(word >> 32);
  }
  x.limbs[7] &= 0x3fffffff;
  return x;
}
/// A canonical element, below 2^380.
CUZK_HD Fp random_fp(std::uint64_t seed) {
  Fp x;
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t word = mix(seed * 6 + static_cast<std::uint64_t>(i));
    x.limbs[2 * i] = static_cast<std::uint32_t>(word);
    x.limbs[2 * i + 1] = static_cast<std::uint32_t>(word >> 32);
  }
  x.limbs[11] &= 0x0fffffff;
  return x;
}

/// Loose values of Fr: 0 .. 3, the neighbourhoods of r, 2r and 2^256, limbs of all ones and of
/// zero, and random ones.
inline std::vector<Fr> loose_fr_values(int random_count) {
  using fr_constants::modulus_limb;
  std::vector<Fr> values;
  for (std::uint32_t k = 0; k < 4; ++k) values.push_back(Fr::from_u32(k));
  const auto shifted = [](Fr x, int by) {
    const std::uint32_t extension = by < 0 ? 0xffffffffu : 0u;
    x.limbs[0] = carry::add_cc(x.limbs[0], static_cast<std::uint32_t>(by));
    for (int i = 1; i < 8; ++i) x.limbs[i] = carry::addc_cc(x.limbs[i], extension);
    return x;
  };
  Fr r, two_r, top;
  for (int i = 0; i < 8; ++i) {
    r.limbs[i] = modulus_limb<false>(i);
    two_r.limbs[i] = modulus_limb<true>(i);
    top.limbs[i] = 0xffffffff;
  }
  for (int by = -2; by <= 2; ++by) {
    values.push_back(shifted(r, by));
    values.push_back(shifted(two_r, by));
    values.push_back(shifted(top, by - 2));
  }
  values.push_back(Fr::montgomery_one());
  values.push_back(Fr::montgomery_two());
  for (int i = 0; i < random_count; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    Fr x = random_fr(seed);
    if (i & 1) x.limbs[7] = static_cast<std::uint32_t>(mix(seed + 7));
    if (i % 5 == 0) x.limbs[i % 8] = 0xffffffff;
    if (i % 7 == 0) x.limbs[(i / 7) % 8] = 0;
    values.push_back(x);
  }
  return values;
}

/// Values of Fp in [0, bound·p): each residue chosen, plus every multiple of p that fits. Residues:
/// 0, 1, p - 1, R, limbs of ones, random.
inline std::vector<Fp> lazy_fp_values(int bound, int random_count) {
  std::vector<Fp> residues = {Fp::zero(), Fp::one()};
  Fp one_integer = Fp::zero(), p_minus_one;
  one_integer.limbs[0] = 1;
  for (int i = 0; i < 12; ++i) p_minus_one.limbs[i] = fp_constants::multiple_limb<1>(i);
  p_minus_one.limbs[0] -= 1;
  residues.push_back(one_integer);
  residues.push_back(p_minus_one);
  for (int i = 0; i < random_count; ++i) {
    Fp x = random_fp(static_cast<std::uint64_t>(i));
    if (i % 3 == 0) x.limbs[i % 11] = 0xffffffff;
    if (i % 4 == 0) x.limbs[(i / 4) % 12] = 0;
    residues.push_back(x);
  }
  Fp p;
  for (int i = 0; i < 12; ++i) p.limbs[i] = fp_constants::multiple_limb<1>(i);
  std::vector<Fp> values;
  for (Fp x : residues) {
    for (int k = 0; k < bound; ++k, x = add(x, p)) values.push_back(x);
  }
  return values;
}

inline bool same(const blst_p1& a, const blst_p1& b) { return blst_p1_is_equal(&a, &b); }
inline bool same(const blst_p2& a, const blst_p2& b) { return blst_p2_is_equal(&a, &b); }
/// scalar·generator, scalar = 32 little-endian bytes given as limbs.
inline blst_p1 multiple_of_generator(const blst_p1&, const std::uint32_t* scalar) {
  blst_p1 d;
  blst_p1_mult(&d, blst_p1_generator(), reinterpret_cast<const byte*>(scalar), 256);
  return d;
}
inline blst_p2 multiple_of_generator(const blst_p2&, const std::uint32_t* scalar) {
  blst_p2 d;
  blst_p2_mult(&d, blst_p2_generator(), reinterpret_cast<const byte*>(scalar), 256);
  return d;
}
inline blst_p1 times(const blst_p1& a, const std::uint32_t* scalar) {
  blst_p1 d;
  blst_p1_mult(&d, &a, reinterpret_cast<const byte*>(scalar), 256);
  return d;
}
inline blst_p2 times(const blst_p2& a, const std::uint32_t* scalar) {
  blst_p2 d;
  blst_p2_mult(&d, &a, reinterpret_cast<const byte*>(scalar), 256);
  return d;
}
inline blst_p1_affine affine(const blst_p1& a) {
  blst_p1_affine d;
  blst_p1_to_affine(&d, &a);
  return d;
}
inline blst_p2_affine affine(const blst_p2& a) {
  blst_p2_affine d;
  blst_p2_to_affine(&d, &a);
  return d;
}

}  // namespace cuzk::curve::device::testing
