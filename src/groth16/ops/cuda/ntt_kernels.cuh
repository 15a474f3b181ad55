#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/fr_mul.hpp"
#include "groth16/ops/cuda/fr_memory.cuh"

/// The passes of the transforms in ntt.cuh.
///
/// A transform of n = N_0·N_1·...·N_k points runs as one pass over memory for each factor N_i = 2^6 .. 2^9. The index is
/// (j_0 | j_1 | ... | j_k), most significant digit first. Pass i makes independent N_i-point transforms along digit i, whose
/// neighbours lie S_i = N_(i+1)·...·N_k apart, and twists: multiplies by w_i^(column·frequency), where w_i is the root of
/// order n_i = N_i·S_i and the column is the index below the digit. The last pass is contiguous and has no twist.
///
///   dif   natural order -> bit-reversed, passes 0 .. k, each followed by its twist
///   dit   bit-reversed -> natural, passes k .. 0, each preceded by its twist
///
/// Inside a pass a thread holds eight elements in registers and exchanges them through shared memory between three phases
/// (radix 8, 8, and 1 .. 8). A radix-8 kernel needs 4 products (Winograd's form), an inner twist 7 for 8 points, the outer
/// one 8 for 8. All values lazy; the form (plain or Montgomery) does not matter.
namespace cuzk::groth16::cuda {

using curve::device::Fr;
using curve::device::FrFactor;

/// Threads a block and blocks an SM of every pass, found by timing 64x8, 128x4, 128x3, 256x2 and 512x1 at 2^27 on H200
/// (gpu_check ntt): small blocks hide each other's loads, stores and barriers.
inline constexpr int kNttThreads = 128;
inline constexpr int kNttBlocks = 4;

/// {i, s, i·s} with i = w_8² and s = (w_8 + 1/w_8) / 2, so that w_8 = s·(1 + i) and w_8³ = s·(i - 1); w_8 = ω_8^-1 for
/// dif, ω_8 for dit, ω_8 = 7^((r-1)/8). They are the same for every n. In constant memory, as ptxas turns the limbs 0 and
/// 2^32 - 1 of literals into shifts and so breaks the fused products. ntt_test.cpp recomputes them.
__constant__ const FrFactor kDifRoots[3] = {
    {{{0x00000001, 0xfffeffff, 0x89fb5bfe, 0x67baa400, 0x939ed334, 0xa5e80b39, 0x299d7d47, 0x73eda753}},
     {{0xaa89cfb0, 0x9e3a2625, 0xc18913d5, 0xcc3033f2, 0xa932a94a, 0xc7edfb35, 0xfffffffe, 0xffffffff}}},
    {{{0xf46d77a6, 0x08f87f58, 0xf931b394, 0x928b48c5, 0xd3285ebe, 0x68a4e566, 0xd38cab51, 0x1091da63}},
     {{0x0937dc72, 0xda6003c9, 0x9a31192f, 0x8e381741, 0x4c1e8070, 0x305e3aa4, 0x4adf8f8a, 0x24971e36}}},
    {{{0x5cf9382d, 0x96cf8224, 0x721c5892, 0x32bdcb06, 0x6bf2b9e1, 0x0fd897a1, 0xf92fc1b2, 0x50281ac0}},
     {{0x357acc69, 0x75723d56, 0x80971d0c, 0x6c423be4, 0x09d2daa3, 0xff52d944, 0xf6a9f8d2, 0xb101be35}}},
};
__constant__ const FrFactor kDitRoots[3] = {
    {{{0x00000000, 0x00010000, 0x76030000, 0xec030002, 0x760304d0, 0x8d51ccce, 0x00000000, 0x00000000}},
     {{0x5576304f, 0x61c5d9da, 0x3e76ec2a, 0x33cfcc0d, 0x56cd56b5, 0x381204ca, 0x00000001, 0x00000000}}},
    {{{0xf46d77a6, 0x08f87f58, 0xf931b394, 0x928b48c5, 0xd3285ebe, 0x68a4e566, 0xd38cab51, 0x1091da63}},
     {{0x0937dc72, 0xda6003c9, 0x9a31192f, 0x8e381741, 0x4c1e8070, 0x305e3aa4, 0x4adf8f8a, 0x24971e36}}},
    {{{0xa306c7d4, 0x69307dda, 0x8de2036c, 0x20ffd8fc, 0x9daf1e24, 0x23614066, 0x306dbb96, 0x23c58c92}},
     {{0xca853396, 0x8a8dc2a9, 0x7f68e2f3, 0x93bdc41b, 0xf62d255c, 0x00ad26bb, 0x0956072d, 0x4efe41ca}}},
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
///   X1, X7 = (d0 + s(d1 - d3)) ± i(d2 + s(d1 + d3))      X5, X3 = (d0 - s(d1 - d3)) ± i(d2 - s(d1 + d3))
CUZK_DEVICE void dft8(Fr* x, const FrFactor* roots) {
  butterfly(x[0], x[4]);
  butterfly(x[1], x[5]);
  butterfly(x[2], x[6]);
  butterfly(x[3], x[7]);
  butterfly(x[5], x[7]);              // d1 + d3, d1 - d3
  x[7] = mul_by(x[7], roots[1]);      // s(d1 - d3)
  x[5] = mul_by(x[5], roots[2]);      // i s(d1 + d3)
  x[6] = mul_by(x[6], roots[0]);      // i d2
  butterfly(x[4], x[7]);
  butterfly(x[6], x[5]);
  butterfly(x[4], x[6]);              // X1, X7
  butterfly(x[7], x[5]);              // X5, X3
  butterfly(x[0], x[2]);
  butterfly(x[1], x[3]);
  x[3] = mul_by(x[3], roots[0]);
  butterfly(x[0], x[1]);              // X0, X4
  butterfly(x[2], x[3]);              // X2, X6
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
  return radix == 8 ? ((e & 1) << 2) | (e & 2) | (e >> 2) : radix == 4 ? ((e & 1) << 1) | (e >> 1) : e;
}
/// Eight registers as 8 / Radix transforms. Dif: natural in, bit-reversed out; dit: bit-reversed in, natural out.
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

// ---- Geometry of a pass

/// N = 2^Log points a column, kNttThreads·8 elements a block, kColumns columns of them side by side.
///   strided: thread = (lane in column | column), neighbouring threads are neighbouring columns
///   linear:  thread = (column | lane in column), neighbouring threads are neighbouring elements
/// In phase 0, 1, 2 lane t holds the positions (t / s)·8s + e·s + t % s, e = 0 .. 7, with s = N/8, N/64, 1.
template <int Log, bool Linear>
struct Tile {
  static_assert(Log >= 6 && Log <= 9);
  static constexpr int kPoints = 1 << Log;
  static constexpr int kLanes = kPoints / 8;
  static constexpr int kColumns = kNttThreads / kLanes;
  static constexpr int kStep0 = kPoints / 8, kStep1 = kPoints / 64;
  static constexpr int kLastRadix = kPoints / 64;
  /// Factors of the two inner twists, the trivial ones included.
  static constexpr int kInner0 = 8 * kStep0, kInner1 = 8 * kStep1;
  static constexpr int kInner = kInner0 + kInner1;
  /// Shared memory in two planes (low and high 16 bytes), one slot of padding a row of eight positions, so that eight
  /// neighbouring threads always meet eight different 16-byte banks.
  static constexpr int kPlane = kPoints * kColumns * 9 / 8;
  static constexpr std::size_t kSharedBytes = 2 * kPlane * 16;

  static CUZK_DEVICE int lane() {
    return static_cast<int>(Linear ? threadIdx.x % kLanes : threadIdx.x / kColumns);
  }
  static CUZK_DEVICE int column() {
    return static_cast<int>(Linear ? threadIdx.x / kLanes : threadIdx.x % kColumns);
  }
  static CUZK_DEVICE int slot(int position, int column) {
    return Linear ? column * (kPoints * 9 / 8) + position + position / 8
                  : position * kColumns + column + (kColumns < 8 ? position / 8 * kColumns : 0);
  }
};

/// The twist of a pass: a full table [N][S] of factors in two arrays, or, where w is null, two short tables of which
/// low[e mod 2^low_bits] and high[e >> low_bits] multiply to w^e (one product more an element).
struct Twist {
  const Fr* w;
  const Fr* companion;
  const FrFactor* low;
  const FrFactor* high;
  int low_bits;
};
struct Pass {
  Fr* x;
  std::uint32_t stride;  // S; 1 for the contiguous pass
  const uint4* inner;    // four planes of 16 bytes (w low, w high, companion low, high) of Tile::kInner factors
  Twist twist;
};

template <class T>
CUZK_DEVICE Fr load_shared(const uint4* buffer, int position, int column) {
  const int k = T::slot(position, column);
  Fr x;
  set_half(x, 0, buffer[k]);
  set_half(x, 1, buffer[T::kPlane + k]);
  return x;
}
template <class T>
CUZK_DEVICE void store_shared(uint4* buffer, int position, int column, const Fr& x) {
  const int k = T::slot(position, column);
  buffer[k] = get_half(x, 0);
  buffer[T::kPlane + k] = get_half(x, 1);
}

/// Where the eight factors of a phase lie: four 16-byte pieces each, piece j of factor e at piece[j] + e·step bytes.
struct Factors {
  const char* piece[4];
  std::uint32_t step;

  CUZK_DEVICE FrFactor load(int e) const {
    const std::size_t at = static_cast<std::size_t>(e) * step;
    FrFactor f;
    set_half(f.w, 0, __ldg(reinterpret_cast<const uint4*>(piece[0] + at)));
    set_half(f.w, 1, __ldg(reinterpret_cast<const uint4*>(piece[1] + at)));
    set_half(f.companion, 0, __ldg(reinterpret_cast<const uint4*>(piece[2] + at)));
    set_half(f.companion, 1, __ldg(reinterpret_cast<const uint4*>(piece[3] + at)));
    return f;
  }
};
template <class T>
CUZK_DEVICE Factors inner_factors(const uint4* inner, int phase, int t) {
  const int first = phase == 0 ? 0 : T::kInner0, s = phase == 0 ? T::kStep0 : T::kStep1;
  Factors f;
  CUZK_UNROLL
  for (int j = 0; j < 4; ++j) f.piece[j] = reinterpret_cast<const char*>(inner + j * T::kInner + first + t % s);
  f.step = static_cast<std::uint32_t>(s) * 16;
  return f;
}
CUZK_DEVICE Factors outer_factors(const Pass& p, int t, std::uint32_t column) {
  const std::size_t at = static_cast<std::size_t>(8 * t) * p.stride + column;
  Factors f;
  CUZK_UNROLL
  for (int j = 0; j < 2; ++j) {
    f.piece[j] = reinterpret_cast<const char*>(p.twist.w + at) + 16 * j;
    f.piece[2 + j] = reinterpret_cast<const char*>(p.twist.companion + at) + 16 * j;
  }
  f.step = p.stride * 32;
  return f;
}
CUZK_HD std::uint32_t reverse_bits(std::uint32_t x, int bits) {
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)
  return __brev(x) >> (32 - bits);
#else
  std::uint32_t y = 0;
  for (int i = 0; i < bits; ++i) y |= ((x >> i) & 1u) << (bits - 1 - i);
  return y;
#endif
}
/// The twist from two short tables, for positions 8t .. 8t + 7 of the column.
template <int Log>
CUZK_DEVICE void composed_twist(Fr* x, const Twist& twist, int t, std::uint32_t column) {
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) {
    const std::uint32_t exponent = column * reverse_bits(static_cast<std::uint32_t>(8 * t + e), Log);
    x[e] = mul_by(x[e], twist.low[exponent & ((1u << twist.low_bits) - 1)]);
    x[e] = mul_by(x[e], twist.high[exponent >> twist.low_bits]);
  }
}

