#pragma once

#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::r1cs {

/// Which field elements of a witness follow from the others by the circuit's constraints, and how.
/// What Poseidon allocates does, all of it: of a WindowPoSt's 4 GB, 53 MB remain, the *given*
/// fields.
///
/// A field is implied if the first constraint that mentions it has it in C alone, with coefficient
/// ±1, and mentions nothing else that is not known by then. Known are bits and given fields. Only
/// fields of repeated blocks (two copies or more) are looked for, and only in constraints over the
/// copy's own aux variables and ONE; all others are given. (A field that equals a public input is
/// given, so that the input can be made from it.)
class ImpliedFields {
 public:
  /// A·w · B·w - C·w = 0 in constraint `row` of a copy, solved for the copy's field `field`.
  struct Step {
    std::uint32_t row;
    std::uint32_t field;
    bool negative;  ///< its coefficient is -1
  };

  /// Of the shape's block of the same number.
  struct Block {
    std::uint32_t first_given = 0;       ///< of the first copy, among all given fields
    std::uint32_t given = 0;             ///< of each copy
    std::vector<std::uint64_t> implied;  ///< bit i: field i of a copy is implied; empty: none is
    std::vector<Step> steps;             ///< chain after chain, each in the order of its rows
    /// Chain c is the steps chains[c] to chains[c + 1]: it uses what no other chain computes.
    std::vector<std::uint32_t> chains;

    /// How many of a copy's `count` fields from number `first` on are implied.
    std::size_t count_implied(std::size_t first, std::size_t count) const;
    /// The given ones of a copy's `fields` fields, ascending.
    std::vector<std::uint32_t> given_fields(std::uint32_t fields) const;
  };

  /// Goes through the rows of repeated blocks once.
  explicit ImpliedFields(const Shape& shape);

  std::span<const Block> blocks() const { return blocks_; }
  std::uint32_t num_fields() const { return num_fields_; }
  std::uint32_t num_given() const { return num_given_; }

 private:
  std::vector<Block> blocks_;
  std::uint32_t num_fields_, num_given_ = 0;
};

/// Whether a witness has its given fields alone.
inline bool is_incomplete(const Shape& shape, const Witness& witness) {
  return witness.fields.size() != shape.num_fields();
}

/// Computes the implied fields of a witness that has the given ones alone; in parallel. Throws
/// InvalidInput if it is not one of the circuit.
Witness complete(const Shape& shape, const ImpliedFields& implied, const Witness& given);

/// The same without its implied fields. Throws InvalidInput if `whole` is not one of the circuit.
Witness leave_out_implied(const Shape& shape, const ImpliedFields& implied, const Witness& whole);

}  // namespace cuzk::r1cs
