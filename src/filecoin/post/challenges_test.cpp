#include "filecoin/post/challenges.hpp"

#include "base/error.hpp"
#include "filecoin/golden_values.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cuzk::filecoin::post {
namespace {

std::uint64_t number(const nlohmann::json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>()) : value.get<std::uint64_t>();
}

TEST(PostChallenges, Golden) {
  const nlohmann::json golden_all =
      cuzk::testing::golden_json("vectors.json").at("post_challenges");
  ASSERT_GE(golden_all.size(), 7u);
  std::size_t winning_cases = 0;
  for (const nlohmann::json& expected : golden_all) {
    const PostProofInfo& proof =
        info(post_proof_from_name(expected.at("proof").get<std::string>()));
    SCOPED_TRACE(proof.name);
    EXPECT_EQ(to_string(proof.api_version), expected.at("api_version"));
    const base::Bytes32 randomness = golden::bytes32(expected.at("randomness"));
    std::uint64_t position = 0;
    for (const nlohmann::json& sector : expected.at("sectors")) {
      const std::uint64_t id = number(sector.at("sector_id"));
      EXPECT_EQ(proof.winning ? winning_challenges(proof.sector_size, randomness, id)
                              : window_challenges(proof.sector_size, proof.api_version, randomness,
                                                  id, position),
                sector.at("challenges").get<std::vector<std::uint64_t>>())
          << "sector " << id;
      ++position;
    }
    if (!proof.winning) continue;
    for (const nlohmann::json& selection : expected.at("winning_sectors")) {
      EXPECT_EQ(winning_sectors(golden::bytes32(expected.at("prover_id")), randomness,
                                number(selection.at("sector_set_len"))),
                selection.at("indices").get<std::vector<std::uint64_t>>());
      ++winning_cases;
    }
  }
  EXPECT_GE(winning_cases, 8u);
}

TEST(PostChallenges, GoldenSealedSectors) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    SCOPED_TRACE(sector);
    const nlohmann::json meta =
        cuzk::testing::golden_json(std::string("sectors/") + sector + "/meta.json");
    const SectorSize size(meta.at("sector_bytes").get<std::uint64_t>());
    for (const char* artefact : {"winning", "window", "window-multi"}) {
      const nlohmann::json& post = meta.at(artefact);
      const base::Bytes32 randomness = golden::bytes32(post.at("randomness"));
      const ApiVersion version = parse_api_version(post.at("api_version").get<std::string>());
      std::uint64_t position = 0;
      for (const nlohmann::json& entry : post.at("sectors")) {
        const std::uint64_t id = entry.at("sector_id").get<std::uint64_t>();
        EXPECT_EQ(artefact == std::string("winning")
                      ? winning_challenges(size, randomness, id)
                      : window_challenges(size, version, randomness, id, position),
                  entry.at("challenges").get<std::vector<std::uint64_t>>())
            << artefact << " sector " << id;
        ++position;
      }
      if (artefact == std::string("winning")) {
        EXPECT_EQ(winning_sectors(golden::bytes32(meta.at("prover_id")), randomness, 1),
                  post.at("winning_sector_indices").get<std::vector<std::uint64_t>>());
      }
    }
  }
}

TEST(PostChallenges, PositionMattersUpToApi1_1Only) {
  const SectorSize size = SectorSize::parse("32GiB");
  const base::Bytes32 randomness{7};
  const auto of = [&](ApiVersion version, std::uint64_t position) {
    return window_challenges(size, version, randomness, 4711, position);
  };
  EXPECT_NE(of(ApiVersion::k1_0, 0), of(ApiVersion::k1_0, 1));
  EXPECT_NE(of(ApiVersion::k1_1, 0), of(ApiVersion::k1_1, 1));
  EXPECT_EQ(of(ApiVersion::k1_2, 0), of(ApiVersion::k1_2, 1));
  EXPECT_EQ(of(ApiVersion::k1_0, 0), of(ApiVersion::k1_2, 9));
  EXPECT_EQ(of(ApiVersion::k1_0, 3)[2], leaf_challenge(size, randomness, 4711, 32));
}

TEST(PostChallenges, SeveralWinningSectors) {
  const auto selected = winning_sectors(base::Bytes32{1}, base::Bytes32{2}, 1000, 3);
  ASSERT_EQ(selected.size(), 3u);
  EXPECT_EQ(selected[0], winning_sectors(base::Bytes32{1}, base::Bytes32{2}, 1000)[0]);
  EXPECT_NE(selected[0], selected[1]);
  for (const std::uint64_t index : selected) EXPECT_LT(index, 1000u);
  EXPECT_THROW(winning_sectors(base::Bytes32{}, base::Bytes32{}, 0), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::post
