#pragma once

#include "curve/device/fr.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// The rows of a circuit as evaluate.cuh's kernels read them: built on the host from the shape,
/// once a circuit. Rows of a repeated block are stored once.
///
/// What the kernels see of a witness: its elements (inputs, then field elements) and its bits, bit
/// j = aux variable j, followed by a bit that is one. The variable ONE is that bit.
///
/// Three kinds of rows, by matrix:
///
///   short    at most kShortTerms terms, bits only, coefficients -4 .. 3. Nearly all rows of a
///            circuit of hashes: 98.6 % of a 32 GiB PoRep's. Rows in slices of 32, a warp each;
///            terms [term][row of the slice], padded to the slice's longest row.
///   element  others of at most kElementTerms terms. In slices of 32 likewise, but of rows of equal
///            length, wherever they stand in the block.
///   long     the rest: packed bits (up to 1,090 terms in a PoRep), Poseidon's linear layers. A
///   warp a row.
namespace cuzk::groth16::cuda {

inline constexpr std::uint32_t kShortTerms = 3;
inline constexpr std::uint32_t kElementTerms = 24;
inline constexpr std::uint32_t kSliceRows = 32;

/// What a term of an element row or a long row multiplies: the kind in bits 29 .. 31, an index
/// below. Bit 31 tells elements from bits. Indices of the kinds kCopy... are those of copy 0 and
/// move by the block's stride from copy to copy.
enum class RefKind : std::uint32_t {
  kBit = 0,
  kCopyBit = 1,
  kPort = 2,  ///< index into the copy's ports, whose entries are of kind kBit or kElement
  kElement = 4,
  kCopyInput = 5,
  kCopyField = 6,
};
inline constexpr std::uint32_t kRefElement = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kRefIndexMask = (std::uint32_t{1} << 29) - 1;

/// A term of a short row: bits 0 .. 27 the bit's index, for copy 0 if bit 28 is set (it then moves
/// by the block's stride), bits 29 .. 31 the coefficient, signed. 0 is no term.
inline constexpr std::uint32_t kShortMoves = std::uint32_t{1} << 28;
inline constexpr std::uint32_t kShortIndexMask = kShortMoves - 1;

/// Coefficients of element and long rows are indices into CircuitRows::palette, of which the first
/// two are 1 and -1.
inline constexpr std::uint16_t kPlusOne = 0, kMinusOne = 1;
/// Padding of an element slice.
inline constexpr std::uint16_t kNoTerm = 0xffff;

/// 32 rows of which those in row_mask are short.
struct alignas(16) ShortSlice {
  std::uint32_t first_row;   ///< in the block
  std::uint32_t first_term;  ///< term k of row l is short_terms[32·(first_term + k) + l]
  std::uint32_t row_mask;
  std::uint32_t terms;  ///< of the longest row
};
struct alignas(8) ElementSlice {
  std::uint32_t first_term;  ///< term k of row l is number 32·(first_term + k) + l
  std::uint32_t terms;
};
struct LongRow {
  std::uint32_t row, first_term, terms;
};
/// In ElementSlice rows: none.
inline constexpr std::uint32_t kNoRow = 0xffffffff;

struct IndexRange {
  std::uint32_t first = 0, count = 0;

  static IndexRange between(std::size_t first, std::size_t end) {
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
  }
};

/// One matrix: what its blocks need, block after block.
struct MatrixRows {
  std::vector<ShortSlice> short_slices;
  std::vector<std::uint32_t> short_terms;
  std::vector<ElementSlice> element_slices;
  std::vector<std::uint32_t> element_rows;  ///< 32 a slice
  std::vector<std::uint32_t> element_refs;
  std::vector<std::uint16_t> element_coefficients;
  std::vector<LongRow> long_rows;
  std::vector<std::uint32_t> long_refs;
  std::vector<std::uint16_t> long_coefficients;

  struct Block {
    IndexRange short_slices, element_slices, long_rows;
  };
  std::vector<Block> blocks;  ///< as in CircuitRows
};

struct CircuitRows {
  /// A block of the shape that has rows.
  struct Block {
    std::uint32_t copies, rows;          ///< rows of each copy
    std::uint32_t bits, inputs, fields;  ///< strides from copy to copy
    std::uint32_t ports;
    std::uint32_t first_row;
    std::size_t first_port;  ///< port p of copy c is port_refs[first_port + c·ports + p]
    IndexRange wide_rows;
  };
  std::vector<Block> blocks;
  std::vector<curve::device::FrFactor> palette;
  std::vector<std::uint32_t> port_refs;  ///< of kind kBit or kElement
  std::vector<std::uint32_t> wide_rows;  ///< by block, ascending: not short in A or not short in B
  std::array<MatrixRows, 3> matrices;    ///< A, B, C
  std::uint32_t num_inputs = 0, num_constraints = 0;

  /// With all copies and the consistency rows.
  std::size_t wide_row_count() const;
};

/// Index of the bit that is one.
constexpr std::uint32_t one_bit_index(std::uint32_t num_aux) { return (num_aux + 63) / 64 * 64; }

/// Lays out A, B and, if asked, C (which is empty otherwise). Throws InvalidInput for a circuit
/// with 2^32 rows, 2^28 - 64 variables or 65,533 coefficients or more.
CircuitRows lay_out_rows(const r1cs::Shape& shape, const VariableMap& variables, bool with_c);

}  // namespace cuzk::groth16::cuda
