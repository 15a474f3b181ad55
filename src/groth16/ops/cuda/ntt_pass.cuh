#pragma once

#include "groth16/ops/cuda/fr_memory.cuh"
#include "groth16/ops/cuda/ntt_registers.cuh"
#include "groth16/ops/cuda/quotient_rows.hpp"

/// The passes of the transforms in ntt.cuh.
///
/// A transform of n = N_0·N_1·...·N_k points runs as one pass over memory for each factor N_i = 2^6
/// .. 2^9. The index is (j_0 | j_1 | ... | j_k), most significant digit first. Pass i makes
/// independent N_i-point transforms along digit i, whose neighbours lie S_i = N_(i+1)·...·N_k
/// apart, and twists: multiplies by w_i^(column·frequency), where w_i is the root of order n_i =
/// N_i·S_i and the column is the index below the digit. The last pass is contiguous and has no
/// twist.
///
///   dif   natural order -> bit-reversed, passes 0 .. k, each followed by its twist
///   dit   bit-reversed -> natural, passes k .. 0, each preceded by its twist
///
/// Inside a pass a thread holds eight elements in registers and exchanges them through shared
/// memory between three phases (radix 8, 8, and 1 .. 8). A radix-8 kernel needs 4 products
/// (Winograd's form), an inner twist 7 for 8 points, the outer one 8 for 8.
namespace cuzk::groth16::cuda {

/// Threads a block and blocks an SM of every pass, found by timing 64x8, 128x4, 128x3, 256x2 and
/// 512x1 at 2^27 on H200 (gpu_check ntt): small blocks hide each other's loads, stores and
/// barriers.
inline constexpr int kNttThreads = 128;
inline constexpr int kNttBlocks = 4;

// ---- Geometry of a pass

/// N = 2^Log points a column, kNttThreads·8 elements a block, kColumns columns of them side by
/// side.
///   strided: thread = (lane in column | column), neighbouring threads are neighbouring columns
///   linear:  thread = (column | lane in column), neighbouring threads are neighbouring elements
/// In phase 0, 1, 2 lane t holds the positions (t / s)·8s + e·s + t % s, e = 0 .. 7, with s = N/8,
/// N/64, 1.
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
  /// Shared memory in two planes (low and high 16 bytes), one slot of padding a row of eight
  /// positions, so that eight neighbouring threads always meet eight different 16-byte banks.
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

/// The twist of a pass: a full table [N][S] of factors in two arrays, or, where w is null, two
/// short tables of which low[e mod 2^low_bits] and high[e >> low_bits] multiply to w^e (one product
/// more an element).
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
  const uint4* inner;    // four planes of 16 bytes (w low, w high, companion low, high) of
                         // Tile::kInner factors
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

/// Where the eight factors of a phase lie: four 16-byte pieces each, piece j of factor e at
/// piece[j] + e·step bytes.
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
  for (int j = 0; j < 4; ++j)
    f.piece[j] = reinterpret_cast<const char*>(inner + j * T::kInner + first + t % s);
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
/// The twist from two short tables, for positions 8t .. 8t + 7 of the column.
template <int Log>
CUZK_DEVICE void composed_twist(Fr* x, const Twist& twist, int t, std::uint32_t column) {
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) {
    const std::uint32_t exponent =
        column * reverse_bits(static_cast<std::uint32_t>(8 * t + e), Log);
    x[e] = mul_by(x[e], twist.low[exponent & ((1u << twist.low_bits) - 1)]);
    x[e] = mul_by(x[e], twist.high[exponent >> twist.low_bits]);
  }
}

enum class OuterTwist { kNone, kTable, kComposed };

/// Three phases from registers at the positions of phase 0 to registers at the positions of phase
/// 2, bit-reversed within the column. The loop is not unrolled: one radix-8 kernel and eight
/// products in the instruction cache instead of three times that (unrolled, instruction fetch
/// stalls and 2^27 takes 10 % longer).
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
      const Factors f =
          phase < 2 ? inner_factors<T>(p.inner, phase, t) : outer_factors(p, t, column_in_row);
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
/// The mirror image: registers at the positions of phase 2, bit-reversed, to registers at the
/// positions of phase 0, natural.
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
      const Factors f =
          phase < 2 ? inner_factors<T>(p.inner, phase, t) : outer_factors(p, t, column_in_row);
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

