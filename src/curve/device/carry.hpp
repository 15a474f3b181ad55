#pragma once

#include "base/cuda/qualifiers.hpp"

#include <cstdint>

/// Carry chains on 32-bit words. On the device each function is one PTX instruction; ptxas fuses a
/// (mad|madc).lo.cc with the madc.hi.cc on the same operands into one IMAD.WIDE.U32(.X), a 32 x 32
/// + 64-bit product with carry in and out. On the host the carry flag is a variable, so that an
/// algorithm written with these runs word for word the same.
///
/// A trailing _cc sets the flag; addc, subc and madc read it. For subtraction the flag is the
/// borrow. Statements that pass a flag must follow each other directly. The flag belongs to the
/// thread.
namespace cuzk::curve::device::carry {

#ifdef __CUDA_ARCH__

#define CUZK_PTX2(name, instruction)                                                \
  __device__ __forceinline__ std::uint32_t name(std::uint32_t a, std::uint32_t b) { \
    std::uint32_t d;                                                                \
    asm volatile(instruction " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));            \
    return d;                                                                       \
  }
#define CUZK_PTX3(name, instruction)                                                 \
  __device__ __forceinline__ std::uint32_t name(std::uint32_t a, std::uint32_t b,    \
                                                std::uint32_t c) {                   \
    std::uint32_t d;                                                                 \
    asm volatile(instruction " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
    return d;                                                                        \
  }
CUZK_PTX2(add_cc, "add.cc.u32")
CUZK_PTX2(addc_cc, "addc.cc.u32")
CUZK_PTX2(addc, "addc.u32")
CUZK_PTX2(sub_cc, "sub.cc.u32")
CUZK_PTX2(subc_cc, "subc.cc.u32")
CUZK_PTX2(subc, "subc.u32")
CUZK_PTX3(mad_lo, "mad.lo.u32")
CUZK_PTX3(mad_lo_cc, "mad.lo.cc.u32")
CUZK_PTX3(madc_lo, "madc.lo.u32")
CUZK_PTX3(madc_lo_cc, "madc.lo.cc.u32")
CUZK_PTX3(madc_hi, "madc.hi.u32")
CUZK_PTX3(madc_hi_cc, "madc.hi.cc.u32")
#undef CUZK_PTX2
#undef CUZK_PTX3

#else

namespace detail {

inline std::uint32_t& flag() {
  static thread_local std::uint32_t value = 0;
  return value;
}
inline std::uint32_t sum(std::uint32_t a, std::uint32_t b, std::uint32_t carry_in, bool set) {
  const std::uint64_t total = std::uint64_t{a} + b + carry_in;
  if (set) flag() = static_cast<std::uint32_t>(total >> 32);
  return static_cast<std::uint32_t>(total);
}
inline std::uint32_t difference(std::uint32_t a, std::uint32_t b, std::uint32_t borrow_in,
                                bool set) {
  const std::uint64_t total = std::uint64_t{a} - b - borrow_in;
  if (set) flag() = static_cast<std::uint32_t>(total >> 63);
  return static_cast<std::uint32_t>(total);
}
inline std::uint32_t low(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b);
}
inline std::uint32_t high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
}

}  // namespace detail

CUZK_HD std::uint32_t add_cc(std::uint32_t a, std::uint32_t b) {
  return detail::sum(a, b, 0, true);
}
CUZK_HD std::uint32_t addc_cc(std::uint32_t a, std::uint32_t b) {
  return detail::sum(a, b, detail::flag(), true);
}
CUZK_HD std::uint32_t addc(std::uint32_t a, std::uint32_t b) {
  return detail::sum(a, b, detail::flag(), false);
}
CUZK_HD std::uint32_t sub_cc(std::uint32_t a, std::uint32_t b) {
  return detail::difference(a, b, 0, true);
}
CUZK_HD std::uint32_t subc_cc(std::uint32_t a, std::uint32_t b) {
  return detail::difference(a, b, detail::flag(), true);
}
CUZK_HD std::uint32_t subc(std::uint32_t a, std::uint32_t b) {
  return detail::difference(a, b, detail::flag(), false);
}
CUZK_HD std::uint32_t mad_lo(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return detail::sum(detail::low(a, b), c, 0, false);
}
CUZK_HD std::uint32_t mad_lo_cc(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return detail::sum(detail::low(a, b), c, 0, true);
}
CUZK_HD std::uint32_t madc_lo(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return detail::sum(detail::low(a, b), c, detail::flag(), false);
}
CUZK_HD std::uint32_t madc_lo_cc(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return detail::sum(detail::low(a, b), c, detail::flag(), true);
}
CUZK_HD std::uint32_t madc_hi(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return detail::sum(detail::high(a, b), c, detail::flag(), false);
}
CUZK_HD std::uint32_t madc_hi_cc(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return detail::sum(detail::high(a, b), c, detail::flag(), true);
}

#endif

/// accumulator[0 .. 2·Count-1] += {x[0], x[2], x[4], ...} · y as a row of Count 64-bit columns that
/// tile the limbs; the carry out of the row stays in the flag. CarryIn: the row starts by consuming
/// the flag.
template <int Count, bool CarryIn = false>
CUZK_HD void mad_row(std::uint32_t* accumulator, const std::uint32_t* x, std::uint32_t y) {
  accumulator[0] =
      CarryIn ? madc_lo_cc(x[0], y, accumulator[0]) : mad_lo_cc(x[0], y, accumulator[0]);
  accumulator[1] = madc_hi_cc(x[0], y, accumulator[1]);
  CUZK_UNROLL
  for (int k = 1; k < Count; ++k) {
    accumulator[2 * k] = madc_lo_cc(x[2 * k], y, accumulator[2 * k]);
    accumulator[2 * k + 1] = madc_hi_cc(x[2 * k], y, accumulator[2 * k + 1]);
  }
}

}  // namespace cuzk::curve::device::carry
