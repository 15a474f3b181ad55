#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/fr_mul.hpp"
#include "groth16/ops/cuda/circuit_rows.hpp"
#include "groth16/ops/cuda/fr_memory.cuh"
#include "groth16/ops/cuda/quotient_rows.hpp"

#include <cstdint>

/// The kernels behind evaluate.cuh: a kind of rows each.
namespace cuzk::groth16::cuda {

/// A witness on the device: inputs then field elements, canonical plain residues; the bits of all
/// aux variables and the bit that is one.
struct WitnessView {
  const curve::device::Fr* elements = nullptr;
  const std::uint32_t* bits = nullptr;
};

/// Where the rows of one matrix go: as elements (codes is null), or small rows as bytes and wide
/// ones as elements and kWideCode.
struct RowOutputs {
  curve::device::Fr* values = nullptr;
  std::int8_t* codes = nullptr;
};

namespace evaluate_detail {

using curve::device::Fr;
using curve::device::FrFactor;

inline constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
/// A warp of short_rows keeps its terms in registers for at most so many copies.
inline constexpr std::uint32_t kCopiesAPass = 32;

/// What a kernel knows of a block.
struct BlockView {
  std::uint32_t copies, rows, bits, inputs, fields, ports;
  std::uint32_t first_row;
  const std::uint32_t* port_refs;
};

CUZK_DEVICE std::uint32_t bit_at(const std::uint32_t* bits, std::uint32_t i) {
  return __ldg(bits + i / 32) >> (i % 32) & 1u;
}

/// 32 rows as elements, a lane's value each, coalesced: each store instruction writes 512
/// contiguous bytes (16 elements), lane l the half l & 1 of element l / 2. Only the rows in
/// row_mask are stored.
CUZK_DEVICE void store_small_rows(Fr* out, std::uint32_t row_mask, int value) {
  const unsigned lane = base::cuda::lane_index();
  CUZK_UNROLL
  for (unsigned part = 0; part < 2; ++part) {
    const unsigned element = part * 16 + lane / 2;
    const Fr x = curve::device::fr_from_small(
        __shfl_sync(base::cuda::kFullWarp, value, static_cast<int>(element)));
    const uint4 low = get_half(x, 0), high = get_half(x, 1);
    const uint4 half = (lane & 1u) != 0 ? high : low;
    if ((row_mask >> element & 1u) != 0)
      __stcs(reinterpret_cast<uint4*>(out + element) + (lane & 1u), half);
  }
}

/// Short rows. A warp a slice and up to copies_a_pass copies: it keeps the slice's terms in
/// registers, so the matrix is read once a pass. Grid: passes × ceil(slices / kWarps) blocks. 32
/// bytes written a row (one with Codes), a gather of 4 bytes a term; no products.
template <bool Codes>
static __global__ void __launch_bounds__(kThreads)
    short_rows(BlockView block, const ShortSlice* slices, std::uint32_t slice_count,
               const std::uint32_t* terms, std::uint32_t copies_a_pass, const std::uint32_t* bits,
               RowOutputs out) {
  const std::uint32_t blocks_a_pass = (slice_count + kWarps - 1) / kWarps;
  const std::uint32_t pass = blockIdx.x / blocks_a_pass;
  const std::uint32_t slice = blockIdx.x % blocks_a_pass * kWarps + threadIdx.x / 32;
  if (slice >= slice_count) return;
  const unsigned lane = base::cuda::lane_index();
  const ShortSlice s = slices[slice];
  std::uint32_t term[kShortTerms];
  CUZK_UNROLL
  for (std::uint32_t k = 0; k < kShortTerms; ++k) {
    term[k] = k < s.terms
                  ? __ldcs(terms + (static_cast<std::size_t>(s.first_term) + k) * kSliceRows + lane)
                  : 0u;
  }
  const std::uint32_t first = pass * copies_a_pass;
  const std::uint32_t last =
      first + copies_a_pass < block.copies ? first + copies_a_pass : block.copies;
  std::uint32_t shift = first * block.bits;
  std::size_t row = block.first_row + static_cast<std::size_t>(first) * block.rows + s.first_row;
#ifdef __CUDACC__
#pragma unroll 2  // two copies' gathers under way
#endif
  for (std::uint32_t copy = first; copy < last; ++copy, shift += block.bits, row += block.rows) {
    int value = 0;
    CUZK_UNROLL
    for (std::uint32_t k = 0; k < kShortTerms; ++k) {
      if (k >= s.terms) continue;
      const std::uint32_t moved = (term[k] & kShortMoves) != 0 ? shift : 0u;
      const int bit = static_cast<int>(bit_at(bits, (term[k] & kShortIndexMask) + moved));
      value += (static_cast<int>(term[k]) >> 29) * bit;
    }
    if constexpr (Codes) {
      if ((s.row_mask >> lane & 1u) != 0) out.codes[row + lane] = static_cast<std::int8_t>(value);
    } else {
      store_small_rows(out.values + row, s.row_mask, value);
    }
  }
}

/// `ref` for copy `copy`, of kind kBit or kElement.
CUZK_DEVICE std::uint32_t resolve(const BlockView& block, std::uint32_t ref, std::uint32_t copy) {
  const auto kind = static_cast<RefKind>(ref >> 29);
  const std::uint32_t index = ref & kRefIndexMask;
  if (kind == RefKind::kPort)
    return __ldg(block.port_refs + static_cast<std::size_t>(copy) * block.ports + index);
  const std::uint32_t stride = kind == RefKind::kCopyBit     ? block.bits
                               : kind == RefKind::kCopyInput ? block.inputs
                               : kind == RefKind::kCopyField ? block.fields
                                                             : 0u;
  return (ref & kRefElement) | (index + copy * stride);
}

struct TermSource {
  const std::uint32_t* refs;
  const std::uint16_t* coefficients;
  const FrFactor* palette;
  WitnessView witness;
};

/// The value of term number `at`, lazy. A product only where an element meets a coefficient other
/// than ±1.
CUZK_DEVICE Fr term_value(const BlockView& block, const TermSource& source, std::size_t at,
                          std::uint32_t copy) {
  const std::uint32_t coefficient = __ldg(source.coefficients + at);
  if (coefficient == kNoTerm) return Fr::zero();
  const std::uint32_t ref = resolve(block, __ldg(source.refs + at), copy);
  const std::uint32_t index = ref & kRefIndexMask;
  const FrFactor* factor = source.palette + coefficient;
  if ((ref & kRefElement) == 0) {
    return bit_at(source.witness.bits, index) != 0 ? load_readonly(&factor->w) : Fr::zero();
  }
  const Fr x = load_readonly(source.witness.elements + index);
  if (coefficient == kPlusOne) return x;
  if (coefficient == kMinusOne) return sub(Fr::zero(), x);
  return mul_by(x, load_readonly(factor));
}

CUZK_DEVICE void store_wide(const RowOutputs& out, std::size_t row, const Fr& value) {
  store_streaming(out.values + row, value);
  if (out.codes != nullptr) out.codes[row] = static_cast<std::int8_t>(kWideCode);
}

/// Element rows. A warp a slice and copy, copies of a slice next to each other. Up to kElementTerms
/// products a thread, most rows none.
static __global__ void __launch_bounds__(kThreads)
    element_rows(BlockView block, const ElementSlice* slices, std::uint32_t slice_count,
                 const std::uint32_t* rows, TermSource source, RowOutputs out) {
  const std::uint32_t item = blockIdx.x * kWarps + threadIdx.x / 32;
  const std::uint32_t slice = item / block.copies, copy = item % block.copies;
  if (slice >= slice_count) return;
  const unsigned lane = base::cuda::lane_index();
  const ElementSlice s = slices[slice];
  Fr sum = Fr::zero();
  CUZK_NO_UNROLL
  for (std::uint32_t k = 0; k < s.terms; ++k) {
    const std::size_t at = (static_cast<std::size_t>(s.first_term) + k) * kSliceRows + lane;
    sum = add(sum, term_value(block, source, at, copy));
  }
  const std::uint32_t row = rows[static_cast<std::size_t>(slice) * kSliceRows + lane];
  if (row == kNoRow) return;
  store_wide(out, block.first_row + static_cast<std::size_t>(copy) * block.rows + row,
             canonical(sum));
}

/// A sum of fewer than 2^31 elements, loose or better, each limb's column by itself.
struct ColumnSum {
  std::uint64_t columns[8] = {};

