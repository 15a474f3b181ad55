#include "filecoin/synthetic/sparse_tree.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <array>

namespace cuzk::filecoin::synthetic {

namespace {

constexpr std::size_t kMaxArity = 8;
/// Hashes that are worth a task of their own: about 0.1 ms of Poseidon.
constexpr std::size_t kGrain = 4;

}  // namespace

SparseTree::SparseTree(const TreeShape& shape, NodeHash node_hash, std::vector<Leaf> leaves,
                       const RandomSource& fillers)
    : MerkleTree(shape, node_hash), fillers_(fillers) {
  base::require(!leaves.empty(), "a sparse tree needs at least one opened leaf");
  std::sort(leaves.begin(), leaves.end(),
            [](const Leaf& a, const Leaf& b) { return a.index < b.index; });
  const std::uint64_t num_leaves = std::uint64_t{1} << log2_leaves_below(shape, shape.levels());
  base::require(leaves.back().index < num_leaves, "leaf {} is beyond the tree's {} leaves",
                leaves.back().index, num_leaves);
  Level level;
  level.indices.reserve(leaves.size());
  level.values.reserve(leaves.size());
  for (const Leaf& leaf : leaves) {
    base::require(level.indices.empty() || level.indices.back() != leaf.index,
                  "leaf {} is given twice", leaf.index);
    level.indices.push_back(leaf.index);
    level.values.push_back(leaf.value);
  }
  levels_.reserve(shape.levels() + 1);
  levels_.push_back(std::move(level));
  for (unsigned i = 0; i < shape.levels(); ++i) levels_.push_back(parents_of(i));
}

curve::Fr SparseTree::node(unsigned level, std::uint64_t index) const {
  const curve::Fr* computed = find(level, index);
  return computed != nullptr ? *computed : filler(level, index);
}

curve::Fr SparseTree::filler(unsigned level, std::uint64_t index) const {
  return node_hash() == NodeHash::kSha256 ? fillers_.truncated(level, index)
                                          : fillers_.field(level, index);
}

const curve::Fr* SparseTree::find(unsigned level, std::uint64_t index) const {
  const Level& nodes = levels_[level];
  const auto at = std::lower_bound(nodes.indices.begin(), nodes.indices.end(), index);
  if (at == nodes.indices.end() || *at != index) return nullptr;
  return &nodes.values[static_cast<std::size_t>(at - nodes.indices.begin())];
}

SparseTree::Level SparseTree::parents_of(unsigned level) const {
  const Level& children = levels_[level];
  const std::size_t arity = shape().arity(level);
  Level parents;
  std::vector<std::size_t> first_child;  // of each parent, in `children`
  for (std::size_t i = 0; i < children.indices.size(); ++i) {
    const std::uint64_t parent = children.indices[i] / arity;
    if (!parents.indices.empty() && parents.indices.back() == parent) continue;
    parents.indices.push_back(parent);
    first_child.push_back(i);
  }
  parents.values.resize(parents.indices.size());
  base::parallel_ranges(parents.indices.size(), kGrain, [&](std::size_t first, std::size_t last) {
    std::array<curve::Fr, kMaxArity> nodes;
    for (std::size_t i = first; i < last; ++i) {
      std::size_t next = first_child[i];
      for (std::size_t child = 0; child < arity; ++child) {
        const std::uint64_t index = parents.indices[i] * arity + child;
        const bool computed = next < children.indices.size() && children.indices[next] == index;
        nodes[child] = computed ? children.values[next++] : filler(level, index);
      }
      parents.values[i] = hash_node(node_hash(), {nodes.data(), arity});
    }
  });
  return parents;
}

}  // namespace cuzk::filecoin::synthetic
