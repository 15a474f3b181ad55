#pragma once

#include "base/cuda/qualifiers.hpp"
#include "curve/device/carry.hpp"

#include <cstddef>
#include <cstdint>

/// The scalar field of BLS12-381 for kernels (host and device run the same text; see carry.hpp).
///
///   r = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001,   2^256 = 2.2084 r
///
/// An element is eight 32-bit limbs, least significant first: any integer of [0, 2^256) congruent
/// to it. Every function states which range it takes and gives:
///
///   loose      [0, 2^256)   what a product accepts
///   lazy       [0, 2r)      what sums accept and what products give
///   canonical  [0, r)       what leaves the field: digits of a multi-scalar multiplication, files,
///   comparisons
///
/// Whether the integer is the element itself or its Montgomery form (times 2^256) is the caller's
/// affair and stated by each operation: sums and mul_by() keep the form they are given; mul()
/// divides by 2^256 and so is the product of two Montgomery forms, or of one Montgomery form and
/// one plain integer. A canonical Montgomery form has the bytes of curve::Fr.
namespace cuzk::curve::device {

struct alignas(16) Fr {
  std::uint32_t limbs[8];

  static CUZK_HD Fr zero() { return Fr{}; }
  /// The integer `value`.
  static CUZK_HD Fr from_u32(std::uint32_t value) { return Fr{{value, 0, 0, 0, 0, 0, 0, 0}}; }
  /// The Montgomery form of one: 2^256 mod r.
  static CUZK_HD Fr montgomery_one() {
    return Fr{{0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa, 0xecbc4ff5, 0x998c4fef, 0xacc5056f,
               0x1824b159}};
  }
  /// 2^512 mod r: mul() by it turns a plain integer into its Montgomery form.
  static CUZK_HD Fr montgomery_two() {
    return Fr{{0xf3f29c6d, 0xc999e990, 0x87925c23, 0x2b6cedcb, 0x7254398f, 0x05d31496, 0x9f59ff11,
               0x0748d9d9}};
  }
};

/// A factor known in advance: canonical w and its companion floor(w·2^256 / r). mul_by() keeps the
/// form of its other operand if w is plain.
struct alignas(16) FrFactor {
  Fr w;
  Fr companion;
};

static_assert(sizeof(Fr) == 32 && sizeof(FrFactor) == 64);

namespace fr_constants {

/// r, 2r, and N with 2^256 - r = 2^32 - 1 + 2^64·N, the form that makes reduction cheap
/// (fr_test.cpp recomputes them).
template <bool Twice>
CUZK_HD constexpr std::uint32_t modulus_limb(int i) {
  constexpr std::uint32_t once[8] = {0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402,
                                     0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753};
  constexpr std::uint32_t twice[8] = {0x00000002, 0xfffffffe, 0xfffcb7fd, 0xa77b4805,
                                      0x1343b00a, 0x6673b010, 0x533afa90, 0xe7db4ea6};
  return Twice ? twice[i] : once[i];
}
CUZK_HD constexpr std::uint32_t complement_limb(int i) {
  constexpr std::uint32_t n[6] = {0x0001a401, 0xac425bfd, 0xf65e27fa,
                                  0xccc627f7, 0xd66282b7, 0x8c1258ac};
  return n[i];
}

}  // namespace fr_constants

/// `value` as a canonical plain element, for |value| < 2^31. For a negative one, r + value: limb 0
/// of r is 1 and limb 1 all ones, so the borrow ends in limb 1.
CUZK_HD Fr fr_from_small(int value) {
  const bool negative = value < 0;
  Fr x;
  x.limbs[0] = static_cast<std::uint32_t>(value) + (negative ? 1u : 0u);
  x.limbs[1] = negative ? fr_constants::modulus_limb<false>(1) - (value < -1 ? 1u : 0u) : 0u;
  CUZK_UNROLL
  for (int i = 2; i < 8; ++i) x.limbs[i] = negative ? fr_constants::modulus_limb<false>(i) : 0u;
  return x;
}

/// d += r (or 2r) if `condition` is not zero. On the device eight predicated additions, no selects.
template <bool Twice>
CUZK_HD void add_modulus_if(Fr& d, std::uint32_t condition) {
  using fr_constants::modulus_limb;
#ifdef __CUDA_ARCH__
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %8, 0;\n"
      "@p add.cc.u32 %0, %0, %9;\n@p addc.cc.u32 %1, %1, %10;\n@p addc.cc.u32 %2, %2, %11;\n"
      "@p addc.cc.u32 %3, %3, %12;\n@p addc.cc.u32 %4, %4, %13;\n@p addc.cc.u32 %5, %5, %14;\n"
      "@p addc.cc.u32 %6, %6, %15;\n@p addc.u32 %7, %7, %16;\n}"
      : "+r"(d.limbs[0]), "+r"(d.limbs[1]), "+r"(d.limbs[2]), "+r"(d.limbs[3]), "+r"(d.limbs[4]),
        "+r"(d.limbs[5]), "+r"(d.limbs[6]), "+r"(d.limbs[7])
      : "r"(condition), "n"(modulus_limb<Twice>(0)), "n"(modulus_limb<Twice>(1)),
        "n"(modulus_limb<Twice>(2)), "n"(modulus_limb<Twice>(3)), "n"(modulus_limb<Twice>(4)),
        "n"(modulus_limb<Twice>(5)), "n"(modulus_limb<Twice>(6)), "n"(modulus_limb<Twice>(7)));
#else
  if (condition == 0) return;
  d.limbs[0] = carry::add_cc(d.limbs[0], modulus_limb<Twice>(0));
  for (int i = 1; i < 8; ++i) d.limbs[i] = carry::addc_cc(d.limbs[i], modulus_limb<Twice>(i));
#endif
}