/// Index of this thread's column in the vector (its position 0), and the column's number in its
/// row.
template <class T>
CUZK_DEVICE std::size_t strided_first(const Pass& p, std::uint32_t& column_in_row) {
  const std::uint32_t blocks_a_row = p.stride / T::kColumns;
  const std::uint32_t outer = blockIdx.x / blocks_a_row;
  column_in_row =
      (blockIdx.x % blocks_a_row) * T::kColumns + static_cast<std::uint32_t>(T::column());
  return static_cast<std::size_t>(outer) * T::kPoints * p.stride + column_in_row;
}
template <class T>
CUZK_DEVICE std::size_t linear_first() {
  return (static_cast<std::size_t>(blockIdx.x) * T::kColumns +
          static_cast<std::size_t>(T::column())) *
         T::kPoints;
}
/// Offset of a position in a column of the given stride.
CUZK_DEVICE std::size_t offset(int position, std::uint32_t stride) {
  return static_cast<std::size_t>(position) * stride;
}

// ---- Kernels. Grid: n / (8·kNttThreads) blocks. Bytes an element: 32 read, 32 written, 64 of
// twist table.

template <int Log, OuterTwist Outer, bool FromCodes>
__global__ void __launch_bounds__(kNttThreads, kNttBlocks)
    dif_strided(Pass p, const std::int8_t* codes) {
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
    for (int e = 0; e < 8; ++e)
      code[e] = __ldg(codes + first + offset(e * T::kStep0 + t, p.stride));
    CUZK_UNROLL
    for (int e = 0; e < 8; ++e) {
      x[e] = curve::device::fr_from_small(code[e]);
      if (code[e] == kWideCode)
        x[e] = load_streaming(column_data + offset(e * T::kStep0 + t, p.stride));
    }
  } else {
    CUZK_UNROLL
    for (int e = 0; e < 8; ++e)
      x[e] = load_streaming(column_data + offset(e * T::kStep0 + t, p.stride));
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
  for (int e = 0; e < 8; ++e)
    store_streaming(column_data + offset(e * T::kStep0 + t, p.stride), x[e]);
}

// Contiguous passes move data at the positions of phase 0, where neighbouring threads are
// neighbouring elements; one more exchange stands between them and the positions of phase 2.

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
  for (int e = 0; e < 8; ++e)
    store_streaming(data + e * T::kStep0 + t, load_shared<T>(buffer, e * T::kStep0 + t, column));
}

template <int Log>
__global__ void __launch_bounds__(kNttThreads, kNttBlocks) dit_linear(Pass p) {
  using T = Tile<Log, true>;
  uint4* buffer = base::cuda::dynamic_shared_words();
  const int t = T::lane(), column = T::column();
  Fr* data = p.x + linear_first<T>();
  Fr x[8];
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e)
    store_shared<T>(buffer, e * T::kStep0 + t, column, load_streaming(data + e * T::kStep0 + t));
  __syncthreads();
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) x[e] = load_shared<T>(buffer, 8 * t + e, column);
  dit_phases<Log, true, OuterTwist::kNone>(x, buffer, p, 0);
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_streaming(data + e * T::kStep0 + t, x[e]);
}

/// Last pass of dif, coefficient k times k / 2^32, first pass of dit, on the same contiguous
/// blocks. Position q of the vector holds coefficient reverse(q).
template <int Log>
__global__ void __launch_bounds__(kNttThreads, kNttBlocks)
    derivative_middle(Pass p, const uint4* dit_inner, int log_n) {
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
    const std::uint32_t position =
        static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(8 * t + e);
    x[e] = mul_small(x[e], reverse_bits(position, log_n));
  }
  p.inner = dit_inner;
  dit_phases<Log, true, OuterTwist::kNone>(x, buffer, p, 0);
  CUZK_UNROLL
  for (int e = 0; e < 8; ++e) store_streaming(data + e * T::kStep0 + t, x[e]);
}

}  // namespace cuzk::groth16::cuda
