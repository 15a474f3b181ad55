#include "filecoin/porep/vanilla_check.hpp"

#include "filecoin/meta.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace cuzk::filecoin::porep {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::string golden_text(std::string_view sector, std::string_view file) {
  const base::Bytes bytes = testing::golden_bytes(fmt::format("sectors/{}/{}", sector, file));
  return {bytes.begin(), bytes.end()};
}

PublicValues golden_values(std::string_view sector) {
  const Meta meta = decode_meta(golden_text(sector, "meta.json"));
  return {.prover_id = meta.prover_id,
          .sector_number = meta.porep->sector_number,
          .comm_r = meta.porep->comm_r,
          .comm_d = meta.porep->comm_d,
          .replica_id = meta.porep->replica_id,
          .seed = meta.porep->seed,
          .ticket = meta.porep->ticket};
}

std::vector<std::string> complaints(const SealCommitPhase1Output& output,
                                    const PublicValues& known = {}) {
  std::vector<std::string> out;
  for (const BadEntry& entry : check_vanilla_proofs(output, known)) out.push_back(to_string(entry));
  return out;
}

/// Interactive of three API versions, synthetic, non-interactive; trees of all kinds.
TEST(PorepVanillaCheck, AcceptsTheGoldenOutputs) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    const SealCommitPhase1Output output =
        decode_commit_phase1(golden_text(sector, "c1.wrapper.json"));
    EXPECT_THAT(complaints(output), IsEmpty()) << sector;
    EXPECT_THAT(complaints(output, golden_values(sector)), IsEmpty()) << sector;
  }
}

class PorepVanillaCheckDamage : public ::testing::Test {
 protected:
  using Change = std::function<void(SealCommitPhase1Output&)>;

  std::vector<std::string> with(const Change& change, const PublicValues& known = {}) const {
    SealCommitPhase1Output output = good;
    change(output);
    return complaints(output, known);
  }

  /// Of the golden sector with sub-trees.
  const SealCommitPhase1Output good =
      decode_commit_phase1(golden_text("16KiB-v1_1", "c1.wrapper.json"));
  const curve::Fr one = curve::Fr::one();
};

TEST_F(PorepVanillaCheckDamage, InPaths) {
  EXPECT_THAT(
      with([&](auto& o) { o.partitions[0][1].comm_d_inclusion.siblings[8] += one; }),
      ElementsAre(
          "partition 0, index 1 (sector 1): comm_d_proofs: the Merkle path does not reach comm_d"));
  EXPECT_THAT(with([&](auto& o) { o.partitions[0][0].comm_r_last_inclusion.siblings[20] += one; }),
              ElementsAre("partition 0, index 0 (sector 1): comm_r_last_proof: the Merkle path "
                          "does not reach comm_r_last"));
  EXPECT_THAT(
      with([&](auto& o) { o.partitions[0][0].drg_parents[3].inclusion.siblings[0] += one; }),
      ElementsAre("partition 0, index 0 (sector 1): "
                  "replica_column_proofs.drg_parents[3].inclusion_proof: the "
                  "Merkle path does not reach comm_c"));
  EXPECT_THAT(with([&](auto& o) { o.partitions[0][1].exp_parents[7].inclusion.root += one; }),
              ElementsAre("partition 0, index 1 (sector 1): "
                          "replica_column_proofs.exp_parents[7].inclusion_proof: the "
                          "stated root is not comm_c"));
  EXPECT_THAT(
      with([&](auto& o) { o.partitions[0][1].exp_parents[7].inclusion.positions[0] ^= 1; }),
      ElementsAre(
          HasSubstr("exp_parents[7].inclusion_proof: the path is that of leaf"),
          HasSubstr("exp_parents[7].inclusion_proof: the Merkle path does not reach comm_c")));
}

