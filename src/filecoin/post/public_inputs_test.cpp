#include "filecoin/post/public_inputs.hpp"

#include "base/error.hpp"
#include "filecoin/golden_values.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cuzk::filecoin::post {
namespace {

using curve::Fr;

TEST(PostPublicInputs, GoldenAtProductionSizes) {
  const nlohmann::json golden_all =
      cuzk::testing::golden_json("vectors.json").at("public_inputs").at("post");
  ASSERT_GE(golden_all.size(), 4u);
  for (const nlohmann::json& expected : golden_all) {
    const SectorSize size(expected.at("sector_bytes").get<std::uint64_t>());
    const base::Bytes32 randomness = golden::bytes32(expected.at("randomness"));
    std::vector<Sector> sectors;  // numbered 0, 1001, 2002, as the post_challenges vectors' are
    for (const nlohmann::json& comm_r : expected.at("comm_rs")) {
      sectors.push_back({1001 * sectors.size(), golden::fr(comm_r)});
    }
    const nlohmann::json& partition = expected.at("partition");
    const bool winning = expected.at("kind") == "Winning";
    SCOPED_TRACE(expected.at("kind").get<std::string>() + " " + size.to_string());
    const PublicInputs inputs =
        winning ? winning_public_inputs(size, randomness, sectors[0])
                : window_public_inputs(size, ApiVersion::k1_2, randomness, sectors,
                                       partition.at("k").get<unsigned>());
    const std::vector<Fr> fields = inputs.to_fields();
    const std::vector<Fr> first = golden::frs(partition.at("first"));
    ASSERT_EQ(fields.size(), partition.at("count").get<std::size_t>());
    ASSERT_GE(fields.size(), first.size());
    EXPECT_EQ(
        std::vector<Fr>(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(first.size())),
        first);
    EXPECT_EQ(golden::digest(fields), partition.at("sha256"));
  }
}

TEST(PostPublicInputs, GoldenSealedSectors) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    const std::string folder = std::string("sectors/") + sector;
    const nlohmann::json meta = cuzk::testing::golden_json(folder + "/meta.json");
    const SectorSize size(meta.at("sector_bytes").get<std::uint64_t>());
    for (const std::string artefact : {"winning", "window", "window-multi"}) {
      SCOPED_TRACE(folder + " " + artefact);
      const nlohmann::json& post = meta.at(artefact);
      const nlohmann::json partitions =
          cuzk::testing::golden_json(folder + "/" + artefact + ".inputs.json").at("partitions");
      const base::Bytes32 randomness = golden::bytes32(post.at("randomness"));
      std::vector<Sector> sectors;
      for (const nlohmann::json& entry : post.at("sectors")) {
        sectors.push_back(
            {entry.at("sector_id").get<std::uint64_t>(), golden::fr(entry.at("comm_r"))});
      }
      const bool winning = artefact == "winning";
      const ApiVersion version = parse_api_version(post.at("api_version").get<std::string>());
      ASSERT_EQ(partitions.size(), winning ? 1 : window_partition_count(size, sectors.size()));
      for (unsigned k = 0; k < partitions.size(); ++k) {
        const PublicInputs inputs =
            winning ? winning_public_inputs(size, randomness, sectors.at(0))
                    : window_public_inputs(size, version, randomness, sectors, k);
        EXPECT_EQ(inputs.to_fields(), golden::frs(partitions[k])) << "partition " << k;
      }
    }
  }
}

TEST(PostPublicInputs, GoldenRealSectorOfTheNetwork) {
  const nlohmann::json meta = cuzk::testing::golden_json("real/wpost-32GiB-one-sector.meta.json");
  const nlohmann::json witness =
      cuzk::testing::golden_json("real/wpost-32GiB-one-sector.witness.json");
  const nlohmann::json& window = meta.at("window");
  const nlohmann::json& sector = window.at("sectors").at(0);
  const std::vector<Sector> sectors = {
      {sector.at("sector_id").get<std::uint64_t>(), golden::fr(sector.at("comm_r"))}};
  // With one sector, all rules give the same challenges.
  for (const ApiVersion version : {ApiVersion::k1_0, ApiVersion::k1_1, ApiVersion::k1_2}) {
    std::vector<Fr> inputs =
        window_public_inputs(SectorSize::parse(meta.at("size").get<std::string>()), version,
                             golden::bytes32(window.at("randomness")), sectors, 0)
            .to_fields();
    inputs.insert(inputs.begin(), Fr::one());
    EXPECT_EQ(inputs.size(), witness.at("partitions").at(0).at("num_inputs").get<std::size_t>());
    EXPECT_EQ(golden::digest(inputs), witness.at("partitions").at(0).at("inputs_sha256"));
  }
}

TEST(PostPublicInputs, PaddingRepeatsTheLastSectorUnderOldRulesToo) {
  // Under API 1.0 a sector's challenges depend on its place; padding repeats them as they are.
  const SectorSize size = SectorSize::parse("2KiB");
  const std::vector<Sector> sectors = {
      {1, Fr::from_u64(1)}, {2, Fr::from_u64(2)}, {3, Fr::from_u64(3)}};
  const PublicInputs inputs =
      window_public_inputs(size, ApiVersion::k1_0, base::Bytes32{9}, sectors, 1);
  ASSERT_EQ(inputs.sectors.size(), 2u);
  EXPECT_EQ(inputs.sectors[0].comm_r, Fr::from_u64(3));
  EXPECT_EQ(inputs.sectors[1], inputs.sectors[0]);
  EXPECT_NE(inputs.sectors[0].challenges,
            window_public_inputs(size, ApiVersion::k1_2, base::Bytes32{9}, sectors, 1)
                .sectors[0]
                .challenges);
}

TEST(PostPublicInputs, PartitionsThatDoNotExist) {
  const SectorSize size = SectorSize::parse("2KiB");
  const std::vector<Sector> sectors(3);
  EXPECT_EQ(window_partition_count(size, 0), 0u);
  EXPECT_EQ(window_partition_count(size, 2), 1u);
  EXPECT_EQ(window_partition_count(size, 3), 2u);
  EXPECT_THROW(window_public_inputs(size, ApiVersion::k1_2, base::Bytes32{}, sectors, 2),
               base::InvalidInput);
  EXPECT_THROW(window_public_inputs(size, ApiVersion::k1_2, base::Bytes32{}, {}, 0),
               base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::post
