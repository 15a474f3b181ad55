#include "filecoin/synthetic/porep.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "filecoin/graph.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/challenges.hpp"
#include "filecoin/synthetic/columns.hpp"
#include "filecoin/synthetic/distinct.hpp"
#include "filecoin/synthetic/folded_tree.hpp"
#include "filecoin/synthetic/sparse_tree.hpp"
#include "hash/poseidon.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cuzk::filecoin::synthetic {

namespace {

using curve::Fr;

/// Up to 8 MiB every data node has its own value; above, kinds share them.
constexpr std::uint64_t kMaxFullDataNodes = 1 << 18;
/// 16 MiB: the largest sector that is sealed in memory.
constexpr std::uint64_t kMaxSealedNodes = 1 << 19;

std::unique_ptr<MerkleTree> make_tree_d(SectorSize size, const RandomSource& source) {
  const TreeShape shape = tree_d_shape(size);
  if (size.nodes() > kMaxFullDataNodes) {
    std::vector<Fr> values(LeafKinds::kCount);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = source.truncated(0, i);
    return std::make_unique<FoldedTree>(shape, NodeHash::kSha256,
                                        LeafKinds(size.log2_nodes(), source.child("kinds")), 0,
                                        std::move(values));
  }
  std::vector<Leaf> leaves(size.nodes());
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] = {i, source.truncated(0, i)};
  return std::make_unique<SparseTree>(shape, NodeHash::kSha256, std::move(leaves), source);
}

/// Over the columns' hashes.
SparseTree make_tree_c(SectorSize size, const Columns& columns, const RandomSource& fillers) {
  const hash::PoseidonDomain domain = hash::merkle_domain(columns.layers());
  std::vector<Leaf> leaves(columns.nodes().size());
  base::parallel_for(leaves.size(), [&](std::size_t i) {
    const std::uint64_t node = columns.nodes()[i];
    leaves[i] = {node, hash::poseidon(domain, columns.column(node))};
  });
  return SparseTree(tree_r_shape(size), NodeHash::kPoseidon, std::move(leaves), fillers);
}

/// Over the encoded nodes, last label + data, of `nodes` (ascending, distinct).
SparseTree make_tree_r_last(SectorSize size, const Columns& columns, const MerkleTree& tree_d,
                            std::span<const std::uint64_t> nodes, const RandomSource& fillers) {
  std::vector<Leaf> leaves(nodes.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i] = {nodes[i], columns.column(nodes[i]).back() + tree_d.node(0, nodes[i])};
  }
  return SparseTree(tree_r_shape(size), NodeHash::kPoseidon, std::move(leaves), fillers);
}

/// What the openings of one sector are taken from.
struct Sector {
  const StackedGraph& graph;
  const Columns& columns;
  const MerkleTree& tree_d;
  const MerkleTree& tree_c;
  const MerkleTree& tree_r_last;
};

porep::ColumnProof prove_column(const Sector& sector, std::uint64_t node) {
  const std::span<const Fr> labels = sector.columns.column(node);
  return {.node = node,
          .labels = {labels.begin(), labels.end()},
          .inclusion = sector.tree_c.prove(node)};
}

porep::VanillaProof prove_challenge(const Sector& sector, std::uint64_t challenge) {
  porep::VanillaProof proof;
  proof.challenge = challenge;
  proof.comm_d_inclusion = sector.tree_d.prove(challenge);
  proof.comm_r_last_inclusion = sector.tree_r_last.prove(challenge);
  proof.column = prove_column(sector, challenge);
  const auto drg_parents = sector.graph.drg_parents(challenge);
  const auto exp_parents = sector.graph.exp_parents(challenge);
  for (std::size_t i = 0; i < kDrgParents; ++i)
    proof.drg_parents[i] = prove_column(sector, drg_parents[i]);
  for (std::size_t i = 0; i < kExpParents; ++i)
    proof.exp_parents[i] = prove_column(sector, exp_parents[i]);
  return proof;
}

}  // namespace

RegisteredSealProof default_seal_proof(SectorSize size) {
  for (const SealProofInfo& known : all_seal_proofs()) {
    if (known.sector_size == size && known.api_version == ApiVersion::k1_1) return known.proof;
  }
  const bool has_top_tree = tree_r_shape(size).top > 0;
  return has_top_tree ? RegisteredSealProof::kStackedDrg64GiBV1_1
                      : RegisteredSealProof::kStackedDrg32GiBV1_1;
}

porep::SealCommitPhase1Output make_porep(const PorepOptions& options) {
  const SectorSize size = options.sector_size;
  const SealProofInfo& proof = info(options.registered_proof);
  const unsigned num_partitions = porep::partition_count(options.registered_proof, size);
  const bool sealed = proof.feature != PorepFeature::kInteractive;
  base::require(!sealed || size.nodes() <= kMaxSealedNodes,
                "{} of {}: its challenges depend on comm_r and so on every label, and sectors are "
                "sealed for that up to 16MiB only; choose an interactive proof",
                proof.name, size.to_string());
  const RandomSource source = RandomSource(options.seed).child("porep", size.bytes());

  porep::SealCommitPhase1Output out{.registered_proof = options.registered_proof,
                                    .sector_size = size,
                                    .comm_r = {},
                                    .comm_d = {},
                                    .replica_id = {},
                                    .seed = source.bytes32(0),
                                    .ticket = source.bytes32(1),
                                    .partitions = {},
                                    .sector_number = options.sector_number};
  const base::Bytes32 id = porep_id(options.registered_proof);
  const auto tree_d = make_tree_d(size, source.child("tree D"));
  out.comm_d = tree_d->root();
  out.replica_id =
      replica_id(prover_id(options.miner_id), options.sector_number, out.ticket, out.comm_d, id);

  std::vector<std::uint64_t> challenges;  // of all partitions
  const auto derive_challenges = [&] {
    for (unsigned k = 0; k < num_partitions; ++k) {
      const auto part =
          porep::challenges(proof.feature, size, out.replica_id, out.comm_r, out.seed, k);
      challenges.insert(challenges.end(), part.begin(), part.end());
    }
  };
  if (!sealed) derive_challenges();

  const StackedGraph graph(size, id, proof.api_version);
  const unsigned layers = porep_shape(size).layers;
  const Columns columns = sealed ? Columns::of_sector(graph, out.replica_id, layers)
                                 : Columns::of_openings(graph, out.replica_id, layers, challenges,
                                                        source.child("labels"));
  const SparseTree tree_c = make_tree_c(size, columns, source.child("tree C"));
  const SparseTree tree_r_last =
      make_tree_r_last(size, columns, *tree_d, sealed ? columns.nodes() : distinct(challenges),
                       source.child("tree R-last"));
  out.comm_r = comm_r(tree_c.root(), tree_r_last.root());
  if (sealed) derive_challenges();

  const Sector sector{graph, columns, *tree_d, tree_c, tree_r_last};
  const std::size_t per_partition = porep_shape(size).challenges_per_partition;
  out.partitions.assign(num_partitions, std::vector<porep::VanillaProof>(per_partition));
  base::parallel_for(challenges.size(), [&](std::size_t i) {
    out.partitions[i / per_partition][i % per_partition] = prove_challenge(sector, challenges[i]);
  });
  return out;
}

}  // namespace cuzk::filecoin::synthetic
