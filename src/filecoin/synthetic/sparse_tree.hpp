#pragma once

#include "filecoin/synthetic/merkle_tree.hpp"
#include "filecoin/synthetic/random_source.hpp"

#include <vector>

namespace cuzk::filecoin::synthetic {

struct Leaf {
  std::uint64_t index;
  curve::Fr value;
};

/// A tree of which only the given leaves and the nodes above them are computed. Every other node is
/// a random value, `fillers.field(level, index)` or in tree D `fillers.truncated(level, index)`, as
/// if it were the hash of unknown children. All paths from the given leaves are valid and end in
/// one root. With every leaf given, this is an ordinary full tree. Memory: 40 bytes a computed
/// node. Levels are hashed one after the other, each in parallel.
class SparseTree final : public MerkleTree {
 public:
  /// `leaves` in any order. Throws InvalidInput if there is none, or if an index is repeated or
  /// beyond the tree.
  SparseTree(const TreeShape& shape, NodeHash node_hash, std::vector<Leaf> leaves,
             const RandomSource& fillers);

  curve::Fr node(unsigned level, std::uint64_t index) const override;
  bool opens(std::uint64_t leaf) const override { return find(0, leaf) != nullptr; }

 private:
  /// The computed nodes of one level, by ascending index.
  struct Level {
    std::vector<std::uint64_t> indices;
    std::vector<curve::Fr> values;
  };

  curve::Fr filler(unsigned level, std::uint64_t index) const;
  /// Null if the node is not computed.
  const curve::Fr* find(unsigned level, std::uint64_t index) const;
  Level parents_of(unsigned level) const;

  RandomSource fillers_;
  std::vector<Level> levels_;
};

}  // namespace cuzk::filecoin::synthetic
