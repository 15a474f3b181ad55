#pragma once

#include "curve/fr.hpp"
#include "r1cs/variable.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace cuzk::r1cs {

/// A column of a stored row: which variable, seen from the copy that the row is expanded for.
/// Columns compare in the order of the variables they mean, except that a port may lie anywhere
/// among the earlier aux variables.
class Column {
 public:
  enum class Kind : std::uint32_t {
    kInput,       ///< a public input from before the block, by its number
    kLocalInput,  ///< a public input of the copy, counted from the copy's first
    kAux,         ///< an aux variable from before the block, by its number
    kPort,        ///< the copy's port of this number
    kLocalAux,    ///< an aux variable of the copy, counted from the copy's first
  };
  static constexpr unsigned kKinds = 5;
  static constexpr std::uint32_t kMaxIndex = (std::uint32_t{1} << 29) - 1;

  constexpr Column(Kind kind, std::uint32_t index)
      : word_(static_cast<std::uint32_t>(kind) << 29 | index) {}
  static constexpr Column from_word(std::uint32_t word) { return Column(word); }

  constexpr Kind kind() const { return static_cast<Kind>(word_ >> 29); }
  constexpr std::uint32_t index() const { return word_ & kMaxIndex; }
  constexpr std::uint32_t word() const { return word_; }

 private:
  constexpr explicit Column(std::uint32_t word) : word_(word) {}
  std::uint32_t word_;
};

/// Sparse rows of one matrix, of one copy of a block.
struct Rows {
  std::span<const std::uint32_t>
      offsets;  ///< rows + 1; row i is the terms [offsets[i], offsets[i + 1])
  std::span<const std::uint32_t> columns;       ///< Column words
  std::span<const std::uint16_t> coefficients;  ///< indices into Shape::palette()
};

/// A run of constraints and of the variables allocated along with them: `copies` copies that follow
/// each other, all with the rows of the first, over their own variables. A block with one copy has
/// no local columns.
struct Block {
  std::uint32_t copies = 1;
  std::uint32_t first_input = 0, inputs = 0;  ///< of the first copy; inputs of each copy
  std::uint32_t first_aux = 0, aux = 0;
  std::uint32_t first_field = 0, fields = 0;  ///< aux variables that are field elements, likewise
  std::uint64_t first_constraint = 0;
  std::uint32_t constraints = 0;             ///< of each copy
  std::uint32_t ports = 0;                   ///< of each copy
  std::array<Rows, 3> matrices;              ///< A, B, C
  std::span<const std::uint64_t> bit_mask;   ///< bit j: aux variable j of a copy is a bit
  std::span<const std::uint32_t> port_keys;  ///< copies × ports variable keys

  /// Variable key of a column in copy `copy`.
  std::uint32_t key(Column column, std::uint32_t copy) const;
  /// base[kind] + index is the key of a column of that kind; not for ports.
  std::array<std::uint32_t, Column::kKinds> key_bases(std::uint32_t copy) const;
};

/// Which variables occur in a matrix: one bit each, in allocation order. A proving key holds points
/// only for these.
struct Densities {
  std::vector<std::uint64_t> a_aux, b_input, b_aux;
  std::uint64_t a_aux_count = 0, b_input_count = 0, b_aux_count = 0;
};

/// The R1CS of a circuit, compressed: rows of repeated parts stored once, coefficients from a
/// palette. Immutable; cheap to copy (copies share the storage). Does not hold the rows input_i · 0
/// = 0 that key generation and prover add.
class Shape {
 public:
  struct Counts {
    std::uint32_t inputs = 1;  ///< with ONE
    std::uint32_t aux = 0;
    std::uint32_t fields = 0;  ///< aux variables that are not bits
    std::uint64_t constraints = 0;
  };

  /// `storage` keeps alive what the spans of `blocks` point to.
  Shape(Counts counts, std::vector<Block> blocks, std::vector<curve::Fr> palette,
        std::shared_ptr<const void> storage);

  std::uint32_t num_inputs() const { return counts_.inputs; }
  std::uint32_t num_aux() const { return counts_.aux; }
  std::uint32_t num_fields() const { return counts_.fields; }
  std::uint64_t num_constraints() const { return counts_.constraints; }
  /// Constraints plus one consistency row for each input: the rows of the QAP, and the log2 of its
  /// domain.
  std::uint64_t num_rows() const { return counts_.constraints + counts_.inputs; }
  unsigned domain_log2() const;

  std::span<const Block> blocks() const { return blocks_; }
  /// Distinct coefficients; no zero.
  std::span<const curve::Fr> palette() const { return palette_; }

  Densities densities() const;
  /// Stored terms of the whole circuit (with all copies), for A, B, C.
  std::array<std::uint64_t, 3> nnz() const;
  /// Terms of the longest row of A, B, C.
  std::array<std::uint32_t, 3> longest_row() const;

 private:
  Counts counts_;
  std::vector<Block> blocks_;
  std::vector<curve::Fr> palette_;
  std::shared_ptr<const void> storage_;
};

}  // namespace cuzk::r1cs
