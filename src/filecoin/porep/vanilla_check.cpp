#include "filecoin/porep/vanilla_check.hpp"

#include "base/parallel.hpp"
#include "filecoin/graph.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/public_inputs.hpp"
#include "hash/poseidon.hpp"

#include <algorithm>

namespace cuzk::filecoin::porep {

using curve::Fr;

namespace {

/// The two roots that comm_r commits to.
struct Roots {
  Fr comm_c;
  Fr comm_r_last;
};

/// What the checks of all challenges share.
struct Context {
  const SealCommitPhase1Output& output;
  PorepShape shape;
  TreeShape tree_d, tree_r;
  std::optional<Roots> roots;  ///< absent if no challenge states the right ones
};

std::optional<Roots> find_roots(const SealCommitPhase1Output& output) {
  std::optional<Roots> tried;
  for (const auto& partition : output.partitions) {
    for (const VanillaProof& proof : partition) {
      const Roots roots{proof.column.inclusion.root, proof.comm_r_last_inclusion.root};
      if (tried && tried->comm_c == roots.comm_c && tried->comm_r_last == roots.comm_r_last)
        continue;
      if (comm_r(roots.comm_c, roots.comm_r_last) == output.comm_r) return roots;
      tried = roots;
    }
  }
  return std::nullopt;
}

void check_column(Findings& findings, std::string_view where, const ColumnProof& column,
                  std::uint64_t node, const Context& context, const Fr& comm_c) {
  if (column.node != node)
    findings.add(where, "the column is that of node {}, node {} is to be opened", column.node,
                 node);
  const std::string inclusion = fmt::format("{}.inclusion_proof", where);
  check_inclusion(findings, inclusion, column.inclusion,
                  {context.tree_r, TreeHash::kPoseidon, node, comm_c, "comm_c"});
  const Fr hash = hash::poseidon(hash::merkle_domain(context.shape.layers), column.labels);
  if (hash != column.inclusion.leaf)
    findings.add(where, "the hash of the column is not its leaf in tree C");
}

/// Layer by layer: the parents in the same layer, and above layer 1 those in the layer before.
void check_labels(Findings& findings, const VanillaProof& proof, const Context& context,
                  std::uint64_t challenge) {
  for (std::uint32_t layer = 1; layer <= context.shape.layers; ++layer) {
    std::vector<Fr> parents;
    for (const ColumnProof& parent : proof.drg_parents) parents.push_back(parent.labels[layer - 1]);
    if (layer > 1) {
      for (const ColumnProof& parent : proof.exp_parents)
        parents.push_back(parent.labels[layer - 2]);
    }
    if (create_label(context.output.replica_id, layer, challenge, parents) !=
        proof.column.labels[layer - 1]) {
      findings.add(fmt::format("replica_column_proofs.c_x.column.rows[{}]", layer - 1),
                   "the label in layer {} is not the hash of its parents' labels", layer);
    }
  }
}

bool columns_have_all_layers(const VanillaProof& proof, unsigned layers) {
  const auto complete = [&](const ColumnProof& column) { return column.labels.size() == layers; };
  return complete(proof.column) &&
         std::all_of(proof.drg_parents.begin(), proof.drg_parents.end(), complete) &&
         std::all_of(proof.exp_parents.begin(), proof.exp_parents.end(), complete);
}

std::vector<BadEntry> check_challenge(const Context& context, const ChallengeInputs& inputs,
                                      std::size_t partition, std::size_t index) {
  const SealCommitPhase1Output& output = context.output;
  const VanillaProof& proof = output.partitions[partition][index];
  base::require(columns_have_all_layers(proof, context.shape.layers),
                "partition {}, index {}: a column without exactly {} labels", partition, index,
                context.shape.layers);
  Findings findings(partition, index, output.sector_number);
  const std::uint64_t node = inputs.challenge;
  if (proof.challenge != node) {
    findings.add("labeling_proofs[0].node", "challenge mismatch: node {} opened, {} was challenged",
                 proof.challenge, node);
  }
  const Roots roots =
      context.roots.value_or(Roots{proof.column.inclusion.root, proof.comm_r_last_inclusion.root});
  check_inclusion(findings, "comm_d_proofs", proof.comm_d_inclusion,
                  {context.tree_d, TreeHash::kSha256, node, output.comm_d, "comm_d"});
  check_inclusion(findings, "comm_r_last_proof", proof.comm_r_last_inclusion,
                  {context.tree_r, TreeHash::kPoseidon, node, roots.comm_r_last, "comm_r_last"});
  check_column(findings, "replica_column_proofs.c_x", proof.column, node, context, roots.comm_c);
  for (std::size_t i = 0; i < kDrgParents; ++i) {
    check_column(findings, fmt::format("replica_column_proofs.drg_parents[{}]", i),
                 proof.drg_parents[i], inputs.drg_parents[i], context, roots.comm_c);
  }
  for (std::size_t i = 0; i < kExpParents; ++i) {
    check_column(findings, fmt::format("replica_column_proofs.exp_parents[{}]", i),
                 proof.exp_parents[i], inputs.exp_parents[i], context, roots.comm_c);
  }
  check_labels(findings, proof, context, node);
  if (proof.comm_d_inclusion.leaf + proof.column.labels.back() !=
      proof.comm_r_last_inclusion.leaf) {
    findings.add("encoding_proof", "data node plus last label is not the encoded node");
  }
  return findings.take();
}

std::vector<BadEntry> check_public_values(const Context& context, const PublicValues& known) {
  const SealCommitPhase1Output& output = context.output;
  Findings findings(std::nullopt, std::nullopt, output.sector_number);
  const auto compare = [&](std::string_view where, const auto& expected, const auto& found) {
    if (expected && *expected != found)
      findings.add(where, "the C1 output has another value than was given");
  };
  compare("comm_r", known.comm_r, output.comm_r);
  compare("comm_d", known.comm_d, output.comm_d);
  compare("replica_id", known.replica_id, output.replica_id);
  compare("seed", known.seed, output.seed);
  compare("ticket", known.ticket, output.ticket);
  const auto sector_number = known.sector_number ? known.sector_number : output.sector_number;
  if (output.sector_number) compare("SectorNum", known.sector_number, *output.sector_number);
  if (known.prover_id && sector_number &&
      replica_id(*known.prover_id, *sector_number, output.ticket, output.comm_d,
                 porep_id(output.registered_proof)) != output.replica_id) {
    findings.add(
        "replica_id",
        "it is not that of prover {}, sector {} and this ticket, comm_d and registered proof",
        base::to_hex(*known.prover_id), *sector_number);
  }
  if (!context.roots)
    findings.add("comm_r", "no challenge states roots of trees C and R-last that hash to it");
  return findings.take();
}

}  // namespace

std::vector<BadEntry> check_vanilla_proofs(const SealCommitPhase1Output& output,
                                           const PublicValues& known) {
  const SectorSize size = output.sector_size;
  const SealProofInfo& proof = info(output.registered_proof);
  const Context context{output, porep_shape(size), tree_d_shape(size), tree_r_shape(size),
                        find_roots(output)};
  const Statement statement{.sector_size = size,
                            .porep_id = porep_id(output.registered_proof),
                            .api_version = proof.api_version,
                            .feature = proof.feature,
                            .replica_id = output.replica_id,
                            .comm_d = output.comm_d,
                            .comm_r = output.comm_r,
                            .seed = output.seed};
  const StackedGraph graph(size, statement.porep_id, statement.api_version);
  const std::size_t per_partition = context.shape.challenges_per_partition;
  std::vector<PublicInputs> inputs(output.partitions.size());
  for (std::size_t k = 0; k < output.partitions.size(); ++k) {
    base::require(output.partitions[k].size() == per_partition,
                  "partition {} has {} challenges, {} expected", k, output.partitions[k].size(),
                  per_partition);
    inputs[k] = public_inputs(statement, graph, static_cast<unsigned>(k));
  }
  std::vector<std::vector<BadEntry>> parts(1 + output.partitions.size() * per_partition);
  parts[0] = check_public_values(context, known);
  base::parallel_for(parts.size() - 1, [&](std::size_t i) {
    const std::size_t k = i / per_partition, index = i % per_partition;
    parts[1 + i] = check_challenge(context, inputs[k].challenges[index], k, index);
  });
  return join(std::move(parts));
}

}  // namespace cuzk::filecoin::porep