enum class OuterTwist { kNone, kTable, kComposed };

/// Three phases from registers at the positions of phase 0 to registers at the positions of phase 2, bit-reversed within the
/// column. The loop is not unrolled: one radix-8 kernel and eight products in the instruction cache instead of three times
/// that (unrolled, instruction fetch stalls and 2^27 takes 10 % longer).
template <int Log, bool Linear, OuterTwist Outer>
CUZK_DEVICE void dif_phases(Fr* x, uint4* buffer, const Pass& p, std::uint32_t column_in_row) {
  using T = Tile<Log, Linear>;
  const int t = T::lane(), column = T::column();
  CUZK_NO_UNROLL
  for (int phase = 0; phase < 3; ++phase) {
    const int s = phase == 0 ? T::kStep0 : phase == 1 ? T::kStep1 : 1;
    const int first = (t / s) * 8 * s + t % s;
    if (phase > 0) {
      __syncthreads();
      CUZK_UNROLL
      for (int e = 0; e < 8; ++e) x[e] = load_shared<T>(buffer, first + e * s, column);
    }
    if (T::kLastRadix == 8 || phase < 2) {
      dft_registers<8, true>(x, kDifRoots);
    } else {
      dft_registers<T::kLastRadix, true>(x, kDifRoots);
    }
    if (phase < 2 || Outer == OuterTwist::kTable) {
      const Factors f = phase < 2 ? inner_factors<T>(p.inner, phase, t) : outer_factors(p, t, column_in_row);
      if (phase == 2) x[0] = mul_by(x[0], f.load(0));
      CUZK_UNROLL
      for (int e = 1; e < 8; ++e) x[e] = mul_by(x[e], f.load(e));
    } else if (Outer == OuterTwist::kComposed) {
      composed_twist<Log>(x, p.twist, t, column_in_row);
    }
    if (phase < 2) {
      CUZK_UNROLL
      for (int e = 0; e < 8; ++e) store_shared<T>(buffer, first + e * s, column, x[e]);
    }
  }
}
/// The mirror image: registers at the positions of phase 2, bit-reversed, to registers at the positions of phase 0, natural.
template <int Log, bool Linear, OuterTwist Outer>
CUZK_DEVICE void dit_phases(Fr* x, uint4* buffer, const Pass& p, std::uint32_t column_in_row) {
  using T = Tile<Log, Linear>;
  const int t = T::lane(), column = T::column();
  CUZK_NO_UNROLL
  for (int phase = 2; phase >= 0; --phase) {
    const int s = phase == 0 ? T::kStep0 : phase == 1 ? T::kStep1 : 1;
    const int first = (t / s) * 8 * s + t % s;
    if (phase < 2) {
      __syncthreads();
      CUZK_UNROLL
      for (int e = 0; e < 8; ++e) x[e] = load_shared<T>(buffer, first + e * s, column);
    }
    if (phase < 2 || Outer == OuterTwist::kTable) {
      const Factors f = phase < 2 ? inner_factors<T>(p.inner, phase, t) : outer_factors(p, t, column_in_row);
      if (phase == 2) x[0] = mul_by(x[0], f.load(0));
      CUZK_UNROLL
      for (int e = 1; e < 8; ++e) x[e] = mul_by(x[e], f.load(e));
    } else if (Outer == OuterTwist::kComposed) {
      composed_twist<Log>(x, p.twist, t, column_in_row);
    }
    if (T::kLastRadix == 8 || phase < 2) {
      dft_registers<8, false>(x, kDitRoots);
    } else {
      dft_registers<T::kLastRadix, false>(x, kDitRoots);
    }
    if (phase > 0) {
      CUZK_UNROLL
      for (int e = 0; e < 8; ++e) store_shared<T>(buffer, first + e * s, column, x[e]);
    }
  }
}

