#include "filecoin/update/vanilla_check.hpp"

#include "filecoin/meta.hpp"
#include "filecoin/update/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::filecoin::update {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Fixture {
  Statement statement;
  std::vector<VanillaProof> proofs;

  std::vector<std::string> complaints() const {
    std::vector<std::string> out;
    for (const BadEntry& entry : check_vanilla_proofs(statement, proofs))
      out.push_back(to_string(entry));
    return out;
  }
};

Fixture golden(std::string_view sector) {
  const base::Bytes text = testing::golden_bytes(fmt::format("sectors/{}/meta.json", sector));
  const Meta meta = decode_meta({reinterpret_cast<const char*>(text.data()), text.size()});
  Fixture out{.statement = {.sector_size = *meta.sector_size,
                            .comm_r_old = meta.update->comm_r_old,
                            .comm_d_new = meta.update->comm_d_new,
                            .comm_r_new = meta.update->comm_r_new,
                            .h = *meta.update->h},
              .proofs = {}};
  for (const base::Bytes& blob : decode_vanilla_file(
           testing::golden_bytes(fmt::format("sectors/{}/update.vanilla.json", sector)))) {
    out.proofs.push_back(decode_vanilla_proof(blob, *meta.sector_size));
  }
  return out;
}

TEST(UpdateVanillaCheck, AcceptsTheGoldenProofs) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    Fixture fixture = golden(sector);
    EXPECT_THAT(fixture.complaints(), IsEmpty()) << sector;
    const Statement implied = implied_statement(fixture.statement.sector_size, fixture.proofs);
    EXPECT_EQ(implied.comm_r_old, fixture.statement.comm_r_old);
    EXPECT_EQ(implied.comm_d_new, fixture.statement.comm_d_new);
    EXPECT_EQ(implied.comm_r_new, fixture.statement.comm_r_new);
    EXPECT_EQ(implied.h, fixture.statement.h);
  }
}

TEST(UpdateVanillaCheck, NamesEveryBadChallenge) {
  Fixture fixture = golden("16KiB-v1_1");
  fixture.proofs[0].challenges[3].r_old.siblings[0] += curve::Fr::one();
  fixture.proofs[1].challenges[0].r_new.siblings[15] += curve::Fr::one();
  fixture.proofs[1].challenges[9].d_new.siblings[8] += curve::Fr::one();
  EXPECT_THAT(
      fixture.complaints(),
      ElementsAre(
          "partition 0, index 3: proof_r_old: the Merkle path does not reach comm_r_last_old",
          "partition 1, index 0: proof_r_new: the Merkle path does not reach comm_r_last_new",
          "partition 1, index 9: proof_d_new: the Merkle path does not reach comm_d_new"));
}

TEST(UpdateVanillaCheck, ChecksTheEncoding) {
  Fixture fixture = golden("8MiB-v1_1");
  // Another h gives other rho, but for the nodes whose high bits are the same; here all differ.
  fixture.statement.h = 9;
  EXPECT_EQ(fixture.complaints().size(), 40u);
  EXPECT_THAT(fixture.complaints(), Each(HasSubstr("proof_r_new: the leaf is not the encoding")));
  fixture.statement.h = 13;
  EXPECT_THROW(fixture.complaints(), base::InvalidInput);

  fixture = golden("2KiB-v1_1");
  fixture.proofs[0].challenges[5].d_new.leaf += curve::Fr::one();
  EXPECT_THAT(
      fixture.complaints(),
      ElementsAre("partition 0, index 5: proof_d_new: the Merkle path does not reach comm_d_new",
                  "partition 0, index 5: proof_r_new: the leaf is not the encoding of the old "
                  "replica and the "
                  "new data"));
}

