#include "filecoin/graph.hpp"

#include "base/error.hpp"
#include "filecoin/golden_values.hpp"
#include "filecoin/ids.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace cuzk::filecoin {
namespace {

using base::Bytes32;
using curve::Fr;

template <std::size_t N>
std::vector<std::uint32_t> list(const std::array<std::uint32_t, N>& parents) {
  return {parents.begin(), parents.end()};
}

StackedGraph graph_of(const char* proof_name) {
  const SealProofInfo& proof = info(seal_proof_from_name(proof_name));
  return StackedGraph(proof.sector_size, porep_id(proof.proof), proof.api_version);
}

TEST(StackedGraph, GoldenParents) {
  const nlohmann::json golden = cuzk::testing::golden_json("vectors.json").at("parents");
  ASSERT_GE(golden.size(), 9u);
  for (const nlohmann::json& expected : golden) {
    SCOPED_TRACE(expected.at("proof").get<std::string>());
    const SealProofInfo& proof =
        info(seal_proof_from_name(expected.at("proof").get<std::string>()));
    EXPECT_EQ(to_string(proof.api_version), expected.at("api_version"));
    EXPECT_EQ(porep_id(proof.proof), golden::bytes32(expected.at("porep_id")));
    const StackedGraph graph(proof.sector_size, porep_id(proof.proof), proof.api_version);
    EXPECT_EQ(graph.nodes(), expected.at("nodes").get<std::uint64_t>());
    EXPECT_EQ(base::to_hex(graph.drg_seed()), expected.at("drg_seed"));
    ASSERT_GE(expected.at("parents").size(), 15u);
    for (const nlohmann::json& entry : expected.at("parents")) {
      const std::uint64_t node = entry.at("node").get<std::uint64_t>();
      EXPECT_EQ(list(graph.drg_parents(node)), entry.at("drg").get<std::vector<std::uint32_t>>())
          << node;
      EXPECT_EQ(list(graph.exp_parents(node)), entry.at("exp").get<std::vector<std::uint32_t>>())
          << node;
    }
  }
}

TEST(StackedGraph, DrgParentsComeBeforeTheirNode) {
  for (const char* name : {"StackedDrg8MiBV1", "StackedDrg8MiBV1_1"}) {
    const StackedGraph graph = graph_of(name);
    const bool legacy = info(seal_proof_from_name(name)).api_version == ApiVersion::k1_0;
    for (std::uint64_t node = 1; node < 5000; ++node) {
      const auto parents = graph.drg_parents(node);
      EXPECT_LT(*std::max_element(parents.begin(), parents.end()), node) << name;
      EXPECT_EQ(parents[legacy ? kDrgParents - 1 : 0], node - 1) << name;
    }
  }
}

TEST(StackedGraph, EveryNodeIsExpanderParentEightTimes) {
  // The expander is a permutation of the edges.
  const StackedGraph graph = graph_of("StackedDrg2KiBV1_1");
  std::multiset<std::uint32_t> all;
  for (std::uint64_t node = 0; node < graph.nodes(); ++node) {
    for (const std::uint32_t parent : graph.exp_parents(node)) all.insert(parent);
  }
  EXPECT_EQ(all.size(), graph.nodes() * kExpParents);
  for (std::uint32_t node = 0; node < graph.nodes(); ++node)
    EXPECT_EQ(all.count(node), kExpParents) << node;
}

TEST(StackedGraph, NodesOutsideTheSector) {
  const StackedGraph graph = graph_of("StackedDrg2KiBV1_1");
  EXPECT_NO_THROW(graph.drg_parents(63));
  EXPECT_THROW(graph.drg_parents(64), base::InvalidInput);
  EXPECT_THROW(graph.exp_parents(64), base::InvalidInput);
}

/// All labels of a sector, layer by layer.
std::vector<std::vector<Bytes32>> all_labels(const StackedGraph& graph, const Bytes32& replica_id,
                                             unsigned layers) {
  std::vector<std::vector<Bytes32>> out;
  for (std::uint32_t layer = 1; layer <= layers; ++layer) {
    std::vector<Bytes32> labels;
    for (std::uint64_t node = 0; node < graph.nodes(); ++node) {
      std::vector<Bytes32> parents;
      if (node > 0) {
        for (const std::uint32_t parent : graph.drg_parents(node))
          parents.push_back(labels[parent]);
        if (layer > 1) {
          for (const std::uint32_t parent : graph.exp_parents(node))
            parents.push_back(out.back()[parent]);
        }
      }
      labels.push_back(create_label(replica_id, layer, node, parents));
    }
    out.push_back(std::move(labels));
  }
  return out;
}

TEST(Labels, GoldenLayers) {
  const nlohmann::json golden = cuzk::testing::golden_json("vectors.json").at("labels");
  ASSERT_GE(golden.size(), 2u);
  for (const nlohmann::json& expected : golden) {
    const StackedGraph graph = graph_of(expected.at("proof").get<std::string>().c_str());
    const auto labels = all_labels(graph, golden::bytes32(expected.at("replica_id")), 2);
    for (unsigned layer = 1; layer <= 2; ++layer) {
      const nlohmann::json& column = expected.at(layer == 1 ? "layer_1" : "layer_2");
      ASSERT_EQ(column.size(), graph.nodes());
      for (std::uint64_t node = 0; node < graph.nodes(); ++node) {
        EXPECT_EQ(labels[layer - 1][node], golden::bytes32(column[node]))
            << "layer " << layer << " node " << node;
      }
    }
  }
}

TEST(Labels, FieldElementsAndBytesAgree) {
  const Fr id = Fr::from_u64(7).inverse();
  std::vector<Fr> parents;
  std::vector<Bytes32> bytes;
  for (unsigned i = 0; i < kDrgParents + kExpParents; ++i) {
    parents.push_back(Fr::from_u64(i + 2).inverse());
    bytes.push_back(parents.back().to_bytes_le());
  }
  EXPECT_EQ(create_label(id, 2, 9, parents).to_bytes_le(),
            create_label(id.to_bytes_le(), 2, 9, bytes));
}

TEST(Labels, EveryPartOfTheMessageCounts) {
  const std::vector<Bytes32> parents(kDrgParents + kExpParents);
  const Bytes32 label = create_label(Bytes32{}, 2, 9, parents);
  EXPECT_NE(create_label(Bytes32{1}, 2, 9, parents), label);
  EXPECT_NE(create_label(Bytes32{}, 3, 9, parents), label);
  EXPECT_NE(create_label(Bytes32{}, 2, 10, parents), label);
  for (std::size_t i = 0; i < parents.size(); ++i) {
    std::vector<Bytes32> other = parents;
    other[i][0] = 1;
    EXPECT_NE(create_label(Bytes32{}, 2, 9, other), label) << "parent " << i;
  }
}

TEST(Labels, WrongNumberOfParents) {
  const Bytes32 id{};
  EXPECT_THROW(create_label(id, 0, 1, std::vector<Bytes32>(6)), base::InvalidInput);
  EXPECT_THROW(create_label(id, 1, 1, std::vector<Bytes32>(14)), base::InvalidInput);
  EXPECT_THROW(create_label(id, 1, 1, std::vector<Bytes32>(0)), base::InvalidInput);
  EXPECT_THROW(create_label(id, 2, 1, std::vector<Bytes32>(6)), base::InvalidInput);
  EXPECT_THROW(create_label(id, 1, 0, std::vector<Bytes32>(6)), base::InvalidInput);
  EXPECT_NO_THROW(create_label(id, 2, 0, std::vector<Bytes32>(0)));
}

}  // namespace
}  // namespace cuzk::filecoin