/// Index of this thread's column in the vector (its position 0), and the column's number in its row.
template <class T>
CUZK_DEVICE std::size_t strided_first(const Pass& p, std::uint32_t& column_in_row) {
  const std::uint32_t blocks_a_row = p.stride / T::kColumns;
  const std::uint32_t outer = blockIdx.x / blocks_a_row;
  column_in_row = (blockIdx.x % blocks_a_row) * T::kColumns + static_cast<std::uint32_t>(T::column());
  return static_cast<std::size_t>(outer) * T::kPoints * p.stride + column_in_row;
}
template <class T>
CUZK_DEVICE std::size_t linear_first() {
  return (static_cast<std::size_t>(blockIdx.x) * T::kColumns + static_cast<std::size_t>(T::column())) * T::kPoints;
}
/// Offset of a position in a column of the given stride.
CUZK_DEVICE std::size_t offset(int position, std::uint32_t stride) { return static_cast<std::size_t>(position) * stride; }

// ---- Kernels. Grid: n / (8·kNttThreads) blocks. Bytes an element: 32 read, 32 written, 64 of twist table.

/// What a vector of mostly small elements may come in: one signed byte each, kWideCode where the element is in the vector
/// itself. The evaluation then writes 1 byte a row instead of 33, and the first pass reads 1 instead of 32.
inline constexpr int kWideCode = -128;

