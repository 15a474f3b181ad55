#include "filecoin/update/vanilla_check.hpp"

#include "base/parallel.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/update/challenges.hpp"
#include "filecoin/update/randomness.hpp"
#include "filecoin/update/vanilla_codec.hpp"
#include "hash/sha256.hpp"

#include <algorithm>

namespace cuzk::filecoin::update {

using curve::Fr;

namespace {

/// What the checks of all partitions share.
struct Context {
  const Statement& statement;
  UpdateShape shape;
  TreeShape tree_d, tree_r;
  Fr phi;

  /// Levels above the leaves of tree D at which the apex leaves and the partition's own node stand.
  unsigned partition_level() const { return tree_d.levels() - shape.log2_partitions(); }
  unsigned apex_level() const { return partition_level() - shape.log2_apex_leaves(); }
};

/// The two roots of R-last that, with comm_c, hash to comm_r_old and comm_r_new.
struct Roots {
  Fr old_root;
  Fr new_root;
};

struct PartitionResult {
  std::vector<BadEntry> whole;
  std::vector<std::vector<BadEntry>> challenges;
};

/// The root among those that the challenges state which hashes to `commitment`; if there is none,
/// the first one, and an entry says so.
Fr find_root(Findings& findings, const VanillaProof& proof, const Fr& commitment,
             std::string_view commitment_name, InclusionProof ChallengeProof::*tree) {
  const Fr first = (proof.challenges.front().*tree).root;
  std::optional<Fr> tried;
  for (const ChallengeProof& challenge : proof.challenges) {
    const Fr root = (challenge.*tree).root;
    if (tried && *tried == root) continue;
    if (comm_r(proof.comm_c, root) == commitment) return root;
    tried = root;
  }
  findings.add(commitment_name, "no challenge states a root that hashes with comm_c to it");
  return first;
}

/// Also returns the partition's own node of tree D in `partition_node`, if the path reaches
/// comm_d_new.
std::vector<BadEntry> check_challenge(const Context& context, const VanillaProof& proof,
                                      const Roots& roots, std::uint64_t leaf, std::size_t k,
                                      std::size_t index, std::optional<Fr>& partition_node) {
  const Statement& statement = context.statement;
  const ChallengeProof& challenge = proof.challenges[index];
  Findings findings(k, index, std::nullopt);
  check_inclusion(findings, "proof_r_old", challenge.r_old,
                  {context.tree_r, TreeHash::kPoseidon, leaf, roots.old_root, "comm_r_last_old"});
  const std::vector<Fr> nodes = check_inclusion(
      findings, "proof_d_new", challenge.d_new,
      {context.tree_d, TreeHash::kSha256, leaf, statement.comm_d_new, "comm_d_new"});
  check_inclusion(findings, "proof_r_new", challenge.r_new,
                  {context.tree_r, TreeHash::kPoseidon, leaf, roots.new_root, "comm_r_last_new"});
  if (!nodes.empty() && nodes.back() == statement.comm_d_new) {
    partition_node = nodes[context.partition_level()];
    const std::size_t apex = (leaf >> context.apex_level()) & (context.shape.apex_leaves - 1);
    if (nodes[context.apex_level()] != proof.apex_leaves[apex]) {
      findings.add("proof_d_new", "the Merkle path does not go through apex_leafs[{}]", apex);
    }
  }
  const Fr rho_of_leaf = rho(context.phi, high_bits(leaf, context.tree_d.levels(), statement.h));
  if (challenge.r_old.leaf + challenge.d_new.leaf * rho_of_leaf != challenge.r_new.leaf) {
    findings.add("proof_r_new", "the leaf is not the encoding of the old replica and the new data");
  }
  return findings.take();
}

Fr apex_root(std::vector<Fr> row) {
  while (row.size() > 1) {
    for (std::size_t i = 0; i < row.size() / 2; ++i)
      row[i] = hash::sha256_node(row[2 * i], row[2 * i + 1]);
    row.resize(row.size() / 2);
  }
  return row.front();
}

PartitionResult check_partition(const Context& context, const VanillaProof& proof, std::size_t k) {
  const std::size_t count = context.shape.challenges_per_partition;
  PartitionResult result;
  Findings whole(k, std::nullopt, std::nullopt);
  if (proof.apex_leaves.size() != context.shape.apex_leaves || proof.challenges.size() != count) {
    whole.add("", "{} apex leaves and {} challenges, {} and {} expected", proof.apex_leaves.size(),
              proof.challenges.size(), context.shape.apex_leaves, count);
    result.whole = whole.take();
    return result;
  }
  const Statement& statement = context.statement;
  const Roots roots{
      find_root(whole, proof, statement.comm_r_old, "comm_r_old", &ChallengeProof::r_old),
      find_root(whole, proof, statement.comm_r_new, "comm_r_new", &ChallengeProof::r_new)};
  const auto leaves =
      challenges(statement.sector_size, statement.comm_r_new, static_cast<unsigned>(k));
  std::vector<std::optional<Fr>> partition_nodes(count);
  result.challenges.resize(count);
  base::parallel_for(count, [&](std::size_t i) {
    result.challenges[i] =
        check_challenge(context, proof, roots, leaves[i], k, i, partition_nodes[i]);
  });
  // Any path that reaches comm_d_new goes through the true node.
  const auto node = std::find_if(partition_nodes.begin(), partition_nodes.end(),
                                 [](const auto& n) { return n.has_value(); });
  if (node != partition_nodes.end() && apex_root(proof.apex_leaves) != **node) {
    whole.add("apex_leafs", "their root is not the partition's node of tree D");
  }
  result.whole = whole.take();
  return result;
}

PartitionResult check_blob(const Context& context, base::ByteView blob, std::size_t k) {
  VanillaProof proof;
  try {
    proof = decode_vanilla_proof(blob, context.statement.sector_size);
  } catch (const base::InvalidInput& error) {
    Findings findings(k, std::nullopt, std::nullopt);
    findings.add("", "{}", error.what());
    return {.whole = findings.take(), .challenges = {}};
  }
  return check_partition(context, proof, k);
}

/// Runs check(context, k) for each of `count` partitions, in parallel.
template <class Check>
std::vector<BadEntry> check_all(const Statement& statement, std::size_t count, Check&& check) {
  const Context context{statement, update_shape(statement.sector_size),
                        tree_d_shape(statement.sector_size), tree_r_shape(statement.sector_size),
                        phi(statement.comm_d_new, statement.comm_r_old)};
  h_select(context.shape, statement.h);
  if (count != context.shape.partitions) {
    Findings findings;
    findings.add("", "{} partition proofs, {} expected", count, context.shape.partitions);
    return findings.take();
  }
  std::vector<PartitionResult> results(count);
  base::parallel_for(count, [&](std::size_t k) { results[k] = check(context, k); });
  std::vector<std::vector<BadEntry>> parts;
  for (PartitionResult& result : results) {
    parts.push_back(std::move(result.whole));
    std::move(result.challenges.begin(), result.challenges.end(), std::back_inserter(parts));
  }
  return join(std::move(parts));
}

}  // namespace

std::vector<BadEntry> check_vanilla_proofs(const Statement& statement,
                                           std::span<const VanillaProof> proofs) {
  return check_all(statement, proofs.size(), [&](const Context& context, std::size_t k) {
    return check_partition(context, proofs[k], k);
  });
}

std::vector<BadEntry> check_vanilla_blobs(const Statement& statement,
                                          std::span<const base::Bytes> blobs) {
  return check_all(statement, blobs.size(), [&](const Context& context, std::size_t k) {
    return check_blob(context, blobs[k], k);
  });
}

Statement implied_statement(SectorSize size, std::span<const VanillaProof> proofs) {
  base::require(!proofs.empty() && !proofs.front().challenges.empty(),
                "no vanilla proof of an update");
  const VanillaProof& proof = proofs.front();
  const ChallengeProof& challenge = proof.challenges.front();
  return {.sector_size = size,
          .comm_r_old = comm_r(proof.comm_c, challenge.r_old.root),
          .comm_d_new = challenge.d_new.root,
          .comm_r_new = comm_r(proof.comm_c, challenge.r_new.root),
          .h = update_shape(size).h_default};
}

}  // namespace cuzk::filecoin::update