TEST(UpdateVanillaCheck, ChecksTheApexLeaves) {
  // One that a path goes through, and whose row then has another root.
  Fixture fixture = golden("2KiB-v1_1");
  const std::uint64_t leaf =
      fixture.proofs[0].challenges[0].d_new.leaf_index(tree_d_shape(fixture.statement.sector_size));
  const std::size_t apex = leaf >> 3;
  fixture.proofs[0].apex_leaves[apex] += curve::Fr::one();
  const auto complaints = fixture.complaints();
  ASSERT_GE(complaints.size(), 2u);
  EXPECT_EQ(complaints[0],
            "partition 0: apex_leafs: their root is not the partition's node of tree D");
  EXPECT_EQ(
      complaints[1],
      fmt::format(
          "partition 0, index 0: proof_d_new: the Merkle path does not go through apex_leafs[{}]",
          apex));
  // One of 128 that no path of 10 challenges goes through.
  fixture = golden("32KiB-v1_1");
  std::vector<bool> used(128);
  for (const ChallengeProof& challenge : fixture.proofs[1].challenges) {
    used[challenge.d_new.leaf_index(tree_d_shape(fixture.statement.sector_size)) >> 2 & 127] = true;
  }
  const auto unused = std::find(used.begin(), used.end(), false) - used.begin();
  fixture.proofs[1].apex_leaves[static_cast<std::size_t>(unused)] += curve::Fr::one();
  EXPECT_THAT(
      fixture.complaints(),
      ElementsAre("partition 1: apex_leafs: their root is not the partition's node of tree D"));
}

TEST(UpdateVanillaCheck, ComparesTheCommitments) {
  Fixture fixture = golden("2KiB-v1_1");
  fixture.proofs[0].comm_c += curve::Fr::one();
  EXPECT_THAT(
      fixture.complaints(),
      ElementsAre(
          "partition 0: comm_r_old: no challenge states a root that hashes with comm_c to it",
          "partition 0: comm_r_new: no challenge states a root that hashes with comm_c to it"));
  // A wrong root stated by the first challenge does not hide the right one.
  fixture = golden("2KiB-v1_1");
  fixture.proofs[0].challenges[0].r_old.root += curve::Fr::one();
  EXPECT_THAT(
      fixture.complaints(),
      ElementsAre("partition 0, index 0: proof_r_old: the stated root is not comm_r_last_old"));
  fixture = golden("2KiB-v1_1");
  fixture.statement.comm_d_new += curve::Fr::one();
  EXPECT_GE(fixture.complaints().size(),
            20u);  // no path reaches it, and phi, so every rho, is another
  // Another comm_r_new asks for other leaves.
  fixture = golden("8MiB-v1_1");
  fixture.statement.comm_r_new += curve::Fr::one();
  EXPECT_THAT(fixture.complaints()[1],
              HasSubstr("partition 0, index 0: proof_r_old: the path is that of leaf"));
}

TEST(UpdateVanillaCheck, ReportsBlobsThatCannotBeDecoded) {
  const Fixture fixture = golden("32KiB-v1_1");
  auto blobs = decode_vanilla_file(testing::golden_bytes("sectors/32KiB-v1_1/update.vanilla.json"));
  EXPECT_THAT(check_vanilla_blobs(fixture.statement, blobs), IsEmpty());
  blobs[0].pop_back();
  blobs[1][0] ^= 1;  // comm_c
  const std::vector<BadEntry> entries = check_vanilla_blobs(fixture.statement, blobs);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_THAT(
      to_string(entries[0]),
      HasSubstr(
          "partition 0: challenge_proofs[9].proof_r_new: update vanilla proof: truncated at byte"));
  EXPECT_THAT(to_string(entries[1]),
              HasSubstr("partition 1: comm_r_old: no challenge states a root"));
}

TEST(UpdateVanillaCheck, ChecksOrderAndNumberOfPartitions) {
  Fixture fixture = golden("16KiB-v1_1");
  std::swap(fixture.proofs[0], fixture.proofs[1]);
  EXPECT_GE(fixture.complaints().size(), 40u);
  fixture = golden("16KiB-v1_1");
  fixture.proofs.pop_back();
  EXPECT_THAT(fixture.complaints(), ElementsAre("1 partition proofs, 2 expected"));
  fixture = golden("16KiB-v1_1");
  fixture.proofs[1].challenges.pop_back();
  EXPECT_THAT(fixture.complaints(),
              ElementsAre("partition 1: 128 apex leaves and 9 challenges, 128 and 10 expected"));
  EXPECT_THROW(implied_statement(fixture.statement.sector_size, {}), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::update
