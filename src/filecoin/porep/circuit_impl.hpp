#pragma once

#include "filecoin/circuit/inclusion.hpp"
#include "filecoin/porep/circuit.hpp"

#include <string>
#include <vector>

namespace cuzk::filecoin::porep {

using namespace circuit;  // NOLINT: an implementation header, included by circuit.cpp alone

template <class CS>
using Column = std::vector<AllocatedNum<CS>>;  // a node's labels, layer 1 first

template <class CS>
Column<CS> alloc_column(CS& cs, unsigned layers, const ColumnProof* proof) {
  Column<CS> column;
  for (unsigned layer = 0; layer < layers; ++layer) {
    column.push_back(alloc_num(cs, [&] { return proof->labels[layer]; }));
  }
  return column;
}

template <class CS>
AllocatedNum<CS> hash_column(CS& cs, const Sizes& sizes, const Column<CS>& labels) {
  const auto scope = cs.scope("column hash");
  return gadgets::poseidon<CS>(cs, hash::merkle_domain(sizes.porep.layers), labels);
}

// The column is what tree C holds at the node: its hash is a leaf of tree C.
template <class CS>
Column<CS> open_parent(CS& cs, const char* scope_name, std::size_t i, const Sizes& sizes,
                       const ColumnProof* proof, const AllocatedNum<CS>& comm_c) {
  const auto scope = cs.scope(scope_name, i);
  const Column<CS> column = alloc_column(cs, sizes.porep.layers, proof);
  const auto hash = hash_column(cs, sizes, column);
  const auto inclusion_scope = cs.scope("inclusion");
  enforce_inclusion(cs, TreeHash::kPoseidon, sizes.tree_r,
                    proof == nullptr ? nullptr : &proof->inclusion, hash, comm_c);
  return column;
}

// SHA-256 of replica_id, layer and node number, padded to 64 bytes, and of 37 parents of 32 bytes.
// [rust-fil-proofs storage-proofs-porep/src/stacked/circuit/create_label.rs]
template <class CS>
AllocatedNum<CS> create_label(CS& cs, const std::vector<Boolean<CS>>& replica_id_bits,
                              unsigned layer, const std::vector<Boolean<CS>>& node_bits_le,
                              const std::vector<std::vector<Boolean<CS>>>& parents) {
  std::vector<Boolean<CS>> message = replica_id_bits;
  message.reserve((2 + kLabelParents) * 256 + 512);
  for (unsigned i = 32; i-- > 0;) message.push_back(Boolean<CS>::constant((layer >> i & 1) != 0));
  message.insert(message.end(), node_bits_le.rbegin(), node_bits_le.rend());
  message.resize(512);
  for (std::size_t i = 0; i < kLabelParents; ++i) {
    // The parents in turn until 37 are there.
    const auto& parent = parents[i % parents.size()];
    message.insert(message.end(), parent.begin(), parent.end());
  }
  const auto scope = cs.scope("create_label");
  const auto digest = gadgets::reverse_bit_numbering(gadgets::sha256(cs, std::move(message)));
  return gadgets::pack_bits<CS>(cs, digest);
}

template <class CS>
std::vector<Boolean<CS>> label_bits(CS& cs, const char* scope_name, std::size_t i,
                                    const AllocatedNum<CS>& label) {
  const auto scope = cs.scope(scope_name, i);
  return gadgets::reverse_bit_numbering(gadgets::to_bits_le(cs, label));
}

template <class CS>
struct Commitments {
  AllocatedNum<CS> comm_d, comm_c, comm_r_last;
  std::vector<Boolean<CS>> replica_id_bits;
};

// All labels of the challenged node, each recomputed from its parents' labels: 6 DRG parents of the
// same layer and, from the second layer on, 8 expander parents of the layer before.
template <class CS>
Column<CS> recompute_labels(CS& cs, const Sizes& sizes, const Commitments<CS>& commitments,
                            const std::vector<Boolean<CS>>& challenge_bits,
                            const std::vector<Column<CS>>& drg_parents,
                            const std::vector<Column<CS>>& exp_parents) {
  Column<CS> labels;
  for (unsigned layer = 1; layer <= sizes.porep.layers; ++layer) {
    const auto scope = cs.scope("labeling_{}", layer);
    std::vector<std::vector<Boolean<CS>>> parents;
    for (const Column<CS>& column : drg_parents) {
      parents.push_back(label_bits(cs, "drg_parent_{}_bits", parents.size(), column[layer - 1]));
    }
    if (layer > 1) {
      for (const Column<CS>& column : exp_parents) {
        parents.push_back(label_bits(cs, "exp_parent_{}_bits", parents.size(), column[layer - 2]));
      }
    }
    labels.push_back(create_label(cs, commitments.replica_id_bits, layer, challenge_bits, parents));
  }
  return labels;
}

template <class CS>
void synthesize_challenge(CS& cs, const Sizes& sizes, const VanillaProof* proof,
                          const Commitments<CS>& commitments) {
  const auto part = [&](auto member) { return proof == nullptr ? nullptr : &(proof->*member); };
  const auto data_leaf = alloc_num(cs, [&] { return proof->comm_d_inclusion.leaf; });
  {
    const auto scope = cs.scope("comm_d_inclusion");
    enforce_inclusion(cs, TreeHash::kSha256, sizes.tree_d, part(&VanillaProof::comm_d_inclusion),
                      data_leaf, commitments.comm_d);
  }
  std::vector<Column<CS>> drg_parents, exp_parents;
  for (std::size_t i = 0; i < kDrgParents; ++i) {
    drg_parents.push_back(open_parent(cs, "drg_parent_{}", i, sizes,
                                      proof == nullptr ? nullptr : &proof->drg_parents[i],
                                      commitments.comm_c));
  }
  for (std::size_t i = 0; i < kExpParents; ++i) {
    exp_parents.push_back(open_parent(cs, "exp_parent_{}", i, sizes,
                                      proof == nullptr ? nullptr : &proof->exp_parents[i],
                                      commitments.comm_c));
  }
  std::vector<Boolean<CS>> challenge_bits;
  {
    const auto scope = cs.scope("challenge");
    challenge_bits = gadgets::alloc_uint64(cs, [&] { return proof->challenge; });
    gadgets::pack_into_inputs<CS>(cs, challenge_bits);
  }
  const Column<CS> labels =
      recompute_labels(cs, sizes, commitments, challenge_bits, drg_parents, exp_parents);
  const auto encoded = gadgets::add(cs, labels.back(), data_leaf);
  {
    const auto scope = cs.scope("comm_r_last_data_inclusion");
    enforce_inclusion(cs, TreeHash::kPoseidon, sizes.tree_r,
                      part(&VanillaProof::comm_r_last_inclusion), encoded, commitments.comm_r_last);
  }
  const auto hash = hash_column(cs, sizes, labels);
  const auto scope = cs.scope("c_x_inclusion");
  enforce_inclusion(cs, TreeHash::kPoseidon, sizes.tree_r,
                    proof == nullptr ? nullptr : &proof->column.inclusion, hash,
                    commitments.comm_c);
}

template <class CS>
void synthesize_partition(CS& cs, const Sizes& sizes, const PartitionInputs* partition,
                          std::size_t challenges) {
  Commitments<CS> commitments;
  const auto replica_id = alloc_num(cs, [&] { return partition->replica_id; });
  gadgets::inputize(cs, replica_id);
  {
    const auto scope = cs.scope("replica_id_bits");
    commitments.replica_id_bits =
        gadgets::reverse_bit_numbering(gadgets::to_bits_le(cs, replica_id));
  }
  commitments.comm_d = alloc_num(cs, [&] { return partition->comm_d; });
  gadgets::inputize(cs, commitments.comm_d);
  const auto comm_r = alloc_num(cs, [&] { return partition->comm_r; });
  gadgets::inputize(cs, comm_r);
  commitments.comm_r_last =
      alloc_num(cs, [&] { return partition->proofs[0].comm_r_last_inclusion.root; });
  commitments.comm_c = alloc_num(cs, [&] { return partition->proofs[0].column.inclusion.root; });
  {
    const auto scope = cs.scope("H_comm_c_comm_r_last");
    const auto hash = gadgets::poseidon_2(cs, hash::PoseidonDomain::kMerkle2, commitments.comm_c,
                                          commitments.comm_r_last);
    gadgets::enforce_equal(cs, "enforce comm_r = H(comm_c || comm_r_last)", comm_r, hash);
  }
  cs.repeat(challenges, [&](CS& copy, std::size_t i) {
    const auto scope = copy.scope("challenge_{}", i);
    synthesize_challenge(copy, sizes, partition == nullptr ? nullptr : &partition->proofs[i],
                         commitments);
  });
}

}  // namespace cuzk::filecoin::porep
