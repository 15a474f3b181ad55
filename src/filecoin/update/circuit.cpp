#include "filecoin/update/circuit.hpp"

#include "base/error.hpp"
#include "filecoin/circuit/inclusion.hpp"

#include <algorithm>

namespace cuzk::filecoin::update {

namespace {

using namespace circuit;  // NOLINT: the names of gadgets
using hash::PoseidonDomain;
using r1cs::Variable;

template <class CS>
using Bits = std::vector<AllocatedBit<CS>>;

// What both variants of the circuit share over all challenges.
template <class CS>
struct Common {
  explicit Common(SectorSize size)
      : challenge_bits(size.log2_nodes()),
        tree_r(tree_r_shape(size)),
        h_choices(update_shape(size).h_choices) {}

  unsigned challenge_bits;  // log2 of the sector's nodes
  TreeShape tree_r;
  std::array<unsigned, 6> h_choices;
  Bits<CS> h_select_bits;
  AllocatedNum<CS> comm_r_old, comm_d_new, comm_r_new;
  AllocatedNum<CS> phi;
  AllocatedNum<CS> root_r_old, root_r_new;
};

// A number as a public input and its lowest bits: (Σ 2^i·bit_i)·1 = num.
template <class CS, class F>
Bits<CS> alloc_input_bits(CS& cs, const char* bit_name, unsigned num_bits, F&& value) {
  const auto num = alloc_num(cs, value);
  gadgets::inputize(cs, num);
  std::array<std::uint64_t, 4> limbs{};
  if constexpr (CS::kHasValues) limbs = num.value().to_canonical();
  Bits<CS> bits;
  for (unsigned i = 0; i < num_bits; ++i) {
    const auto scope = cs.scope(bit_name, i);
    bits.push_back(gadgets::alloc_bit(cs, [&] { return (limbs[0] >> i & 1) != 0; }));
  }
  cs.enforce(
      "binary decomp", [&](auto& lc) { gadgets::add_bits_to(lc, bits); },
      [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(num.variable); });
  return bits;
}

template <class CS>
void alloc_commitments(CS& cs, Common<CS>& common, const PartitionInputs* partition) {
  common.comm_r_old = alloc_num(cs, [&] { return partition->comm_r_old; });
  gadgets::inputize(cs, common.comm_r_old);
  common.comm_d_new = alloc_num(cs, [&] { return partition->comm_d_new; });
  gadgets::inputize(cs, common.comm_d_new);
  common.comm_r_new = alloc_num(cs, [&] { return partition->comm_r_new; });
  gadgets::inputize(cs, common.comm_r_new);
  const auto scope = cs.scope("phi");
  common.phi = gadgets::poseidon_2(cs, PoseidonDomain::kGenRandomness2, common.comm_d_new,
                                   common.comm_r_old);
}

// comm_r = H(comm_c, root_r), old and new.
template <class CS>
void enforce_comm_r(CS& cs, const Common<CS>& common, const AllocatedNum<CS>& comm_c) {
  {
    const auto scope = cs.scope("comm_r_old_calc");
    const auto comm_r_old =
        gadgets::poseidon_2(cs, PoseidonDomain::kMerkle2, comm_c, common.root_r_old);
    gadgets::enforce_equal(cs, "enforce comm_r_old_calc == comm_r_old", comm_r_old,
                           common.comm_r_old);
  }
  const auto scope = cs.scope("comm_r_new_calc");
  const auto comm_r_new =
      gadgets::poseidon_2(cs, PoseidonDomain::kMerkle2, comm_c, common.root_r_new);
  gadgets::enforce_equal(cs, "enforce comm_r_new_calc == comm_r_new", comm_r_new,
                         common.comm_r_new);
}

// The tree above the apex leaves, up to the partition's node, and from there to comm_d.
template <class CS>
void enforce_apex_tree(CS& cs, std::vector<AllocatedNum<CS>> row, const Bits<CS>& partition_bits,
                       const std::vector<std::vector<AllocatedNum<CS>>>& partition_path,
                       const AllocatedNum<CS>& comm_d) {
  for (unsigned level = 0; row.size() > 1; ++level) {
    for (std::size_t i = 0; i < row.size() / 2; ++i) {
      const auto scope = cs.scope("apex_tree generation hash (tree_row={}, siblings={})", level, i);
      row[i] = gadgets::sha256_node(cs, row[2 * i], row[2 * i + 1]);
    }
    row.resize(row.size() / 2);
  }
  const auto scope = cs.scope("partition-tree por");
  gadgets::enforce_inclusion_at<CS>(cs, TreeHash::kSha256, partition_bits, row[0], partition_path,
                                    comm_d);
}

// The bits of all challenges, without those of the partition: digest_j = H(comm_r_new, k·digests +
// j) has the bits of as many challenges as fit 254.
template <class CS>
std::vector<Bits<CS>> generate_challenge_bits(CS& cs, const AllocatedNum<CS>& comm_r_new,
                                              const AllocatedNum<CS>& partition,
                                              std::size_t challenges, unsigned bits_per_challenge) {
  const std::size_t per_digest = Fr::kCapacity / bits_per_challenge;
  const std::size_t digests = (challenges + per_digest - 1) / per_digest;
  const Fr digest_count = Fr::from_u64(digests);
  std::vector<Bits<CS>> out;
  for (std::size_t j = 0; j < digests; ++j) {
    const auto scope = cs.scope("digest_{}", j);
    const Fr offset = Fr::from_u64(j);
    const auto index = alloc_num(cs, [&] { return partition.value() * digest_count + offset; });
    cs.enforce(
        "digest_index == k * digests_per_partition + j",
        [&](auto& lc) { lc.add(partition.variable, digest_count).add(Variable::one(), offset); },
        [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(index.variable); });
    const auto digest = gadgets::poseidon_2(cs, PoseidonDomain::kGenRandomness2, comm_r_new, index);
    const Bits<CS> bits = gadgets::to_allocated_bits_le(cs, digest);
    for (std::size_t i = 0; i < per_digest && out.size() < challenges; ++i) {
      const auto first = bits.begin() + static_cast<std::ptrdiff_t>(i * bits_per_challenge);
      out.emplace_back(first, first + bits_per_challenge);
    }
  }
  return out;
}

// The h highest bits of the challenge as a number, h being the choice whose select bit is set: each
// choice is packed and multiplied by its bit, and the products are added up.
template <class CS>
AllocatedNum<CS> challenge_high_bits(CS& cs, const Common<CS>& common, const Bits<CS>& challenge) {
  std::vector<AllocatedNum<CS>> products;
  for (std::size_t k = 0; k < common.h_choices.size(); ++k) {
    const auto scope = cs.scope("c_high (h={}, k={})", common.h_choices[k], k);
    const std::vector<Boolean<CS>> high(challenge.end() - common.h_choices[k], challenge.end());
    const auto packed = gadgets::pack_bits<CS>(cs, high);
    const AllocatedBit<CS>& select_bit = common.h_select_bits[k];
    const auto product =
        alloc_num(cs, [&] { return select_bit.value() ? packed.value() : Fr::zero(); });
    cs.enforce(
        "c_high_or_zero == c_high * h_select_bit", [&](auto& lc) { lc.add(packed.variable); },
        [&](auto& lc) { lc.add(select_bit.variable); },
        [&](auto& lc) { lc.add(product.variable); });
    products.push_back(product);
  }
  const auto selected = alloc_num(cs, [&] {
    Fr sum;
    for (const auto& product : products) sum += product.value();
    return sum;
  });
  cs.enforce(
      "c_high_selected == dot(c_highs, h_select_bits)",
      [&](auto& lc) {
        for (const auto& product : products) lc.add(product.variable);
      },
      [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(selected.variable); });
  return selected;
}

// r_new = r_old + d_new·rho.
template <class CS>
AllocatedNum<CS> encode_leaf(CS& cs, const AllocatedNum<CS>& r_old, const AllocatedNum<CS>& d_new,
                             const AllocatedNum<CS>& rho) {
  const auto product = gadgets::mul(cs, d_new, rho);
  const auto r_new = alloc_num(cs, [&] { return r_old.value() + product.value(); });
  cs.enforce(
      "label_r_new == label_r_old + label_d_new * rho",
      [&](auto& lc) { lc.add(r_old.variable).add(product.variable); },
      [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(r_new.variable); });
  return r_new;
}

template <class CS>
void enforce_replica_leaf(CS& cs, const char* scope_name, const Common<CS>& common,
                          const Bits<CS>& challenge, const InclusionProof* proof,
                          const AllocatedNum<CS>& leaf, const AllocatedNum<CS>& root) {
  const auto scope = cs.scope(scope_name);
  const auto path = alloc_path(cs, common.tree_r, common.tree_r.levels(), proof);
  gadgets::enforce_inclusion_at<CS>(cs, TreeHash::kPoseidon, challenge, leaf, path, root);
}

// The part of a challenge that both variants share. Returns the new data's leaf.
template <class CS>
AllocatedNum<CS> enforce_encoding(CS& cs, const Common<CS>& common, const Bits<CS>& challenge,
                                  const ChallengeProof* proof) {
  const auto part = [&](auto member) { return proof == nullptr ? nullptr : &(proof->*member); };
  const auto high = challenge_high_bits(cs, common, challenge);
  AllocatedNum<CS> rho;
  {
    const auto scope = cs.scope("rho");
    rho = gadgets::poseidon_2(cs, PoseidonDomain::kGenRandomness2, common.phi, high);
  }
  const auto leaf_r_old = alloc_num(cs, [&] { return proof->r_old.leaf; });
  const auto leaf_d_new = alloc_num(cs, [&] { return proof->d_new.leaf; });
  const auto leaf_r_new = encode_leaf(cs, leaf_r_old, leaf_d_new, rho);
  enforce_replica_leaf(cs, "por tree_r_old", common, challenge, part(&ChallengeProof::r_old),
                       leaf_r_old, common.root_r_old);
  enforce_replica_leaf(cs, "por tree_r_new", common, challenge, part(&ChallengeProof::r_new),
                       leaf_r_new, common.root_r_new);
  return leaf_d_new;
}

template <class CS>
std::vector<Variable> variables_of(const Bits<CS>& bits) {
  std::vector<Variable> out;
  if constexpr (CS::kHasConstraints) {
    for (const auto& bit : bits) out.push_back(bit.variable);
  }
  return out;
}

template <class CS>
void synthesize_partition(CS& cs, SectorSize size, const PartitionInputs* partition,
                          std::size_t challenges_to_check) {
  const UpdateShape shape = update_shape(size);
  const TreeShape tree_d = tree_d_shape(size);
  const unsigned partition_levels = shape.log2_partitions();
  const unsigned apex_levels = shape.log2_apex_leaves();
  const unsigned levels_to_apex = tree_d.levels() - partition_levels - apex_levels;
  const VanillaProof* proof = partition == nullptr ? nullptr : partition->proof;

  Common<CS> common(size);
  const auto input_bits = alloc_input_bits(cs, "k_and_h_select_bit_{}", partition_levels + 6, [&] {
    return Fr::from_u64(partition->partition_index | h_select(shape, partition->h)
                                                         << partition_levels);
  });
  const Bits<CS> partition_bits(input_bits.begin(), input_bits.begin() + partition_levels);
  common.h_select_bits.assign(input_bits.begin() + partition_levels, input_bits.end());
  const std::vector<Boolean<CS>> partition_booleans(partition_bits.begin(), partition_bits.end());
  const auto partition_num = gadgets::pack_bits<CS>(cs, partition_booleans);

  alloc_commitments(cs, common, partition);
  const auto comm_c = alloc_num(cs, [&] { return proof->comm_c; });
  common.root_r_old = alloc_num(cs, [&] { return proof->challenges[0].r_old.root; });
  common.root_r_new = alloc_num(cs, [&] { return proof->challenges[0].r_new.root; });
  std::vector<AllocatedNum<CS>> apex_leaves;
  for (unsigned i = 0; i < shape.apex_leaves; ++i) {
    apex_leaves.push_back(alloc_num(cs, [&] { return proof->apex_leaves[i]; }));
  }
  std::vector<std::vector<AllocatedNum<CS>>> partition_path;
  for (unsigned i = 0; i < partition_levels; ++i) {
    // Binary tree: one sibling a level. All challenges of a partition share these.
    partition_path.push_back({alloc_num(cs, [&] {
      return proof->challenges[0].d_new.siblings[levels_to_apex + apex_levels + i];
    })});
  }
  enforce_comm_r(cs, common, comm_c);
  {
    const auto scope = cs.scope("apex_gadget");
    enforce_apex_tree(cs, apex_leaves, partition_bits, partition_path, common.comm_d_new);
  }
  std::vector<Bits<CS>> generated;
  {
    const auto scope = cs.scope("gen_challenge_bits");
    generated = generate_challenge_bits(cs, common.comm_r_new, partition_num,
                                        shape.challenges_per_partition,
                                        common.challenge_bits - partition_levels);
  }
  const auto ports = [&](std::size_t i) { return variables_of<CS>(generated[i]); };
  cs.repeat(challenges_to_check, ports, [&](CS& copy, std::size_t i) {
    const auto scope = copy.scope("challenge_{}", i);
    const ChallengeProof* challenge_proof = proof == nullptr ? nullptr : &proof->challenges[i];
    Bits<CS> challenge = generated[i];
    challenge.insert(challenge.end(), partition_bits.begin(), partition_bits.end());
    const auto leaf_d_new = enforce_encoding(copy, common, challenge, challenge_proof);
    const auto apex_begin = challenge.begin() + levels_to_apex;
    AllocatedNum<CS> apex_leaf;
    {
      const auto select_scope = copy.scope("select_apex_leaf");
      const std::vector<Boolean<CS>> apex_bits(apex_begin, apex_begin + apex_levels);
      apex_leaf = gadgets::select<CS>(copy, apex_leaves, apex_bits);
    }
    const auto path_scope = copy.scope("por to_apex_leaf");
    const auto path = alloc_path(copy, tree_d, levels_to_apex,
                                 challenge_proof == nullptr ? nullptr : &challenge_proof->d_new);
    const Bits<CS> bits_to_apex(challenge.begin(), apex_begin);
    gadgets::enforce_inclusion_at<CS>(copy, TreeHash::kSha256, bits_to_apex, leaf_d_new, path,
                                      apex_leaf);
  });
}

void check_partition(SectorSize size, const PartitionInputs& partition, bool all_challenges) {
  const UpdateShape shape = update_shape(size);
  const VanillaProof& proof = *partition.proof;
  base::require(partition.partition_index < shape.partitions, "update: partition index {} of {}",
                partition.partition_index, shape.partitions);
  base::require(proof.apex_leaves.size() == shape.apex_leaves,
                "update: partition {} has {} apex leaves, not {}", partition.partition_index,
                proof.apex_leaves.size(), shape.apex_leaves);
  const std::size_t challenges = proof.challenges.size();
  base::require(all_challenges ? challenges == shape.challenges_per_partition
                               : challenges > 0 && challenges <= shape.challenges_per_partition,
                "update: partition {} opens {} challenges, not {}", partition.partition_index,
                challenges, shape.challenges_per_partition);
  const TreeShape tree_r = tree_r_shape(size), tree_d = tree_d_shape(size);
  for (std::size_t i = 0; i < challenges; ++i) {
    const ChallengeProof& challenge = proof.challenges[i];
    base::require(challenge.r_old.siblings.size() == tree_r.siblings() &&
                      challenge.r_new.siblings.size() == tree_r.siblings() &&
                      challenge.d_new.siblings.size() == tree_d.siblings(),
                  "update: partition {}, challenge {}: the paths have {}, {} and {} siblings, not "
                  "{}, {} and {}",
                  partition.partition_index, i, challenge.r_old.siblings.size(),
                  challenge.d_new.siblings.size(), challenge.r_new.siblings.size(),
                  tree_r.siblings(), tree_d.siblings(), tree_r.siblings());
  }
}

}  // namespace

std::uint64_t h_select(const UpdateShape& shape, std::uint64_t h) {
  const auto choice = std::find(shape.h_choices.begin(), shape.h_choices.end(), h);
  base::require(choice != shape.h_choices.end(), "update: h is {}; it must be one of {}, ..., {}",
                h, shape.h_choices.front(), shape.h_choices.back());
  return std::uint64_t{1} << (choice - shape.h_choices.begin());
}

void synthesize(r1cs::SymbolicSystem& cs, SectorSize size) {
  synthesize_partition(cs, size, nullptr, update_shape(size).challenges_per_partition);
}

void synthesize(r1cs::WitnessBuilder& cs, SectorSize size, const PartitionInputs& partition) {
  check_partition(size, partition, true);
  synthesize_partition(cs, size, &partition, partition.proof->challenges.size());
}

void synthesize(r1cs::CheckedSystem& cs, SectorSize size, const PartitionInputs& partition) {
  check_partition(size, partition, false);
  synthesize_partition(cs, size, &partition, partition.proof->challenges.size());
}

void synthesize_poseidon(r1cs::SymbolicSystem& cs, SectorSize size) {
  using CS = r1cs::SymbolicSystem;
  const UpdateShape shape = update_shape(size);
  const auto nothing = [] { return Fr(); };
  Common<CS> common(size);
  common.h_select_bits = alloc_input_bits(cs, "h_select_bit_{}", 6, nothing);
  alloc_commitments<CS>(cs, common, nullptr);
  const auto comm_c = alloc_num(cs, nothing);
  common.root_r_old = alloc_num(cs, nothing);
  common.root_r_new = alloc_num(cs, nothing);
  enforce_comm_r(cs, common, comm_c);
  const auto partition_zero = alloc_num(cs, nothing);
  const auto generated = generate_challenge_bits(cs, common.comm_r_new, partition_zero,
                                                 shape.challenges_per_partition * shape.partitions,
                                                 common.challenge_bits);
  const auto ports = [&](std::size_t i) { return variables_of<CS>(generated[i]); };
  cs.repeat(generated.size(), ports, [&](CS& copy, std::size_t i) {
    const auto leaf_d_new = enforce_encoding<CS>(copy, common, generated[i], nullptr);
    enforce_replica_leaf<CS>(copy, "por tree_d_new", common, generated[i], nullptr, leaf_d_new,
                             common.comm_d_new);
  });
}

}  // namespace cuzk::filecoin::update
