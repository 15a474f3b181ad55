#pragma once

#include "gadgets/insertion.hpp"
#include "gadgets/poseidon.hpp"
#include "gadgets/sha256.hpp"
#include "gadgets/tree_hash.hpp"

#include <functional>
#include <span>
#include <vector>

/// Inclusion proofs (PoR) in a circuit. [rust-fil-proofs storage-proofs-core/src/gadgets/por.rs]
namespace cuzk::gadgets {

template <class CS>
AllocatedNum<CS> hash_children(CS& cs, TreeHash tree_hash,
                               std::span<const AllocatedNum<CS>> children) {
  if (tree_hash == TreeHash::kSha256) return sha256_node(cs, children[0], children[1]);
  return poseidon<CS>(cs, hash::merkle_domain(static_cast<unsigned>(children.size())), children);
}

/// One level up: `current` at the position that the bits are among its siblings, hashed.
template <class CS>
AllocatedNum<CS> ascend(CS& cs, TreeHash tree_hash, const AllocatedNum<CS>& current,
                        std::span<const Boolean<CS>> position,
                        std::span<const AllocatedNum<CS>> siblings) {
  const auto children = insert<CS>(cs, current, position, siblings);
  return hash_children<CS>(cs, tree_hash, children);
}

/// The tree's root from a leaf, when positions and siblings are variables already: `position_bits`
/// are the leaf's index, lowest first, `path` the siblings level by level. Enforces (computed
/// root)·1 = root.
template <class CS>
void enforce_inclusion_at(CS& cs, TreeHash tree_hash,
                          std::span<const AllocatedBit<CS>> position_bits,
                          const AllocatedNum<CS>& leaf,
                          std::span<const std::vector<AllocatedNum<CS>>> path,
                          const AllocatedNum<CS>& root) {
  AllocatedNum<CS> current = leaf;
  for (std::size_t level = 0; level < path.size(); ++level) {
    const auto scope = cs.scope("merkle proof (height={})", level);
    std::size_t bits = 0;
    while ((std::size_t{1} << bits) < path[level].size() + 1) ++bits;
    const std::vector<Boolean<CS>> position(
        position_bits.begin(), position_bits.begin() + static_cast<std::ptrdiff_t>(bits));
    position_bits = position_bits.subspan(bits);
    current = ascend<CS>(cs, tree_hash, current, position, path[level]);
  }
  enforce_equal(cs, "calculated root == provided root", current, root);
}

}  // namespace cuzk::gadgets