template <int Log, OuterTwist Outer, bool FromCodes>
__global__ void __launch_bounds__(kNttThreads, kNttBlocks) dif_strided(Pass p, const std::int8_t* codes) {
  using T = Tile<Log, false>;
  uint4* buffer = base::cuda::dynamic_shared_words();
  std::uint32_t column;
  const std::size_t first = strided_first<T>(p, column);
  Fr* column_data = p.x + first;
  const int t = T::lane();
  Fr x[8];
  if constexpr (FromCodes) {
    int code[8];
    CUZK_UNROLL
    for (int e = 0; e < 8; ++e) code[e] = __ldg(codes + first + offset(e * T::kStep0 + t, p.stride));
    CUZK_UNROLL
    for (int e = 0; e < 8; ++e) {
      x[e] = curve::device::fr_from_small(code[e]);
      if (code[e] == kWideCode) x[e] = load_streaming(column_data + offset(e * T::kStep0 + t, p.stride));
    }
  } else {
    CUZK_UNROLL
    for (int e = 0; e < 8; ++e) x[e] = load_streaming(column_data + offset(e * T::kStep0 + t, p.stride));
  }
  dif_phases<Log, false, Outer>(x, buffer, p, column);
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_streaming(column_data + offset(8 * t + e, p.stride), x[e]);
}

