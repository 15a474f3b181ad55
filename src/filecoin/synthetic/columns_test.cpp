#include "filecoin/synthetic/columns.hpp"

#include "filecoin/golden_values.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/vanilla_codec.hpp"
#include "filecoin/synthetic/sparse_tree.hpp"
#include "hash/poseidon.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace cuzk::filecoin::synthetic {
namespace {

using curve::Fr;

StackedGraph graph_of(RegisteredSealProof proof, SectorSize size) {
  return StackedGraph(size, porep_id(proof), info(proof).api_version);
}

TEST(Columns, OfSectorAreTheGoldenLabels) {
  const nlohmann::json golden = cuzk::testing::golden_json("vectors.json").at("labels");
  ASSERT_EQ(golden.size(), 2u);
  for (const nlohmann::json& expected : golden) {
    const RegisteredSealProof proof = seal_proof_from_name(expected.at("proof").get<std::string>());
    const Columns columns = Columns::of_sector(graph_of(proof, info(proof).sector_size),
                                               golden::fr(expected.at("replica_id")), 2);
    ASSERT_EQ(columns.nodes().size(), 64u);
    for (std::uint64_t node = 0; node < 64; ++node) {
      const auto column = columns.column(node);
      ASSERT_EQ(column.size(), 2u);
      EXPECT_EQ(column[0], golden::fr(expected.at("layer_1").at(node))) << node;
      EXPECT_EQ(column[1], golden::fr(expected.at("layer_2").at(node))) << node;
    }
  }
}

/// Really sealed sectors: labels do not depend on the data, so the replica id alone must give the
/// columns that the golden proofs open, and all of them together tree C.
TEST(Columns, OfSectorAndTheirTreeAreThoseOfSealedSectors) {
  for (const char* folder :
       {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-synth", "2KiB-v1_2-ni", "16KiB-v1_1", "32KiB-v1_1"}) {
    SCOPED_TRACE(folder);
    const SectorSize size =
        SectorSize::parse(std::string(folder, std::string_view(folder).find('-')));
    const base::Bytes text =
        cuzk::testing::golden_bytes(std::string("sectors/") + folder + "/c1.json");
    const auto sealed = porep::decode_commit_phase1(
        {reinterpret_cast<const char*>(text.data()), text.size()}, size);
    const Columns columns = Columns::of_sector(graph_of(sealed.registered_proof, size),
                                               sealed.replica_id, porep_shape(size).layers);
    std::vector<Leaf> leaves;
    for (const std::uint64_t node : columns.nodes()) {
      leaves.push_back(
          {node, hash::poseidon(hash::merkle_domain(columns.layers()), columns.column(node))});
    }
    const SparseTree tree_c(tree_r_shape(size), NodeHash::kPoseidon, leaves, RandomSource(0));

    std::set<std::uint64_t> opened;
    const auto expect_column = [&](const porep::ColumnProof& expected) {
      opened.insert(expected.node);
      const auto column = columns.column(expected.node);
      EXPECT_EQ(std::vector<Fr>(column.begin(), column.end()), expected.labels) << expected.node;
      EXPECT_EQ(tree_c.prove(expected.node), expected.inclusion) << expected.node;
    };
    for (const auto& partition : sealed.partitions) {
      for (const porep::VanillaProof& proof : partition) {
        expect_column(proof.column);
        for (const porep::ColumnProof& parent : proof.drg_parents) expect_column(parent);
        for (const porep::ColumnProof& parent : proof.exp_parents) expect_column(parent);
      }
    }
    EXPECT_GE(opened.size(), 15u) << "too few columns were compared";
  }
}

class OpenedColumns : public ::testing::Test {
 protected:
  static constexpr unsigned kLayers = 3;

  SectorSize size_ = SectorSize::parse("32KiB");
  StackedGraph graph_ = graph_of(RegisteredSealProof::kStackedDrg64GiBV1_1, size_);
  Fr replica_id_ = Fr::from_u64(12345);

  /// The label that the parents' labels among `columns` give.
  Fr label_from_parents(const Columns& columns, unsigned layer, std::uint64_t node) const {
    std::vector<Fr> parents;
    for (const std::uint32_t parent : graph_.drg_parents(node))
      parents.push_back(columns.column(parent)[layer - 1]);
    if (layer > 1) {
      for (const std::uint32_t parent : graph_.exp_parents(node))
        parents.push_back(columns.column(parent)[layer - 2]);
    }
    return create_label(replica_id_, layer, node, parents);
  }
};

TEST_F(OpenedColumns, ChallengedLabelsFollowFromTheirParentsEvenWhereTheseAreChallengedToo) {
  // Neighbours: each is a DRG parent of the next. An expander parent of the first is challenged as
  // well.
  std::vector<std::uint64_t> challenges = {500, 501, 502, 1, 501, size_.nodes() - 1};
  challenges.push_back(graph_.exp_parents(500)[0]);
  ASSERT_NE(challenges.back(), 0u);
  const Columns columns =
      Columns::of_openings(graph_, replica_id_, kLayers, challenges, RandomSource(1));
  std::set<std::uint64_t> needed(challenges.begin(), challenges.end());
  for (const std::uint64_t challenge : challenges) {
    for (unsigned layer = 1; layer <= kLayers; ++layer) {
      EXPECT_EQ(columns.column(challenge)[layer - 1], label_from_parents(columns, layer, challenge))
          << challenge << " layer " << layer;
    }
    for (const std::uint32_t parent : graph_.drg_parents(challenge)) needed.insert(parent);
    for (const std::uint32_t parent : graph_.exp_parents(challenge)) needed.insert(parent);
  }
  EXPECT_EQ(columns.nodes(), std::vector<std::uint64_t>(needed.begin(), needed.end()));
  EXPECT_LT(columns.nodes().size(), size_.nodes() / 4) << "the sample opens nearly all nodes";
}

TEST_F(OpenedColumns, OtherLabelsAreRandomAndBelowTwoTo254) {
  const std::vector<std::uint64_t> challenges = {700};
  const Columns columns =
      Columns::of_openings(graph_, replica_id_, kLayers, challenges, RandomSource(1));
  const Columns others =
      Columns::of_openings(graph_, replica_id_, kLayers, challenges, RandomSource(2));
  std::set<base::Bytes32> labels;
  for (const std::uint64_t node : columns.nodes()) {
    for (unsigned layer = 0; layer < kLayers; ++layer) {
      const base::Bytes32 bytes = columns.column(node)[layer].to_bytes_le();
      EXPECT_LT(bytes[31], 0x40);
      labels.insert(bytes);
      EXPECT_NE(columns.column(node)[layer], others.column(node)[layer]);
    }
  }
  EXPECT_EQ(labels.size(), columns.nodes().size() * kLayers);
}

}  // namespace
}  // namespace cuzk::filecoin::synthetic
