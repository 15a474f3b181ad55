#pragma once

#include "filecoin/synthetic/merkle_tree.hpp"
#include "filecoin/synthetic/random_source.hpp"

#include <vector>

namespace cuzk::filecoin::synthetic {

/// Sorts the leaves of a sector into kCount kinds: kind(i) = Σ_b weight_b · bit_b(i) mod kCount,
/// with weight_b = m_⌊b/3⌋ · 2^(b mod 3) and m odd, from the source. Leaves whose indices agree
/// below bit j are, within their subtrees of 2^j leaves, of kinds that differ by one constant; so a
/// subtree's content follows from its height and the kind of its first leaf alone, in a tree of any
/// arity. As m is odd, the children of a node (2 or 8 of them) start with different kinds.
class LeafKinds {
 public:
  static constexpr unsigned kCount = 16;

  LeafKinds(unsigned index_bits, const RandomSource& source);

  unsigned index_bits() const { return static_cast<unsigned>(weights_.size()); }
  unsigned of(std::uint64_t index) const;

 private:
  std::vector<unsigned> weights_;
};

/// A tree whose every leaf is known and can be opened, although there may be 2^31 of them: a leaf's
/// value is a function of its kind and of its region, the region_bits highest bits of its index.
/// Subtrees then repeat, and a level within the regions costs 2^region_bits · kCount hashes,
/// however many nodes it has; a level above them costs one a node.
///
/// Unlike a SparseTree its root does not depend on what is opened. That is what a commitment needs
/// from which the challenges are derived: comm_d of a PoRep (through the replica id), comm_d_new
/// and comm_r_new of an update.
class FoldedTree final : public MerkleTree {
 public:
  /// `leaves[region · kCount + kind]`. Throws InvalidInput if there are not 2^region_bits · kCount
  /// of them, if `kinds` is made for another number of leaves, or if region_bits exceeds the bits
  /// of an index.
  FoldedTree(const TreeShape& shape, NodeHash node_hash, const LeafKinds& kinds,
             unsigned region_bits, std::vector<curve::Fr> leaves);

  curve::Fr node(unsigned level, std::uint64_t index) const override;
  bool opens(std::uint64_t leaf) const override { return leaf >> kinds_.index_bits() == 0; }

 private:
  /// Whether the level's subtrees lie within regions; then a node is found by region and kind, else
  /// by its index.
  bool is_folded(unsigned level) const {
    return log2_leaves_below(shape(), level) <= region_shift_;
  }
  std::vector<curve::Fr> parents_of(unsigned level) const;

  LeafKinds kinds_;
  unsigned region_shift_;  ///< bits of an index below the region's
  std::vector<std::vector<curve::Fr>> levels_;
};

}  // namespace cuzk::filecoin::synthetic
