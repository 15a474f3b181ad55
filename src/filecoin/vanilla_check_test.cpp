#include "filecoin/vanilla_check.hpp"

#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

namespace cuzk::filecoin {
namespace {

TEST(BadVanillaMessage, NamesEveryProofOnce) {
  const std::vector<BadEntry> entries = {
      {std::nullopt, 17, 4711, "inclusion_proofs[3]", "the Merkle path does not reach comm_r_last"},
      {std::nullopt, 17, 4711, "inclusion_proofs[4]", "the Merkle path does not reach comm_r_last"},
      {std::nullopt, 903, 5120, "comm_r", "it is not the sector's comm_r"},
  };
  EXPECT_EQ(bad_vanilla_message(entries, {2349, 2349}),
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
  EXPECT_EQ(bad_vanilla_message(entries, {180, 18}),
            "BAD-VANILLA: 180 of 180 proofs rejected: (sector 9): replica_id: it is another's; "
            "partition 2, index 5 "
            "(sector 9): comm_d_proofs: bad. Nothing was proved.");
}

TEST(BadVanillaMessage, APartitionsComplaintRejectsThePartition) {
  const std::vector<BadEntry> entries = {{3, std::nullopt, std::nullopt, "", "truncated"},
                                         {3, 4, std::nullopt, "proof_r_old", "bad"},
                                         {5, 9, std::nullopt, "proof_r_old", "bad"}};
  EXPECT_EQ(bad_vanilla_message(entries, {160, 10}),
            "BAD-VANILLA: 11 of 160 proofs rejected: partition 3: truncated; partition 3, index 4: "
            "proof_r_old: bad; partition 5, index 9: proof_r_old: bad. Nothing was proved.");
}

// Of 2,349 sectors 300: all of a group of 100, and 200 between good ones. An answer has room for
// about 6,000 bytes.
TEST(BadVanillaMessage, AllOfManyPlacesComeBeforeTheReasons) {
  std::set<std::size_t> bad;
  std::vector<BadEntry> entries;
  for (std::size_t index = 0; index < 2349; ++index) {
    if ((index < 800 && index % 4 == 0) || (index >= 1000 && index < 1100)) {
      bad.insert(index);
      for (const char* where : {"inclusion_proofs[0]", "inclusion_proofs[3]"})
        entries.push_back({std::nullopt, index, 100'000 + index, where,
                           "the Merkle path does not reach comm_r_last"});
    }
  }
  ASSERT_EQ(bad.size(), 300u);
  const std::string message = bad_vanilla_message(entries, {2349, 2349}).substr(0, 6000);
  const std::string_view head = "BAD-VANILLA: 300 of 2349 proofs rejected: indices ";
  ASSERT_EQ(message.substr(0, head.size()), head);
  EXPECT_NE(message.find(", 792, 796, 1000-1099: index 0 (sector 100000): inclusion_proofs[0]: "),
            std::string::npos);

  std::set<std::size_t> named;
  std::istringstream list(message.substr(head.size(), message.find(": index") - head.size()));
  for (std::string range; std::getline(list, range, ',');) {
    const std::size_t dash = range.find('-');
    const std::size_t first = std::stoul(range);
    const std::size_t last = dash == std::string::npos ? first : std::stoul(range.substr(dash + 1));
    for (std::size_t index = first; index <= last; ++index) named.insert(index);
  }
  EXPECT_EQ(named, bad);
}

TEST(BadVanillaMessage, ManyPlacesArePartitionsAndTheirIndices) {
  std::vector<BadEntry> entries;
  for (const std::size_t partition : {0u, 1u, 7u})
    entries.push_back({partition, std::nullopt, std::nullopt, "", "truncated"});
  for (const std::size_t index : {0u, 3u, 4u, 5u, 8u, 9u})
    entries.push_back({4, index, std::nullopt, "proof_r_old", "bad"});
  EXPECT_EQ(bad_vanilla_message(entries, {160, 10}).substr(0, 110),
            "BAD-VANILLA: 36 of 160 proofs rejected: partitions 0-1, 7, partition 4 indices 0, "
            "3-5, 8-9: partition 0: trunc");
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