template <int Log, OuterTwist Outer>
__global__ void __launch_bounds__(kNttThreads, kNttBlocks) dit_strided(Pass p) {
  using T = Tile<Log, false>;
  uint4* buffer = base::cuda::dynamic_shared_words();
  std::uint32_t column;
  Fr* column_data = p.x + strided_first<T>(p, column);
  const int t = T::lane();
  Fr x[8];
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) x[e] = load_streaming(column_data + offset(8 * t + e, p.stride));
  dit_phases<Log, false, Outer>(x, buffer, p, column);
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_streaming(column_data + offset(e * T::kStep0 + t, p.stride), x[e]);
}

// Contiguous passes move data at the positions of phase 0, where neighbouring threads are neighbouring elements; one more
// exchange stands between them and the positions of phase 2.

template <int Log>
__global__ void __launch_bounds__(kNttThreads, kNttBlocks) dif_linear(Pass p) {
  using T = Tile<Log, true>;
  uint4* buffer = base::cuda::dynamic_shared_words();
  const int t = T::lane(), column = T::column();
  Fr* data = p.x + linear_first<T>();
  Fr x[8];
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) x[e] = load_streaming(data + e * T::kStep0 + t);
  dif_phases<Log, true, OuterTwist::kNone>(x, buffer, p, 0);
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_shared<T>(buffer, 8 * t + e, column, x[e]);
  __syncthreads();
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_streaming(data + e * T::kStep0 + t, load_shared<T>(buffer, e * T::kStep0 + t, column));
}

