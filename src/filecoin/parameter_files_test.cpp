#include "filecoin/parameter_files.hpp"

#include "base/error.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

namespace cuzk::filecoin {
namespace {

TEST(ParameterFiles, GoldenNamesAndPublishedDigests) {
  const nlohmann::json golden = cuzk::testing::golden_json("vectors.json").at("parameter_files");
  std::set<std::string> seen;
  for (const nlohmann::json& expected : golden) {
    const CircuitKind kind = parse_circuit_kind(expected.at("circuit").get<std::string>());
    const SectorSize size = SectorSize::parse(expected.at("size").get<std::string>());
    EXPECT_TRUE(circuit_exists(kind, size));
    EXPECT_EQ(params_file_name(kind, size), expected.at("params"));
    EXPECT_EQ(vk_file_name(kind, size), expected.at("vk"));
    const auto digests = published_digests(kind, size);
    EXPECT_EQ(digests.has_value(), !expected.at("published_blake2b").is_null())
        << params_file_name(kind, size);
    if (digests) {
      EXPECT_EQ(digests->params, expected.at("published_blake2b"));
    }
    seen.insert(params_file_name(kind, size));
  }
  std::size_t existing = 0;
  for (const CircuitKind kind : all_circuit_kinds()) {
    for (const SectorSize size : SectorSize::all()) existing += circuit_exists(kind, size);
  }
  EXPECT_EQ(seen.size(), existing) << "golden covers every circuit";
}

TEST(ParameterFiles, GoldenCacheIdsOfTheCircuits) {
  std::size_t count = 0;
  for (const auto& [kind, file] :
       {std::pair{CircuitKind::kPorep, "porep"}, std::pair{CircuitKind::kWinningPost, "winning"},
        std::pair{CircuitKind::kWindowPost, "window"}, std::pair{CircuitKind::kUpdate, "update"},
        std::pair{CircuitKind::kUpdatePoseidon, "update-poseidon"}}) {
    for (const SectorSize size : SectorSize::all()) {
      if (!circuit_exists(kind, size)) continue;
      const std::string name = std::string("r1cs/") + file + "-" + size.to_string() + ".json";
      EXPECT_EQ(cache_id(kind, size), cuzk::testing::golden_json(name).at("cache_id")) << name;
      ++count;
    }
  }
  EXPECT_EQ(count, 48u);
}

TEST(ParameterFiles, GoldenCacheIdsOfTheSealedSectors) {
  for (const char* size : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth", "16KiB-v1_1",
                           "32KiB-v1_1", "8MiB-v1_1"}) {
    const std::string folder = std::string("sectors/") + size;
    const SectorSize sector_size = SectorSize::parse(
        cuzk::testing::golden_json(folder + "/meta.json").at("size").get<std::string>());
    for (const std::string artefact : {"porep", "winning", "window", "update"}) {
      const std::string name = folder + "/" + artefact + ".inputs.json";
      EXPECT_EQ(cache_id(parse_circuit_kind(artefact), sector_size),
                cuzk::testing::golden_json(name).at("cache_id"))
          << name;
    }
  }
}

TEST(ParameterFiles, EveryPublishedDigestIs16BytesOfHex) {
  std::set<std::string_view> different;
  std::size_t count = 0;
  for (const CircuitKind kind : all_circuit_kinds()) {
    for (const SectorSize size : SectorSize::all()) {
      const auto digests = published_digests(kind, size);
      if (!digests) continue;
      ++count;
      for (const std::string_view digest : {digests->params, digests->vk}) {
        EXPECT_EQ(base::from_hex(digest).value().size(), 16u);
        different.insert(digest);
      }
    }
  }
  EXPECT_EQ(count, 22u);
  EXPECT_EQ(different.size(), 44u);
}

TEST(ParameterFiles, NamesOfCircuits) {
  for (const CircuitKind kind : all_circuit_kinds())
    EXPECT_EQ(parse_circuit_kind(to_string(kind)), kind);
  EXPECT_EQ(to_string(CircuitKind::kWinningPost), "winning-post");
  EXPECT_EQ(parse_circuit_kind("window"), CircuitKind::kWindowPost);
  for (const char* name : {"", "Porep", "porep ", "snap", "update_poseidon"}) {
    EXPECT_THROW(parse_circuit_kind(name), base::InvalidInput) << name;
  }
}

TEST(ParameterFiles, NoUpdateOf1GiB) {
  const SectorSize size = SectorSize::parse("1GiB");
  for (const CircuitKind kind : {CircuitKind::kUpdate, CircuitKind::kUpdatePoseidon}) {
    EXPECT_FALSE(circuit_exists(kind, size));
    EXPECT_THROW(cache_id(kind, size), base::InvalidInput);
    EXPECT_THROW(params_file_name(kind, size), base::InvalidInput);
    EXPECT_THROW(parameter_identifier(kind, size), base::InvalidInput);
    EXPECT_FALSE(published_digests(kind, size).has_value());
  }
  EXPECT_TRUE(circuit_exists(CircuitKind::kPorep, size));
}

TEST(ParameterFiles, IdentifierOf32GiBPorep) {
  EXPECT_EQ(parameter_identifier(CircuitKind::kPorep, SectorSize::parse("32GiB")),
            "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: "
            "8 base_graph: "
            "drgraph::BucketGraph{size: 1073741824; degree: 6; hasher: poseidon_hasher} }, "
            "challenges: LayerChallenges "
            "{ layers: 11, max_count: 18 }, tree: merkletree-poseidon_hasher-8-8-0 }");
}

}  // namespace
}  // namespace cuzk::filecoin
