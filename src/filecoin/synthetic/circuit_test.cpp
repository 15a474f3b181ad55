#include "filecoin/porep/circuit.hpp"

#include "filecoin/ids.hpp"
#include "filecoin/porep/public_inputs.hpp"
#include "filecoin/post/circuit.hpp"
#include "filecoin/synthetic/porep.hpp"
#include "filecoin/synthetic/post.hpp"
#include "filecoin/synthetic/update.hpp"
#include "filecoin/update/circuit.hpp"
#include "filecoin/update/public_inputs.hpp"
#include "r1cs/checked_system.hpp"

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>

// Synthetic proofs satisfy the circuits, with the public inputs that a verifier derives. Of
// production circuits a few challenges are synthesised, which are copies of one another.
namespace cuzk::filecoin::synthetic {
namespace {

using curve::Fr;

constexpr std::uint64_t kSeed = 11;

void expect_satisfied(const r1cs::CheckedSystem& cs, std::uint64_t at_least) {
  EXPECT_EQ(cs.unsatisfied(), 0u) << cs.first_unsatisfied().value_or("");
  EXPECT_GT(cs.num_constraints(), at_least) << "hardly anything was synthesised";
}

/// The circuit's inputs are ONE and the first of `expected`.
void expect_inputs(const r1cs::CheckedSystem& cs, const std::vector<Fr>& expected) {
  ASSERT_LE(cs.inputs().size(), expected.size() + 1);
  ASSERT_GT(cs.inputs().size(), 3u);
  for (std::size_t i = 1; i < cs.inputs().size(); ++i)
    EXPECT_EQ(cs.inputs()[i], expected[i - 1]) << "input " << i;
}

class SyntheticCircuits : public ::testing::TestWithParam<const char*> {
 protected:
  SectorSize size_ = SectorSize::parse(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Sizes, SyntheticCircuits, ::testing::Values("2KiB", "32KiB"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(SyntheticCircuits, PorepIsSatisfied) {
  const RegisteredSealProof proof = default_seal_proof(size_);
  const auto output = make_porep({.sector_size = size_, .registered_proof = proof, .seed = kSeed});
  const porep::Statement statement{.sector_size = size_,
                                   .porep_id = porep_id(proof),
                                   .api_version = info(proof).api_version,
                                   .feature = info(proof).feature,
                                   .replica_id = output.replica_id,
                                   .comm_d = output.comm_d,
                                   .comm_r = output.comm_r,
                                   .seed = output.seed};
  const auto k = static_cast<unsigned>(output.partitions.size() - 1);
  r1cs::CheckedSystem cs;
  porep::synthesize(cs, size_,
                    {.replica_id = output.replica_id,
                     .comm_d = output.comm_d,
                     .comm_r = output.comm_r,
                     .proofs = std::span(output.partitions[k]).first(1)});
  expect_satisfied(cs, 200'000);
  expect_inputs(cs, porep::public_inputs(statement, k).to_fields());
}

TEST_P(SyntheticCircuits, WindowPostIsSatisfied) {
  const Post post =
      make_post({.sector_size = size_, .winning = false, .seed = kSeed, .num_sectors = 2});
  const auto places = post::window_places(size_, post.proofs);
  r1cs::CheckedSystem cs;
  post::synthesize(cs, post::window_circuit_size(size_), std::span(places).first(2));
  expect_satisfied(cs, 20'000);
  std::vector<Fr> expected;
  for (std::size_t i = 0; i < 2; ++i) {
    expected.push_back(post.proofs[i].comm_r);
    for (const std::uint64_t challenge : post.challenges[i])
      expected.push_back(Fr::from_u64(challenge));
  }
  expect_inputs(cs, expected);
}

TEST_P(SyntheticCircuits, WinningPostIsSatisfied) {
  const Post post = make_post({.sector_size = size_, .winning = true, .seed = kSeed});
  const auto places = post::winning_places(size_, post.proofs[0]);
  r1cs::CheckedSystem cs;
  post::synthesize(cs, post::winning_circuit_size(size_), places);
  expect_satisfied(cs, 60'000);
  std::vector<Fr> expected;
  for (const std::uint64_t challenge : post.challenges[0]) {
    expected.push_back(post.proofs[0].comm_r);
    expected.push_back(Fr::from_u64(challenge));
  }
  expect_inputs(cs, expected);
}

TEST_P(SyntheticCircuits, UpdateIsSatisfied) {
  const Update update = make_update(size_, kSeed);
  const auto k = static_cast<unsigned>(update.partitions.size() - 1);
  update::VanillaProof few = update.partitions[k];
  few.challenges.resize(3);
  r1cs::CheckedSystem cs;
  update::synthesize(cs, size_,
                     {.partition_index = k,
                      .h = update.h,
                      .comm_r_old = update.comm_r_old,
                      .comm_d_new = update.comm_d_new,
                      .comm_r_new = update.comm_r_new,
                      .proof = &few});
  expect_satisfied(cs, 200'000);
  const update::Statement statement{.sector_size = size_,
                                    .comm_r_old = update.comm_r_old,
                                    .comm_d_new = update.comm_d_new,
                                    .comm_r_new = update.comm_r_new,
                                    .h = update.h};
  expect_inputs(cs, update::public_inputs(statement, k).to_fields());
}

}  // namespace
}  // namespace cuzk::filecoin::synthetic
