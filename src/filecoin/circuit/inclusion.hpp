#pragma once

#include "filecoin/inclusion_proof.hpp"
#include "gadgets/inclusion.hpp"

namespace cuzk::filecoin::circuit {

using curve::Fr;
using gadgets::alloc_num;
using gadgets::AllocatedBit;
using gadgets::AllocatedNum;
using gadgets::Boolean;
using gadgets::TreeHash;
using r1cs::known;

/// A field of a vanilla proof as a variable: alloc(cs, [&] { return proof->leaf; }). The proof
/// pointers that circuits take are null where a system has no values; the callable is then never
/// called.

/// The root of a tree from a leaf, allocating the path; the leaf's index becomes a public input.
/// `proof` may be null in systems without values.
template <class CS>
AllocatedNum<CS> compute_root(CS& cs, TreeHash tree_hash, const TreeShape& shape,
                              const InclusionProof* proof, const AllocatedNum<CS>& leaf) {
  AllocatedNum<CS> current = leaf;
  std::vector<Boolean<CS>> index_bits;
  std::size_t first_sibling = 0;
  for (unsigned level = 0; level < shape.levels(); ++level) {
    const char* tree = level < shape.base_levels                     ? "base"
                       : level == shape.base_levels && shape.sub > 0 ? "sub"
                                                                     : "top";
    const auto tree_scope = cs.scope(tree);
    const auto scope = cs.scope("merkle tree hash {}", level < shape.base_levels ? level : 0);
    const unsigned arity = shape.arity(level);
    std::vector<Boolean<CS>> position;
    for (unsigned i = 0; (1u << i) < arity; ++i) {
      const auto bit_scope = cs.scope("index bit {}", i);
      position.push_back(
          gadgets::alloc_bit(cs, [&] { return (proof->positions[level] >> i & 1) != 0; }));
    }
    index_bits.insert(index_bits.end(), position.begin(), position.end());
    std::vector<AllocatedNum<CS>> siblings;
    for (unsigned i = 0; i + 1 < arity; ++i) {
      siblings.push_back(alloc_num(cs, [&] { return proof->siblings[first_sibling + i]; }));
    }
    first_sibling += arity - 1;
    current = gadgets::ascend<CS>(cs, tree_hash, current, position, siblings);
  }
  const auto scope = cs.scope("path");
  gadgets::pack_into_inputs<CS>(cs, index_bits);
  return current;
}

/// Proves that `leaf` is in the tree of `root`: (computed root)·1 = root.
template <class CS>
void enforce_inclusion(CS& cs, TreeHash tree_hash, const TreeShape& shape,
                       const InclusionProof* proof, const AllocatedNum<CS>& leaf,
                       const AllocatedNum<CS>& root) {
  const auto computed = compute_root(cs, tree_hash, shape, proof, leaf);
  gadgets::enforce_equal(cs, "enforce root is correct", computed, root);
}

/// The siblings of a path as variables, level by level.
template <class CS>
std::vector<std::vector<AllocatedNum<CS>>> alloc_path(CS& cs, const TreeShape& shape,
                                                      unsigned levels,
                                                      const InclusionProof* proof) {
  std::vector<std::vector<AllocatedNum<CS>>> path(levels);
  std::size_t sibling = 0;
  for (unsigned level = 0; level < levels; ++level) {
    for (unsigned i = 0; i + 1 < shape.arity(level); ++i, ++sibling) {
      path[level].push_back(alloc_num(cs, [&] { return proof->siblings[sibling]; }));
    }
  }
  return path;
}

}  // namespace cuzk::filecoin::circuit