TEST_F(PorepVanillaCheckDamage, InLeavesAndLabels) {
  // The data node enters the encoding, too.
  EXPECT_THAT(
      with([&](auto& o) { o.partitions[0][1].comm_d_inclusion.leaf += one; }),
      ElementsAre(HasSubstr("comm_d_proofs: the Merkle path does not reach comm_d"),
                  HasSubstr("encoding_proof: data node plus last label is not the encoded node")));
  EXPECT_THAT(with([&](auto& o) { o.partitions[0][1].comm_r_last_inclusion.leaf += one; }),
              ElementsAre(HasSubstr("comm_r_last_proof: the Merkle path does not reach"),
                          HasSubstr("encoding_proof")));
  // A label of the node: its column's hash, and the label itself; of the last layer, the encoding.
  EXPECT_THAT(
      with([&](auto& o) { o.partitions[0][0].column.labels[0] += one; }),
      ElementsAre(
          HasSubstr("replica_column_proofs.c_x: the hash of the column is not its leaf in tree C"),
          HasSubstr(
              "replica_column_proofs.c_x.column.rows[0]: the label in layer 1 is not the hash")));
  EXPECT_THAT(
      with([&](auto& o) { o.partitions[0][0].column.labels[1] += one; }),
      ElementsAre(HasSubstr("c_x: the hash of the column"),
                  HasSubstr("column.rows[1]: the label in layer 2"), HasSubstr("encoding_proof")));
  // A parent's label: a DRG parent's enters its own layer, an expander parent's the layer after.
  EXPECT_THAT(with([&](auto& o) { o.partitions[0][0].drg_parents[5].labels[0] += one; }),
              ElementsAre(HasSubstr("drg_parents[5]: the hash of the column"),
                          HasSubstr("rows[0]: the label in layer 1")));
  EXPECT_THAT(with([&](auto& o) { o.partitions[0][0].exp_parents[0].labels[0] += one; }),
              ElementsAre(HasSubstr("exp_parents[0]: the hash of the column"),
                          HasSubstr("rows[1]: the label in layer 2")));
  EXPECT_THAT(
      with([&](auto& o) { o.partitions[0][0].exp_parents[0].inclusion.leaf += one; }),
      ElementsAre(
          HasSubstr("exp_parents[0].inclusion_proof: the Merkle path does not reach comm_c"),
          HasSubstr("exp_parents[0]: the hash of the column")));
}

TEST_F(PorepVanillaCheckDamage, InNodes) {
  EXPECT_THAT(with([&](auto& o) { o.partitions[0][0].challenge ^= 1; }),
              ElementsAre("partition 0, index 0 (sector 1): labeling_proofs[0].node: challenge "
                          "mismatch: node 367 opened, "
                          "366 was challenged"));
  EXPECT_THAT(
      with([&](auto& o) { o.partitions[0][0].column.node = 5; }),
      ElementsAre(HasSubstr("c_x: the column is that of node 5, node 366 is to be opened")));
  EXPECT_THAT(with([&](auto& o) { o.partitions[0][0].drg_parents[2].node = 7; }),
              ElementsAre(HasSubstr(
                  "drg_parents[2]: the column is that of node 7, node 328 is to be opened")));
  // Valid openings of other nodes are no answer.
  EXPECT_THAT(with([](auto& o) {
                std::swap(o.partitions[0][0].drg_parents[0], o.partitions[0][0].drg_parents[1]);
              }),
              SizeIs(6));
  EXPECT_THAT(with([](auto& o) { std::swap(o.partitions[0][0], o.partitions[0][1]); }),
              SizeIs(Gt(60u)));
}

TEST_F(PorepVanillaCheckDamage, InCommitmentsAndIds) {
  // The challenges depend on replica_id and seed, all labels on replica_id.
  EXPECT_THAT(with([](auto& o) { o.seed[0] ^= 1; }), SizeIs(Gt(60u)));
  EXPECT_THAT(with([&](auto& o) { o.replica_id += one; }),
              Contains(HasSubstr("the label in layer 1")));
  EXPECT_THAT(
      with([&](auto& o) { o.comm_d += one; }),
      UnorderedElementsAre(HasSubstr("index 0 (sector 1): comm_d_proofs: the Merkle path"),
                           HasSubstr("index 0 (sector 1): comm_d_proofs: the stated root"),
                           HasSubstr("index 1 (sector 1): comm_d_proofs: the Merkle path"),
                           HasSubstr("index 1 (sector 1): comm_d_proofs: the stated root")));
  EXPECT_THAT(
      with([&](auto& o) { o.comm_r += one; }),
      ElementsAre(
          "(sector 1): comm_r: no challenge states roots of trees C and R-last that hash to it"));
  // A wrong root stated by the first challenge does not hide the right one.
  EXPECT_THAT(with([&](auto& o) { o.partitions[0][0].comm_r_last_inclusion.root += one; }),
              ElementsAre(HasSubstr(
                  "index 0 (sector 1): comm_r_last_proof: the stated root is not comm_r_last")));
  // The rules of another version derive other parents.
  EXPECT_NE(
      with([](auto& o) { o.registered_proof = RegisteredSealProof::kStackedDrg32GiBV1; }).size(),
      0u);
}