  CUZK_DEVICE void add(const Fr& x) {
    CUZK_UNROLL
    for (int i = 0; i < 8; ++i) columns[i] += x.limbs[i];
  }
  /// Adds up those of the warp's lanes, in all of them. Lanes first share the columns out, so that
  /// 17 exchanges do: after them lanes 4c .. 4c + 3 have parts of column c.
  CUZK_DEVICE void add_lanes() {
    const unsigned lane = base::cuda::lane_index();
    CUZK_UNROLL
    for (int half = 4; half > 0; half /= 2) {
      const bool upper = (lane & static_cast<unsigned>(4 * half)) != 0;
      CUZK_UNROLL
      for (int i = 0; i < half; ++i) {
        const std::uint64_t kept = upper ? columns[i + half] : columns[i],
                            given = upper ? columns[i] : columns[i + half];
        columns[i] = kept + __shfl_xor_sync(base::cuda::kFullWarp, given, 4 * half);
      }
    }
    std::uint64_t total = columns[0];
    total += __shfl_xor_sync(base::cuda::kFullWarp, total, 2);
    total += __shfl_xor_sync(base::cuda::kFullWarp, total, 1);
    CUZK_UNROLL
    for (int i = 0; i < 8; ++i) columns[i] = __shfl_sync(base::cuda::kFullWarp, total, 4 * i);
  }
  /// The sum, canonical.
  CUZK_DEVICE Fr value() const {
    Fr low;
    std::uint64_t carry = 0;
    CUZK_UNROLL
    for (int i = 0; i < 8; ++i) {
      carry += columns[i];
      low.limbs[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    curve::device::subtract_modulus_if_possible<true>(low);
    const Fr high = Fr::from_u32(static_cast<std::uint32_t>(carry));
    // 2^512·high / 2^256 is the weight of what was carried out.
    return canonical(curve::device::add(low, mul(Fr::montgomery_two(), high)));
  }
};

/// Long rows. A warp a row and copy, a lane every 32nd term, copies of a row next to each other so
/// that its terms come from L1.
static __global__ void __launch_bounds__(kThreads)
    long_rows(BlockView block, const LongRow* rows, std::uint32_t row_count, TermSource source,
              RowOutputs out) {
  const std::uint32_t item = blockIdx.x * kWarps + threadIdx.x / 32;
  const std::uint32_t number = item / block.copies, copy = item % block.copies;
  if (number >= row_count) return;
  const unsigned lane = base::cuda::lane_index();
  const LongRow r = rows[number];
  ColumnSum sum;
  CUZK_NO_UNROLL
  for (std::uint32_t k = lane; k < r.terms; k += 32)
    sum.add(term_value(block, source, static_cast<std::size_t>(r.first_term) + k, copy));
  sum.add_lanes();
  const Fr value = sum.value();
  if (lane != 0) return;
  store_wide(out, block.first_row + static_cast<std::size_t>(copy) * block.rows + r.row, value);
}

/// The wide rows of a block's copies once both matrices' codes are made: a row that is short in one
/// of them still lacks that value as an element. rows is null for the consistency rows, all of
/// which are wide. A thread a row and copy.
static __global__ void __launch_bounds__(kThreads)
    collect_wide_rows(BlockView block, const std::uint32_t* rows, std::uint32_t row_count,
                      RowOutputs a, RowOutputs b, WideRow* wide) {
  const std::uint32_t item = base::cuda::grid_thread();
  const std::uint32_t copy = item / row_count;
  if (copy >= block.copies) return;
  const std::uint32_t k = item % row_count;
  const std::uint32_t row = block.first_row + copy * block.rows + (rows != nullptr ? rows[k] : k);
  const auto complete = [row](const RowOutputs& m) {
    const int code = m.codes[row];
    if (code == kWideCode) return m.values[row];
    const Fr value = curve::device::fr_from_small(code);
    m.values[row] = value;
    m.codes[row] = static_cast<std::int8_t>(kWideCode);
    return value;
  };
  WideRow out{};
  out.a = complete(a);
  out.b = complete(b);
  out.row = row;
  wide[item] = out;
}

}  // namespace evaluate_detail

}  // namespace cuzk::groth16::cuda