template <int Log>
__global__ void __launch_bounds__(kNttThreads, kNttBlocks) dit_linear(Pass p) {
  using T = Tile<Log, true>;
  uint4* buffer = base::cuda::dynamic_shared_words();
  const int t = T::lane(), column = T::column();
  Fr* data = p.x + linear_first<T>();
  Fr x[8];
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_shared<T>(buffer, e * T::kStep0 + t, column, load_streaming(data + e * T::kStep0 + t));
  __syncthreads();
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) x[e] = load_shared<T>(buffer, 8 * t + e, column);
  dit_phases<Log, true, OuterTwist::kNone>(x, buffer, p, 0);
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_streaming(data + e * T::kStep0 + t, x[e]);
}

/// Last pass of dif, coefficient k times k / 2^32, first pass of dit, on the same contiguous blocks. Position q of the vector
/// holds coefficient reverse(q).
template <int Log>
__global__ void __launch_bounds__(kNttThreads, kNttBlocks) derivative_middle(Pass p, const uint4* dit_inner, int log_n) {
  using T = Tile<Log, true>;
  uint4* buffer = base::cuda::dynamic_shared_words();
  const int t = T::lane();
  const std::size_t first = linear_first<T>();
  Fr* data = p.x + first;
  Fr x[8];
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) x[e] = load_streaming(data + e * T::kStep0 + t);
  dif_phases<Log, true, OuterTwist::kNone>(x, buffer, p, 0);
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) {
    const std::uint32_t position = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(8 * t + e);
    x[e] = mul_small(x[e], reverse_bits(position, log_n));
  }
  p.inner = dit_inner;
  dit_phases<Log, true, OuterTwist::kNone>(x, buffer, p, 0);
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_streaming(data + e * T::kStep0 + t, x[e]);
}

/// A whole transform of at most 2^kSmallLog points by one block in shared memory, radix 2.
inline constexpr int kSmallLog = 11;
inline constexpr int kSmallThreads = 256;
enum class SmallTransform { kDif, kDit, kDerivative };

/// powers[j] = w^j for j < n/2: of ω^-1 in `dif`, of ω in `dit`.
static __global__ void __launch_bounds__(kSmallThreads)
    small_transform(Fr* x, int log_n, SmallTransform kind, const FrFactor* dif, const FrFactor* dit) {
  Fr* y = reinterpret_cast<Fr*>(base::cuda::dynamic_shared_words());
  const std::uint32_t n = 1u << log_n, half = n / 2;
  for (std::uint32_t i = threadIdx.x; i < n; i += kSmallThreads) y[i] = x[i];
  __syncthreads();
  if (kind != SmallTransform::kDit) {
    for (int level = log_n - 1; level >= 0; --level) {  // distance 2^level
      for (std::uint32_t k = threadIdx.x; k < half; k += kSmallThreads) {
        const std::uint32_t j = k & ((1u << level) - 1), i = ((k >> level) << (level + 1)) | j;
        Fr& low = y[i];
        Fr& high = y[i + (1u << level)];
        butterfly(low, high);
        high = mul_by(high, dif[j << (log_n - 1 - level)]);
      }
      __syncthreads();
    }
  }
  if (kind == SmallTransform::kDerivative) {
    for (std::uint32_t i = threadIdx.x; i < n; i += kSmallThreads) {
      y[i] = mul_small(y[i], log_n == 0 ? 0 : reverse_bits(i, log_n));
    }
    __syncthreads();
  }
  if (kind != SmallTransform::kDif) {
    for (int level = 0; level < log_n; ++level) {
      for (std::uint32_t k = threadIdx.x; k < half; k += kSmallThreads) {
        const std::uint32_t j = k & ((1u << level) - 1), i = ((k >> level) << (level + 1)) | j;
        Fr& low = y[i];
        Fr& high = y[i + (1u << level)];
        high = mul_by(high, dit[j << (log_n - 1 - level)]);
        butterfly(low, high);
      }
      __syncthreads();
    }
  }
  for (std::uint32_t i = threadIdx.x; i < n; i += kSmallThreads) x[i] = y[i];
}

