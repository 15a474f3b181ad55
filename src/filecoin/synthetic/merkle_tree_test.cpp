#include "filecoin/synthetic/merkle_tree.hpp"

#include "base/error.hpp"
#include "filecoin/synthetic/folded_tree.hpp"
#include "filecoin/synthetic/sparse_tree.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace cuzk::filecoin::synthetic {
namespace {

using curve::Fr;

constexpr TreeShape kBinary{2, 0, 0, 9};
constexpr TreeShape kSingle{8, 0, 0, 3};
constexpr TreeShape kSub{8, 2, 0, 2};
constexpr TreeShape kTop{8, 8, 2, 1};

std::uint64_t num_leaves(const TreeShape& shape) {
  return std::uint64_t{1} << log2_leaves_below(shape, shape.levels());
}
NodeHash hash_of(const TreeShape& shape) {
  return shape.base == 2 ? NodeHash::kSha256 : NodeHash::kPoseidon;
}

/// The root that a proof leads to: the definition, written without the tree.
Fr climb(const TreeShape& shape, NodeHash hash, const InclusionProof& proof) {
  Fr node = proof.leaf;
  for (unsigned level = 0; level < shape.levels(); ++level) {
    const auto siblings = proof.siblings_at(shape, level);
    std::vector<Fr> children;
    for (std::size_t child = 0, next = 0; child < shape.arity(level); ++child) {
      children.push_back(child == proof.positions[level] ? node : siblings[next++]);
    }
    node = hash_node(hash, children);
  }
  return node;
}

void expect_valid(const MerkleTree& tree, std::uint64_t leaf) {
  const InclusionProof proof = tree.prove(leaf);
  EXPECT_EQ(proof.siblings.size(), tree.shape().siblings());
  EXPECT_EQ(proof.leaf_index(tree.shape()), leaf);
  EXPECT_EQ(proof.leaf, tree.node(0, leaf));
  EXPECT_EQ(proof.root, tree.root());
  EXPECT_EQ(climb(tree.shape(), tree.node_hash(), proof), tree.root());
}

class MerkleTrees : public ::testing::TestWithParam<TreeShape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, MerkleTrees, ::testing::Values(kBinary, kSingle, kSub, kTop),
                         [](const auto& instance) {
                           std::string name = instance.param.to_string();
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST_P(MerkleTrees, SparsePathsEndInOneRootAndUnopenedNodesAreTheFillers) {
  const RandomSource source(1);
  const std::uint64_t last = num_leaves(GetParam()) - 1;
  const std::vector<std::uint64_t> opened = {0, 1, 5, 8, last / 2, last};
  std::vector<Leaf> leaves;
  for (const std::uint64_t index : opened) leaves.push_back({index, Fr::from_u64(100 + index)});
  std::swap(leaves.front(), leaves.back());
  const SparseTree tree(GetParam(), hash_of(GetParam()), leaves, source);
  for (const std::uint64_t index : opened) {
    EXPECT_EQ(tree.node(0, index), Fr::from_u64(100 + index));
    expect_valid(tree, index);
  }
  EXPECT_EQ(tree.node(0, 2),
            tree.node_hash() == NodeHash::kSha256 ? source.truncated(0, 2) : source.field(0, 2));
  EXPECT_THROW(tree.prove(2), base::InvalidInput);
  EXPECT_THROW(tree.prove(last + 1), base::InvalidInput);
}

TEST_P(MerkleTrees, SparseWithEveryLeafIsTheFullTree) {
  const TreeShape& shape = GetParam();
  std::vector<Leaf> leaves;
  std::vector<Fr> level;
  for (std::uint64_t i = 0; i < num_leaves(shape); ++i) {
    leaves.push_back({i, RandomSource(2).field(i)});
    level.push_back(leaves.back().value);
  }
  const SparseTree tree(shape, hash_of(shape), leaves, RandomSource(3));
  for (unsigned i = 0; i < shape.levels(); ++i) {
    std::vector<Fr> parents;
    const std::size_t arity = shape.arity(i);
    for (std::size_t first = 0; first < level.size(); first += arity) {
      parents.push_back(hash_node(tree.node_hash(), {level.data() + first, arity}));
    }
    level = parents;
    for (std::size_t k = 0; k < level.size(); ++k) EXPECT_EQ(tree.node(i + 1, k), level[k]);
  }
  EXPECT_EQ(level, std::vector<Fr>{tree.root()});
}

TEST_P(MerkleTrees, FoldedIsTheFullTreeOfItsLeaves) {
  const TreeShape& shape = GetParam();
  const unsigned bits = log2_leaves_below(shape, shape.levels());
  const LeafKinds kinds(bits, RandomSource(4));
  for (const unsigned region_bits : {0u, 1u, 4u, bits}) {
    std::vector<Fr> values(std::size_t{LeafKinds::kCount} << region_bits);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = RandomSource(5).field(i);
    const FoldedTree folded(shape, hash_of(shape), kinds, region_bits, values);
    std::vector<Leaf> leaves;
    for (std::uint64_t i = 0; i < num_leaves(shape); ++i) {
      leaves.push_back({i, values[(i >> (bits - region_bits)) * LeafKinds::kCount + kinds.of(i)]});
    }
    const SparseTree full(shape, hash_of(shape), leaves, RandomSource(6));
    for (unsigned level = 0; level <= shape.levels(); ++level) {
      const std::uint64_t nodes = num_leaves(shape) >> log2_leaves_below(shape, level);
      for (std::uint64_t i = 0; i < nodes; ++i)
        ASSERT_EQ(folded.node(level, i), full.node(level, i)) << level << ' ' << i;
    }
    for (const std::uint64_t leaf :
         {std::uint64_t{0}, num_leaves(shape) / 3, num_leaves(shape) - 1}) {
      EXPECT_EQ(folded.prove(leaf), full.prove(leaf));
    }
    EXPECT_THROW(folded.prove(num_leaves(shape)), base::InvalidInput);
  }
}

TEST(LeafKinds, ChildrenOfANodeStartWithDifferentKinds) {
  for (const SectorSize size :
       {SectorSize::parse("32GiB"), SectorSize::parse("64GiB"), SectorSize::parse("1GiB")}) {
    const LeafKinds kinds(size.log2_nodes(), RandomSource(8));
    for (const TreeShape& shape : {tree_d_shape(size), tree_r_shape(size)}) {
      for (unsigned level = 0; level < shape.levels(); ++level) {
        std::map<unsigned, unsigned> seen;
        for (std::uint64_t child = 0; child < shape.arity(level); ++child) {
          ++seen[kinds.of(child << log2_leaves_below(shape, level))];
        }
        EXPECT_EQ(seen.size(), shape.arity(level)) << size.to_string() << " level " << level;
      }
    }
  }
}

TEST(FoldedTree, OpensAProductionTree) {
  const SectorSize size = SectorSize::parse("64GiB");
  const LeafKinds kinds(size.log2_nodes(), RandomSource(9));
  std::vector<Fr> values(LeafKinds::kCount << 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = RandomSource(10).field(i);
  const FoldedTree tree(tree_r_shape(size), NodeHash::kPoseidon, kinds, 3, values);
  for (const std::uint64_t leaf : {std::uint64_t{0}, std::uint64_t{0x12345678}, size.nodes() - 1}) {
    expect_valid(tree, leaf);
    EXPECT_EQ(tree.node(0, leaf), values[(leaf >> 28) * LeafKinds::kCount + kinds.of(leaf)]);
  }
}

TEST(SparseTree, RefusesNoLeafARepeatedLeafAndALeafBeyondTheTree) {
  const RandomSource source(1);
  EXPECT_THROW(SparseTree(kSub, NodeHash::kPoseidon, {}, source), base::InvalidInput);
  EXPECT_THROW(SparseTree(kSub, NodeHash::kPoseidon, {{3, Fr::one()}, {3, Fr::one()}}, source),
               base::InvalidInput);
  EXPECT_THROW(SparseTree(kSub, NodeHash::kPoseidon, {{128, Fr::one()}}, source),
               base::InvalidInput);
}

TEST(FoldedTree, RefusesAWrongNumberOfLeavesKindsOrRegions) {
  const std::vector<Fr> one_region(LeafKinds::kCount);
  const LeafKinds kinds(7, RandomSource(1));
  EXPECT_THROW(FoldedTree(kSub, NodeHash::kPoseidon, kinds, 1, one_region), base::InvalidInput);
  EXPECT_THROW(FoldedTree(kSub, NodeHash::kPoseidon, LeafKinds(8, RandomSource(1)), 0, one_region),
               base::InvalidInput);
  EXPECT_THROW(
      FoldedTree(kSub, NodeHash::kPoseidon, kinds, 8, std::vector<Fr>(LeafKinds::kCount << 8)),
      base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::synthetic
