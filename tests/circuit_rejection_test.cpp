#include "base/parallel.hpp"
#include "filecoin/porep/circuit.hpp"
#include "filecoin/post/circuit.hpp"
#include "filecoin/synthetic/porep.hpp"
#include "filecoin/synthetic/post.hpp"
#include "filecoin/synthetic/update.hpp"
#include "filecoin/update/circuit.hpp"
#include "r1cs/checked_system.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

// Each circuit takes a valid proof, and with one bit of it flipped names the constraint that
// catches it.
namespace cuzk {
namespace {

using curve::Fr;
using filecoin::InclusionProof;
using filecoin::SectorSize;

constexpr std::uint64_t kSeed = 5;

void flip_bit(Fr& value) {
  auto limbs = value.to_canonical();
  limbs[1] ^= std::uint64_t{1} << 17;
  value = Fr::from_canonical(limbs);
}

void flip_sibling(InclusionProof& proof) { flip_bit(proof.siblings[proof.siblings.size() / 2]); }
void flip_index(InclusionProof& proof) { proof.positions[0] ^= 1; }

// What is changed, and the path of the first constraint that then fails.
template <class Proof>
struct Mutation {
  std::string name;
  std::function<void(Proof&)> apply;
  std::string expected;
};

template <class Proof>
using Run = std::function<void(r1cs::CheckedSystem&, const Proof&)>;

template <class Proof>
std::optional<std::string> first_unsatisfied(const Run<Proof>& run, const Proof& proof) {
  r1cs::CheckedSystem cs({.stop_at_first = true});
  try {
    run(cs, proof);
  } catch (const r1cs::Unsatisfied&) {  // cs has its path
  }
  return cs.first_unsatisfied();
}

template <class Proof>
void expect_rejections(const Proof& valid, const Run<Proof>& run,
                       const std::vector<Mutation<Proof>>& mutations) {
  EXPECT_EQ(first_unsatisfied(run, valid), std::nullopt);
  std::vector<std::optional<std::string>> found(mutations.size());
  base::parallel_for(mutations.size(), [&](std::size_t i) {
    Proof changed = valid;
    mutations[i].apply(changed);
    found[i] = first_unsatisfied(run, changed);
  });
  for (std::size_t i = 0; i < mutations.size(); ++i)
    EXPECT_EQ(found[i], mutations[i].expected) << mutations[i].name;
}

class CircuitRejection : public ::testing::TestWithParam<const char*> {
 protected:
  const SectorSize size_ = SectorSize::parse(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Sizes, CircuitRejection, ::testing::Values("2KiB", "8MiB", "32GiB"),
                         [](const auto& instance) { return std::string(instance.param); });

// One challenge; the others are copies of the same constraints.
struct PorepCase {
  Fr replica_id, comm_d, comm_r;
  filecoin::porep::VanillaProof proof;
};

TEST_P(CircuitRejection, Porep) {
  using namespace filecoin;
  const auto c1 = synthetic::make_porep({.sector_size = size_,
                                         .registered_proof = synthetic::default_seal_proof(size_),
                                         .seed = kSeed});
  const PorepCase valid{c1.replica_id, c1.comm_d, c1.comm_r, c1.partitions[0][0]};
  const std::size_t layers = valid.proof.column.labels.size();
  const std::string challenge = "challenge_0/", root = "/enforce root is correct";
  const std::string commitment = "H_comm_c_comm_r_last/enforce comm_r = H(comm_c || comm_r_last)";
  expect_rejections<PorepCase>(
      valid,
      [&](r1cs::CheckedSystem& cs, const PorepCase& c) {
        porep::synthesize(cs, size_, {c.replica_id, c.comm_d, c.comm_r, {&c.proof, 1}});
      },
      {
          {"data leaf", [](PorepCase& c) { flip_bit(c.proof.comm_d_inclusion.leaf); },
           challenge + "comm_d_inclusion" + root},
          {"data sibling", [](PorepCase& c) { flip_sibling(c.proof.comm_d_inclusion); },
           challenge + "comm_d_inclusion" + root},
          {"data index", [](PorepCase& c) { flip_index(c.proof.comm_d_inclusion); },
           challenge + "comm_d_inclusion" + root},
          {"comm_d", [](PorepCase& c) { flip_bit(c.comm_d); },
           challenge + "comm_d_inclusion" + root},
          {"DRG parent's first label",
           [](PorepCase& c) { flip_bit(c.proof.drg_parents[2].labels[0]); },
           challenge + "drg_parent_2/inclusion" + root},
          {"DRG parent's sibling",
           [](PorepCase& c) { flip_sibling(c.proof.drg_parents[5].inclusion); },
           challenge + "drg_parent_5/inclusion" + root},
          {"DRG parent's index", [](PorepCase& c) { flip_index(c.proof.drg_parents[0].inclusion); },
           challenge + "drg_parent_0/inclusion" + root},
          {"expander parent's last label",
           [&](PorepCase& c) { flip_bit(c.proof.exp_parents[7].labels[layers - 1]); },
           challenge + "exp_parent_7/inclusion" + root},
          {"expander parent's sibling",
           [](PorepCase& c) { flip_sibling(c.proof.exp_parents[1].inclusion); },
           challenge + "exp_parent_1/inclusion" + root},
          {"challenge", [](PorepCase& c) { c.proof.challenge ^= 1; },
           challenge + "comm_r_last_data_inclusion" + root},
          {"replica id", [](PorepCase& c) { flip_bit(c.replica_id); },
           challenge + "comm_r_last_data_inclusion" + root},
          {"replica sibling", [](PorepCase& c) { flip_sibling(c.proof.comm_r_last_inclusion); },
           challenge + "comm_r_last_data_inclusion" + root},
          {"replica index", [](PorepCase& c) { flip_index(c.proof.comm_r_last_inclusion); },
           challenge + "comm_r_last_data_inclusion" + root},
          {"column's sibling", [](PorepCase& c) { flip_sibling(c.proof.column.inclusion); },
           challenge + "c_x_inclusion" + root},
          {"column's index", [](PorepCase& c) { flip_index(c.proof.column.inclusion); },
           challenge + "c_x_inclusion" + root},
          {"comm_r", [](PorepCase& c) { flip_bit(c.comm_r); }, commitment},
          {"comm_c", [](PorepCase& c) { flip_bit(c.proof.column.inclusion.root); }, commitment},
          {"comm_r_last", [](PorepCase& c) { flip_bit(c.proof.comm_r_last_inclusion.root); },
           commitment},
      });
}

using PostCase = filecoin::post::VanillaProof;

std::vector<Mutation<PostCase>> post_mutations(const std::string& last,
                                               std::size_t last_challenge) {
  const std::string first = "sector_0/challenge_inclusion_0/enforce root is correct";
  const std::string commitment =
      "sector_0/H_comm_c_comm_r_last/enforce_comm_c_comm_r_last_hash_comm_r";
  return {
      {"leaf", [](PostCase& c) { flip_bit(c.inclusions[0].leaf); }, first},
      {"sibling", [](PostCase& c) { flip_sibling(c.inclusions[0]); }, first},
      {"index", [](PostCase& c) { flip_index(c.inclusions[0]); }, first},
      {"last leaf", [=](PostCase& c) { flip_bit(c.inclusions[last_challenge].leaf); }, last},
      {"last index", [=](PostCase& c) { flip_index(c.inclusions[last_challenge]); }, last},
      {"comm_r", [](PostCase& c) { flip_bit(c.comm_r); }, commitment},
      {"comm_c", [](PostCase& c) { flip_bit(c.comm_c); }, commitment},
      {"comm_r_last", [](PostCase& c) { flip_bit(c.comm_r_last); }, commitment},
  };
}

TEST_P(CircuitRejection, WindowPost) {
  using namespace filecoin;
  const auto made = synthetic::make_post({.sector_size = size_, .winning = false, .seed = kSeed});
  expect_rejections<PostCase>(
      made.proofs[0],
      [&](r1cs::CheckedSystem& cs, const PostCase& c) {
        const auto places = post::window_places(size_, {&c, 1});
        post::synthesize(cs, post::window_circuit_size(size_), std::span(places).first(1));
      },
      post_mutations("sector_0/challenge_inclusion_9/enforce root is correct", 9));
}

TEST_P(CircuitRejection, WinningPost) {
  using namespace filecoin;
  const auto made = synthetic::make_post({.sector_size = size_, .winning = true, .seed = kSeed});
  expect_rejections<PostCase>(
      made.proofs[0],
      [&](r1cs::CheckedSystem& cs, const PostCase& c) {
        post::synthesize(cs, post::winning_circuit_size(size_), post::winning_places(size_, c));
      },
      post_mutations("sector_65/challenge_inclusion_0/enforce root is correct", 65));
}

struct UpdateCase {
  std::uint64_t partition, h;
  Fr comm_r_old, comm_d_new, comm_r_new;
  filecoin::update::VanillaProof proof;
};

TEST_P(CircuitRejection, Update) {
  using namespace filecoin;
  const auto made = synthetic::make_update(size_, kSeed);
  const UpdateShape shape = update_shape(size_);
  UpdateCase valid{shape.partitions - 1, made.h,          made.comm_r_old,
                   made.comm_d_new,      made.comm_r_new, made.partitions.back()};
  valid.proof.challenges.resize(1);
  const std::string challenge = "challenge_0/", root = "/calculated root == provided root";
  std::vector<Mutation<UpdateCase>> mutations = {
      {"old leaf", [](UpdateCase& c) { flip_bit(c.proof.challenges[0].r_old.leaf); },
       challenge + "por tree_r_old" + root},
      {"old sibling", [](UpdateCase& c) { flip_sibling(c.proof.challenges[0].r_old); },
       challenge + "por tree_r_old" + root},
      {"new data leaf", [](UpdateCase& c) { flip_bit(c.proof.challenges[0].d_new.leaf); },
       challenge + "por tree_r_new" + root},
      {"new sibling", [](UpdateCase& c) { flip_sibling(c.proof.challenges[0].r_new); },
       challenge + "por tree_r_new" + root},
      {"new data sibling", [](UpdateCase& c) { flip_bit(c.proof.challenges[0].d_new.siblings[0]); },
       challenge + "por to_apex_leaf" + root},
      {"apex leaf", [](UpdateCase& c) { flip_bit(c.proof.apex_leaves[3]); },
       "apex_gadget/partition-tree por" + root},
      {"comm_c", [](UpdateCase& c) { flip_bit(c.proof.comm_c); },
       "comm_r_old_calc/enforce comm_r_old_calc == comm_r_old"},
      {"comm_r_old", [](UpdateCase& c) { flip_bit(c.comm_r_old); },
       "comm_r_old_calc/enforce comm_r_old_calc == comm_r_old"},
      {"comm_r_new", [](UpdateCase& c) { flip_bit(c.comm_r_new); },
       "comm_r_new_calc/enforce comm_r_new_calc == comm_r_new"},
      {"comm_d_new", [](UpdateCase& c) { flip_bit(c.comm_d_new); },
       "apex_gadget/partition-tree por" + root},
      {"old root", [](UpdateCase& c) { flip_bit(c.proof.challenges[0].r_old.root); },
       "comm_r_old_calc/enforce comm_r_old_calc == comm_r_old"},
      {"new root", [](UpdateCase& c) { flip_bit(c.proof.challenges[0].r_new.root); },
       "comm_r_new_calc/enforce comm_r_new_calc == comm_r_new"},
  };
  if (shape.partitions > 1) {
    // The partition is the highest bits of every challenge's index.
    mutations.push_back({"partition", [](UpdateCase& c) { c.partition ^= 1; },
                         "apex_gadget/partition-tree por" + root});
    mutations.push_back({"h", [&](UpdateCase& c) { c.h = shape.h_choices[0]; },
                         challenge + "por tree_r_new" + root});
  }
  expect_rejections<UpdateCase>(
      valid,
      [&](r1cs::CheckedSystem& cs, const UpdateCase& c) {
        update::synthesize(cs, size_,
                           {c.partition, c.h, c.comm_r_old, c.comm_d_new, c.comm_r_new, &c.proof});
      },
      mutations);
}

}  // namespace
}  // namespace cuzk
