#include "filecoin/synthetic/folded_tree.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"

#include <array>
#include <utility>

namespace cuzk::filecoin::synthetic {

namespace {

constexpr std::size_t kMaxArity = 8;
/// Hashes that are worth a task of their own: about 0.1 ms of Poseidon.
constexpr std::size_t kGrain = 4;

}  // namespace

LeafKinds::LeafKinds(unsigned index_bits, const RandomSource& source) : weights_(index_bits) {
  for (unsigned bit = 0; bit < index_bits; ++bit) {
    const unsigned odd = source.bytes32(bit / 3)[0] | 1u;
    weights_[bit] = (odd << (bit % 3)) % kCount;
  }
}

unsigned LeafKinds::of(std::uint64_t index) const {
  unsigned kind = 0;
  for (std::size_t bit = 0; bit < weights_.size(); ++bit) {
    if ((index >> bit & 1) != 0) kind += weights_[bit];
  }
  return kind % kCount;
}

FoldedTree::FoldedTree(const TreeShape& shape, NodeHash node_hash, const LeafKinds& kinds,
                       unsigned region_bits, std::vector<curve::Fr> leaves)
    : MerkleTree(shape, node_hash), kinds_(kinds), region_shift_(kinds.index_bits() - region_bits) {
  base::require(log2_leaves_below(shape, shape.levels()) == kinds.index_bits(),
                "a tree of 2^{} leaves needs kinds of as many, not of 2^{}",
                log2_leaves_below(shape, shape.levels()), kinds.index_bits());
  base::require(region_bits <= kinds.index_bits(),
                "{} region bits exceed the {} bits of a leaf's index", region_bits,
                kinds.index_bits());
  base::require(leaves.size() == std::size_t{LeafKinds::kCount} << region_bits,
                "{} leaves are given, {} kinds in each of 2^{} regions need as many", leaves.size(),
                LeafKinds::kCount, region_bits);
  levels_.reserve(shape.levels() + 1);
  levels_.push_back(std::move(leaves));
  for (unsigned level = 0; level < shape.levels(); ++level) levels_.push_back(parents_of(level));
}

curve::Fr FoldedTree::node(unsigned level, std::uint64_t index) const {
  if (!is_folded(level)) return levels_[level][index];
  const std::uint64_t first_leaf = index << log2_leaves_below(shape(), level);
  return levels_[level][(first_leaf >> region_shift_) * LeafKinds::kCount + kinds_.of(first_leaf)];
}

std::vector<curve::Fr> FoldedTree::parents_of(unsigned level) const {
  const std::size_t arity = shape().arity(level);
  const unsigned child_bits = log2_leaves_below(shape(), level);
  const unsigned parent_bits = log2_leaves_below(shape(), level + 1);
  const bool folded = is_folded(level + 1);
  std::array<unsigned, kMaxArity> child_kinds{};  // relative to the parent's
  for (std::size_t child = 0; child < arity; ++child)
    child_kinds[child] = kinds_.of(child << child_bits);

  const std::vector<curve::Fr>& lower = levels_[level];
  std::vector<curve::Fr> parents(
      folded ? (std::size_t{LeafKinds::kCount} << (kinds_.index_bits() - region_shift_))
             : (std::size_t{1} << (kinds_.index_bits() - parent_bits)));
  base::parallel_ranges(parents.size(), kGrain, [&](std::size_t first, std::size_t last) {
    std::array<curve::Fr, kMaxArity> nodes;
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t kind = i % LeafKinds::kCount;
      for (std::size_t child = 0; child < arity; ++child) {
        nodes[child] = folded ? lower[i - kind + (kind + child_kinds[child]) % LeafKinds::kCount]
                              : node(level, i * arity + child);
      }
      parents[i] = hash_node(node_hash(), {nodes.data(), arity});
    }
  });
  return parents;
}

}  // namespace cuzk::filecoin::synthetic
