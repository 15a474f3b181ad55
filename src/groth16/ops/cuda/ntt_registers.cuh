#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/fr_mul.hpp"

/// Transforms of 2, 4 and 8 points in registers: what every pass of ntt_pass.cuh is made of. All
/// values lazy; the form (plain or Montgomery) does not matter.
namespace cuzk::groth16::cuda {

using curve::device::Fr;
using curve::device::FrFactor;

/// {i, s, i·s} with i = w_8² and s = (w_8 + 1/w_8) / 2, so that w_8 = s·(1 + i) and w_8³ = s·(i -
/// 1); w_8 = ω_8^-1 for dif, ω_8 for dit, ω_8 = 7^((r-1)/8). They are the same for every n. In
/// constant memory and not const, so that the compiler does not see the values: ptxas turns limbs
/// of 0 and 2^32 - 1 into shifts and so breaks the fused products. The unit tests recompute them.
static __constant__ FrFactor kDifRoots[3] = {
    {{{0x00000001, 0xfffeffff, 0x89fb5bfe, 0x67baa400, 0x939ed334, 0xa5e80b39, 0x299d7d47,
       0x73eda753}},
     {{0xaa89cfb0, 0x9e3a2625, 0xc18913d5, 0xcc3033f2, 0xa932a94a, 0xc7edfb35, 0xfffffffe,
       0xffffffff}}},
    {{{0xf46d77a6, 0x08f87f58, 0xf931b394, 0x928b48c5, 0xd3285ebe, 0x68a4e566, 0xd38cab51,
       0x1091da63}},
     {{0x0937dc72, 0xda6003c9, 0x9a31192f, 0x8e381741, 0x4c1e8070, 0x305e3aa4, 0x4adf8f8a,
       0x24971e36}}},
    {{{0x5cf9382d, 0x96cf8224, 0x721c5892, 0x32bdcb06, 0x6bf2b9e1, 0x0fd897a1, 0xf92fc1b2,
       0x50281ac0}},
     {{0x357acc69, 0x75723d56, 0x80971d0c, 0x6c423be4, 0x09d2daa3, 0xff52d944, 0xf6a9f8d2,
       0xb101be35}}},
};
static __constant__ FrFactor kDitRoots[3] = {
    {{{0x00000000, 0x00010000, 0x76030000, 0xec030002, 0x760304d0, 0x8d51ccce, 0x00000000,
       0x00000000}},
     {{0x5576304f, 0x61c5d9da, 0x3e76ec2a, 0x33cfcc0d, 0x56cd56b5, 0x381204ca, 0x00000001,
       0x00000000}}},
    {{{0xf46d77a6, 0x08f87f58, 0xf931b394, 0x928b48c5, 0xd3285ebe, 0x68a4e566, 0xd38cab51,
       0x1091da63}},
     {{0x0937dc72, 0xda6003c9, 0x9a31192f, 0x8e381741, 0x4c1e8070, 0x305e3aa4, 0x4adf8f8a,
       0x24971e36}}},
    {{{0xa306c7d4, 0x69307dda, 0x8de2036c, 0x20ffd8fc, 0x9daf1e24, 0x23614066, 0x306dbb96,
       0x23c58c92}},
     {{0xca853396, 0x8a8dc2a9, 0x7f68e2f3, 0x93bdc41b, 0xf62d255c, 0x00ad26bb, 0x0956072d,
       0x4efe41ca}}},
};

// ---- Transforms in registers, natural order in and out

CUZK_DEVICE void butterfly(Fr& x, Fr& y) {
  const Fr difference = sub(x, y);
  x = add(x, y);
  y = difference;
}
CUZK_DEVICE void dft4(Fr* x, const FrFactor* roots) {
  butterfly(x[0], x[2]);
  butterfly(x[1], x[3]);
  x[3] = mul_by(x[3], roots[0]);
  butterfly(x[0], x[1]);  // X0, X2
  butterfly(x[2], x[3]);  // X1, X3
  const Fr t = x[1];
  x[1] = x[2];
  x[2] = t;
}
/// With the differences d_j = x_j - x_(j+4):
///   X1, X7 = (d0 + s(d1 - d3)) ± i(d2 + s(d1 + d3))      X5, X3 = (d0 - s(d1 - d3)) ± i(d2 - s(d1
///   + d3))
CUZK_DEVICE void dft8(Fr* x, const FrFactor* roots) {
  butterfly(x[0], x[4]);
  butterfly(x[1], x[5]);
  butterfly(x[2], x[6]);
  butterfly(x[3], x[7]);
  butterfly(x[5], x[7]);          // d1 + d3, d1 - d3
  x[7] = mul_by(x[7], roots[1]);  // s(d1 - d3)
  x[5] = mul_by(x[5], roots[2]);  // i s(d1 + d3)
  x[6] = mul_by(x[6], roots[0]);  // i d2
  butterfly(x[4], x[7]);
  butterfly(x[6], x[5]);
  butterfly(x[4], x[6]);  // X1, X7
  butterfly(x[7], x[5]);  // X5, X3
  butterfly(x[0], x[2]);
  butterfly(x[1], x[3]);
  x[3] = mul_by(x[3], roots[0]);
  butterfly(x[0], x[1]);  // X0, X4
  butterfly(x[2], x[3]);  // X2, X6
  const Fr x1 = x[4], x2 = x[2], x3 = x[5], x4 = x[1], x5 = x[7], x6 = x[3], x7 = x[6];
  x[1] = x1;
  x[2] = x2;
  x[3] = x3;
  x[4] = x4;
  x[5] = x5;
  x[6] = x6;
  x[7] = x7;
}
CUZK_HD constexpr int reverse_in_radix(int e, int radix) {
  return radix == 8   ? ((e & 1) << 2) | (e & 2) | (e >> 2)
         : radix == 4 ? ((e & 1) << 1) | (e >> 1)
                      : e;
}
/// Eight registers as 8 / Radix transforms. Dif: natural in, bit-reversed out; dit: bit-reversed
/// in, natural out.
template <int Radix, bool Dif>
CUZK_DEVICE void dft_registers(Fr* x, const FrFactor* roots) {
  if constexpr (Radix > 1) {
    CUZK_UNROLL
    for (int first = 0; first < 8; first += Radix) {
      Fr y[Radix];
      CUZK_UNROLL
      for (int j = 0; j < Radix; ++j) y[j] = x[first + (Dif ? j : reverse_in_radix(j, Radix))];
      if constexpr (Radix == 8) dft8(y, roots);
      if constexpr (Radix == 4) dft4(y, roots);
      if constexpr (Radix == 2) butterfly(y[0], y[1]);
      CUZK_UNROLL
      for (int j = 0; j < Radix; ++j) x[first + (Dif ? reverse_in_radix(j, Radix) : j)] = y[j];
    }
  }
}

/// The lowest `bits` >= 1 bits of x in reverse.
CUZK_HD std::uint32_t reverse_bits(std::uint32_t x, int bits) {
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)
  return __brev(x) >> (32 - bits);
#else
  std::uint32_t y = 0;
  for (int i = 0; i < bits; ++i) y |= ((x >> i) & 1u) << (bits - 1 - i);
  return y;
#endif
}

}  // namespace cuzk::groth16::cuda
