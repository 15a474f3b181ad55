#pragma once

#include "curve/fr.hpp"
#include "filecoin/inclusion_proof.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <span>

namespace cuzk::filecoin::synthetic {

/// What a tree's inner nodes are: Poseidon of the arity (trees C and R-last), or SHA-256 of two
/// nodes with the two top bits cleared (tree D).
enum class NodeHash { kPoseidon, kSha256 };

/// The parent of `children`, leftmost first. kSha256 takes two of them.
curve::Fr hash_node(NodeHash hash, std::span<const curve::Fr> children);

/// A Merkle tree of any size that answers what each of its nodes is, without holding all of them.
/// Level 0 are the leaves, level shape().levels() the root; a level's nodes are numbered from the
/// left. Threads may share const objects.
class MerkleTree {
 public:
  virtual ~MerkleTree() = default;

  const TreeShape& shape() const { return shape_; }
  NodeHash node_hash() const { return node_hash_; }

  /// `index` must be below the level's number of nodes.
  virtual curve::Fr node(unsigned level, std::uint64_t index) const = 0;
  /// Whether a path from this leaf leads to the root.
  virtual bool opens(std::uint64_t leaf) const = 0;

  curve::Fr root() const { return node(shape_.levels(), 0); }
  /// Throws InvalidInput if the tree does not open `leaf`.
  InclusionProof prove(std::uint64_t leaf) const;

 protected:
  MerkleTree(const TreeShape& shape, NodeHash node_hash) : shape_(shape), node_hash_(node_hash) {}

 private:
  TreeShape shape_;
  NodeHash node_hash_;
};

/// log2 of a level's number of leaves below one of its nodes: 0 for leaves, log2 of all leaves for
/// the root.
unsigned log2_leaves_below(const TreeShape& shape, unsigned level);

}  // namespace cuzk::filecoin::synthetic