/// Small elements from codes where the first pass cannot take them itself. A thread an element.
static __global__ void __launch_bounds__(256) expand_codes(Fr* x, const std::int8_t* codes, std::uint32_t n) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= n) return;
  const int code = __ldg(codes + i);
  if (code != kWideCode) store_streaming(x + i, curve::device::fr_from_small(code));
}

/// Element k (at position reverse(k) if BitReversed) times low[k mod 2^low_bits]·high[k >> low_bits]; with Canonical the
/// result is canonical. A thread an element; 2 products.
template <bool BitReversed>
__global__ void __launch_bounds__(256) scale_by_powers(Fr* x, int log_n, const FrFactor* low, const FrFactor* high,
                                                       int low_bits) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= 1u << log_n) return;
  const std::uint32_t k = BitReversed && log_n > 0 ? reverse_bits(i, log_n) : i;
  const Fr y = mul_by(mul_by(load_streaming(x + i), low[k & ((1u << low_bits) - 1)]), high[k >> low_bits]);
  store_streaming(x + i, curve::device::canonical(y));
}

// ---- Tables, made on the device. A thread an entry.

/// out[i] = scale·root^(i·step), as a factor; scale and root canonical and plain.
static __global__ void __launch_bounds__(128) fill_powers(FrFactor* out, std::uint32_t count, Fr root, std::uint32_t step,
                                                          Fr scale) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= count) return;
  const Fr power = pow_plain(root, static_cast<std::uint64_t>(i) * step);
  out[i] = curve::device::make_factor(mul_plain(scale, power));
}
/// Planes of the inner factors of a 2^log_points-point column; root of that order.
static __global__ void __launch_bounds__(128) fill_inner(uint4* planes, int log_points, Fr root) {
  const std::uint32_t points = 1u << log_points, first_twist = points, count = points + points / 8;
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= count) return;
  const bool second = i >= first_twist;
  const std::uint32_t s = second ? points / 64 : points / 8, within = second ? i - first_twist : i;
  const std::uint32_t e = within / s, g = within % s;
  // base = root^(points / 8s), of order 8s; the factor is base^(g·reverse(e)).
  const std::uint64_t exponent = static_cast<std::uint64_t>(points / (8 * s)) * g *
                                 static_cast<std::uint64_t>(reverse_in_radix(static_cast<int>(e), 8));
  const FrFactor f = curve::device::make_factor(pow_plain(root, exponent));
  CUZK_UNROLL
  for (int j = 0; j < 2; ++j) {
    planes[static_cast<std::uint32_t>(j) * count + i] = get_half(f.w, j);
    planes[static_cast<std::uint32_t>(2 + j) * count + i] = get_half(f.companion, j);
  }
}
/// Entry [position][column] of a full twist table is w^(column·reverse(position)), from two short tables of powers.
static __global__ void __launch_bounds__(128) fill_twist(Fr* w, Fr* companion, int log_points, std::uint32_t stride,
                                                         const FrFactor* low, const FrFactor* high, int low_bits) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<std::uint64_t>(stride) << log_points) return;
  const std::uint32_t column = static_cast<std::uint32_t>(i % stride), position = static_cast<std::uint32_t>(i / stride);
  const std::uint32_t exponent = column * reverse_bits(position, log_points);
  const Fr power =
      curve::device::canonical(mul_by(low[exponent & ((1u << low_bits) - 1)].w, high[exponent >> low_bits]));
  const FrFactor f = curve::device::make_factor(power);
  w[i] = f.w;
  companion[i] = f.companion;
}

}  // namespace cuzk::groth16::cuda
