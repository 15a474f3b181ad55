#include "filecoin/synthetic/merkle_tree.hpp"

#include "base/error.hpp"
#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

#include <bit>

namespace cuzk::filecoin::synthetic {

curve::Fr hash_node(NodeHash hash, std::span<const curve::Fr> children) {
  if (hash == NodeHash::kSha256) return hash::sha256_node(children[0], children[1]);
  return hash::poseidon(hash::merkle_domain(static_cast<unsigned>(children.size())), children);
}

unsigned log2_leaves_below(const TreeShape& shape, unsigned level) {
  unsigned bits = 0;
  for (unsigned i = 0; i < level; ++i)
    bits += static_cast<unsigned>(std::countr_zero(shape.arity(i)));
  return bits;
}

InclusionProof MerkleTree::prove(std::uint64_t leaf) const {
  base::require(opens(leaf), "leaf {} is not among the opened leaves of the tree", leaf);
  InclusionProof proof;
  proof.leaf = node(0, leaf);
  proof.root = root();
  proof.siblings.reserve(shape_.siblings());
  proof.positions.reserve(shape_.levels());
  std::uint64_t index = leaf;
  for (unsigned level = 0; level < shape_.levels(); ++level) {
    const std::uint64_t arity = shape_.arity(level);
    const std::uint64_t position = index % arity;
    index /= arity;
    for (std::uint64_t child = 0; child < arity; ++child) {
      if (child != position) proof.siblings.push_back(node(level, index * arity + child));
    }
    proof.positions.push_back(static_cast<std::uint8_t>(position));
  }
  return proof;
}

}  // namespace cuzk::filecoin::synthetic