/// Loose x minus r (or 2r), if that is not negative.
template <bool Twice>
CUZK_HD void subtract_modulus_if_possible(Fr& x) {
  using fr_constants::modulus_limb;
  Fr t;
  t.limbs[0] = carry::sub_cc(x.limbs[0], modulus_limb<Twice>(0));
  CUZK_UNROLL
  for (int i = 1; i < 8; ++i) t.limbs[i] = carry::subc_cc(x.limbs[i], modulus_limb<Twice>(i));
  const std::uint32_t borrow = carry::subc(0, 0);
  CUZK_UNROLL
  for (int i = 0; i < 8; ++i) x.limbs[i] = borrow != 0 ? x.limbs[i] : t.limbs[i];
}

/// Loose to canonical: 2^256 < 3r, so 2r comes off at most once and r at most once.
CUZK_HD Fr canonical(Fr x) {
  subtract_modulus_if_possible<true>(x);
  subtract_modulus_if_possible<false>(x);
  return x;
}

/// lazy + lazy -> lazy.
CUZK_HD Fr add(const Fr& a, const Fr& b) {
  using fr_constants::modulus_limb;
  Fr s;
  s.limbs[0] = carry::add_cc(a.limbs[0], b.limbs[0]);
  CUZK_UNROLL
  for (int i = 1; i < 8; ++i) s.limbs[i] = carry::addc_cc(a.limbs[i], b.limbs[i]);
  const std::uint32_t carry_out = carry::addc(0, 0);
  s.limbs[0] = carry::sub_cc(s.limbs[0], modulus_limb<true>(0));
  CUZK_UNROLL
  for (int i = 1; i < 8; ++i) s.limbs[i] = carry::subc_cc(s.limbs[i], modulus_limb<true>(i));
  add_modulus_if<true>(s, carry::subc(carry_out, 0) >> 31);
  return s;
}

/// lazy - lazy -> lazy.
CUZK_HD Fr sub(const Fr& a, const Fr& b) {
  Fr d;
  d.limbs[0] = carry::sub_cc(a.limbs[0], b.limbs[0]);
  CUZK_UNROLL
  for (int i = 1; i < 8; ++i) d.limbs[i] = carry::subc_cc(a.limbs[i], b.limbs[i]);
  add_modulus_if<true>(d, carry::subc(0, 0));
  return d;
}

/// x in [0, 2r] -> 2r - x if `negative`, else x; in [0, 2r].
CUZK_HD Fr negate_if(const Fr& x, bool negative) {
  using fr_constants::modulus_limb;
  Fr d;
  d.limbs[0] = carry::sub_cc(modulus_limb<true>(0), x.limbs[0]);
  CUZK_UNROLL
  for (int i = 1; i < 7; ++i) d.limbs[i] = carry::subc_cc(modulus_limb<true>(i), x.limbs[i]);
  d.limbs[7] = carry::subc(modulus_limb<true>(7), x.limbs[7]);
  CUZK_UNROLL
  for (int i = 0; i < 8; ++i) d.limbs[i] = negative ? d.limbs[i] : x.limbs[i];
  return d;
}

/// Equality of canonical elements.
CUZK_HD bool equal(const Fr& a, const Fr& b) {
  std::uint32_t difference = 0;
  CUZK_UNROLL
  for (int i = 0; i < 8; ++i) difference |= a.limbs[i] ^ b.limbs[i];
  return difference == 0;
}
CUZK_HD bool is_zero_limbs(const Fr& a) {
  std::uint32_t any = 0;
  CUZK_UNROLL
  for (int i = 0; i < 8; ++i) any |= a.limbs[i];
  return any == 0;
}

}  // namespace cuzk::curve::device