TEST_F(PorepVanillaCheckDamage, AgainstKnownValues) {
  const PublicValues known = golden_values("16KiB-v1_1");
  const auto against = [&](const std::function<void(PublicValues&)>& change) {
    PublicValues changed = known;
    change(changed);
    return complaints(good, changed);
  };
  EXPECT_THAT(against([](PublicValues&) {}), IsEmpty());
  EXPECT_THAT(against([&](auto& v) { *v.comm_r += one; }),
              ElementsAre(HasSubstr("comm_r: the C1 output has another value")));
  EXPECT_THAT(against([&](auto& v) { *v.comm_d += one; }),
              ElementsAre(HasSubstr("comm_d: the C1 output")));
  EXPECT_THAT(against([&](auto& v) { *v.replica_id += one; }),
              ElementsAre(HasSubstr("replica_id: the C1 output")));
  EXPECT_THAT(against([&](auto& v) { (*v.seed)[0] ^= 1; }),
              ElementsAre(HasSubstr("seed: the C1 output")));
  EXPECT_THAT(against([&](auto& v) { (*v.ticket)[0] ^= 1; }),
              ElementsAre(HasSubstr("ticket: the C1 output")));
  EXPECT_THAT(against([&](auto& v) { v.sector_number = 2; }),
              ElementsAre(HasSubstr("SectorNum: the C1 output"),
                          HasSubstr("replica_id: it is not that of prover")));
  EXPECT_THAT(against([&](auto& v) { (*v.prover_id)[0] ^= 1; }),
              ElementsAre(HasSubstr("replica_id: it is not that of prover")));
  // The ticket enters nothing but the replica id.
  EXPECT_THAT(with([](auto& o) { o.ticket[0] ^= 1; }), IsEmpty());
  EXPECT_THAT(with([](auto& o) { o.ticket[0] ^= 1; }, {.prover_id = known.prover_id,
                                                       .sector_number = {},
                                                       .comm_r = {},
                                                       .comm_d = {},
                                                       .replica_id = {},
                                                       .seed = {},
                                                       .ticket = {}}),
              ElementsAre(HasSubstr("replica_id: it is not that of prover")));
}

/// Synthetic and non-interactive challenges depend on comm_r, so any other comm_r asks for other
/// nodes.
TEST(PorepVanillaCheck, DerivesSyntheticAndNonInteractiveChallengesFromCommR) {
  for (const char* sector : {"2KiB-v1_2-ni", "2KiB-v1_2-synth"}) {
    SealCommitPhase1Output output = decode_commit_phase1(golden_text(sector, "c1.wrapper.json"));
    output.comm_r += curve::Fr::one();
    EXPECT_THAT(complaints(output), Contains(HasSubstr("challenge mismatch"))) << sector;
  }
  SealCommitPhase1Output output =
      decode_commit_phase1(golden_text("2KiB-v1_2-ni", "c1.wrapper.json"));
  output.seed[0] ^= 1;
  EXPECT_THAT(complaints(output), IsEmpty());
  std::swap(output.partitions[3], output.partitions[4]);
  EXPECT_THAT(complaints(output),
              Contains(HasSubstr("partition 4, index 1 (sector 1): labeling_proofs[0].node")));
}

TEST(PorepVanillaCheck, RefusesOtherCounts) {
  SealCommitPhase1Output output = decode_commit_phase1(golden_text("2KiB-v1_1", "c1.wrapper.json"));
  output.partitions[0][0].drg_parents[1].labels.pop_back();
  EXPECT_THROW(complaints(output), base::InvalidInput);
  output.partitions[0].pop_back();
  EXPECT_THROW(complaints(output), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::porep
