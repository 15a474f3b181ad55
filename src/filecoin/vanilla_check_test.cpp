#include "filecoin/vanilla_check.hpp"

#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

namespace cuzk::filecoin {
namespace {

TEST(BadVanillaMessage, NamesEveryProofOnce) {
  const std::vector<BadEntry> entries = {
      {std::nullopt, 17, 4711, "inclusion_proofs[3]", "the Merkle path does not reach comm_r_last"},
      {std::nullopt, 17, 4711, "inclusion_proofs[4]", "the Merkle path does not reach comm_r_last"},
      {std::nullopt, 903, 5120, "comm_r", "it is not the sector's comm_r"},
  };
  EXPECT_EQ(bad_vanilla_message(entries, 2349),
            "BAD-VANILLA: 2 of 2349 proofs rejected: index 17 (sector 4711): inclusion_proofs[3]: "
            "the Merkle path does "
            "not reach comm_r_last (and 1 more); index 903 (sector 5120): comm_r: it is not the "
            "sector's comm_r. "
            "Nothing was proved.");
}

TEST(BadVanillaMessage, AComplaintAboutTheWholeRejectsAll) {
  const std::vector<BadEntry> entries = {
      {std::nullopt, std::nullopt, 9, "replica_id", "it is another's"},
      {2, 5, 9, "comm_d_proofs", "bad"}};
  EXPECT_EQ(bad_vanilla_message(entries, 180),
            "BAD-VANILLA: 180 of 180 proofs rejected: (sector 9): replica_id: it is another's; "
            "partition 2, index 5 "
            "(sector 9): comm_d_proofs: bad. Nothing was proved.");
}

/// A golden path of every tree kind: single trees, with sub-trees, with a top tree.
class InclusionCheck : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  InclusionCheck()
      : size(SectorSize::parse(GetParam().second)),
        shape(tree_r_shape(size)),
        proof(
            post::decode_vanilla_proof(decode_vanilla_file(testing::golden_bytes(fmt::format(
                                           "sectors/{}/window.vanilla.json", GetParam().first)))[0],
                                       size, kWindowPostChallenges)
                .inclusions[4]),
        expected{shape, TreeHash::kPoseidon, proof.leaf_index(shape), proof.root, "comm_x"} {}

  std::vector<std::string> complaints(const InclusionProof& changed) const {
    Findings findings;
    nodes = check_inclusion(findings, "w", changed, expected);
    std::vector<std::string> out;
    for (const BadEntry& entry : findings.take()) out.push_back(entry.what);
    return out;
  }

  SectorSize size;
  TreeShape shape;
  InclusionProof proof;
  ExpectedInclusion expected;
  mutable std::vector<curve::Fr> nodes;
};

using Strings = std::vector<std::string>;
const Strings kUnreached = {"the Merkle path does not reach comm_x"};

TEST_P(InclusionCheck, AcceptsTheGoldenPath) {
  EXPECT_EQ(complaints(proof), Strings{});
  ASSERT_EQ(nodes.size(), shape.levels() + 1);
  EXPECT_EQ(nodes.front(), proof.leaf);
  EXPECT_EQ(nodes.back(), proof.root);
}

TEST_P(InclusionCheck, FindsEveryChangedElement) {
  for (std::size_t i = 0; i < proof.siblings.size(); ++i) {
    InclusionProof changed = proof;
    changed.siblings[i] += curve::Fr::one();
    EXPECT_EQ(complaints(changed), kUnreached) << i;
  }
  InclusionProof changed = proof;
  changed.leaf += curve::Fr::one();
  EXPECT_EQ(complaints(changed), kUnreached);
  changed = proof;
  changed.root += curve::Fr::one();
  EXPECT_EQ(complaints(changed), Strings{"the stated root is not comm_x"});
}

TEST_P(InclusionCheck, FindsEveryChangedPosition) {
  for (unsigned level = 0; level < shape.levels(); ++level) {
    InclusionProof changed = proof;
    changed.positions[level] =
        static_cast<std::uint8_t>((changed.positions[level] + 1) % shape.arity(level));
    EXPECT_EQ(complaints(changed).size(), 2u) << level;
    EXPECT_EQ(complaints(changed)[0],
              fmt::format("the path is that of leaf {}, leaf {} is to be opened",
                          changed.leaf_index(shape), expected.index));
  }
}

TEST_P(InclusionCheck, FindsAPathOfAnotherShape) {
  for (const auto& change : {+[](InclusionProof& changed) { changed.siblings.pop_back(); },
                             +[](InclusionProof& changed) { changed.siblings.emplace_back(); },
                             +[](InclusionProof& changed) { changed.positions.pop_back(); },
                             +[](InclusionProof& changed) { changed.positions[0] = 8; }}) {
    InclusionProof changed = proof;
    change(changed);
    ASSERT_EQ(complaints(changed).size(), 1u);
    EXPECT_NE(complaints(changed)[0].find("do not fit a tree"), std::string::npos);
    EXPECT_TRUE(nodes.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, InclusionCheck,
                         ::testing::Values(std::pair("2KiB-v1_1", "2KiB"),
                                           std::pair("16KiB-v1_1", "16KiB"),
                                           std::pair("32KiB-v1_1", "32KiB"),
                                           std::pair("8MiB-v1_1", "8MiB")));

}  // namespace
}  // namespace cuzk::filecoin
