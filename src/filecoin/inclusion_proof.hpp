#pragma once

#include "curve/fr.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::filecoin {

/// A Merkle proof (PoR) of one leaf, for a tree whose TreeShape is known from the sector size. The
/// elements of the path are flat: level 0's siblings, then level 1's, ...; a level has arity - 1 of
/// them, in the order of the children without the path's own, which stands at `positions[level]`.
struct InclusionProof {
  curve::Fr leaf;
  curve::Fr root;
  std::vector<curve::Fr> siblings;      ///< shape.siblings() elements
  std::vector<std::uint8_t> positions;  ///< shape.levels() elements, each below the level's arity

  /// The siblings of one level.
  std::span<const curve::Fr> siblings_at(const TreeShape& shape, unsigned level) const {
    std::size_t first = 0;
    for (unsigned i = 0; i < level; ++i) first += shape.arity(i) - 1;
    return {siblings.data() + first, shape.arity(level) - 1};
  }
  /// Index of the leaf among all leaves: the positions as digits, level 0 least significant.
  std::uint64_t leaf_index(const TreeShape& shape) const;

  friend bool operator==(const InclusionProof&, const InclusionProof&) = default;
};

}  // namespace cuzk::filecoin
