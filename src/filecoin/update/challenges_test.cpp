#include "filecoin/update/challenges.hpp"

#include "base/error.hpp"
#include "filecoin/golden_values.hpp"
#include "filecoin/update/randomness.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace cuzk::filecoin::update {
namespace {

using curve::Fr;

TEST(UpdateChallenges, GoldenOfAllSizes) {
  const nlohmann::json golden_all = cuzk::testing::golden_json("vectors.json").at("update");
  ASSERT_GE(golden_all.size(), 11u);
  for (const nlohmann::json& expected : golden_all) {
    const std::uint64_t nodes = expected.at("nodes").get<std::uint64_t>();
    SCOPED_TRACE(nodes);
    const Fr comm_r_new = golden::fr(expected.at("comm_r_new"));
    ChallengeShape shape{static_cast<unsigned>(std::countr_zero(nodes)),
                         expected.at("partitions").get<unsigned>(),
                         expected.at("challenge_count").get<unsigned>()};
    for (const nlohmann::json& partition : expected.at("challenges")) {
      EXPECT_EQ(challenges(shape, comm_r_new, partition.at("k").get<unsigned>()),
                partition.at("challenges").get<std::vector<std::uint64_t>>());
    }
    shape.partitions = 1;
    shape.count = expected.at("challenge_count_poseidon").get<unsigned>();
    std::vector<std::uint64_t> poseidon = challenges(shape, comm_r_new, 0);
    const auto first = expected.at("challenges_poseidon").get<std::vector<std::uint64_t>>();
    ASSERT_GE(poseidon.size(), first.size());
    poseidon.resize(first.size());
    EXPECT_EQ(poseidon, first);
  }
}

TEST(UpdateChallenges, ShapesOfTheSizesThatCanBeProved) {
  const nlohmann::json golden_all = cuzk::testing::golden_json("vectors.json").at("update");
  std::size_t sizes = 0;
  for (const nlohmann::json& expected : golden_all) {
    const std::uint64_t nodes = expected.at("nodes").get<std::uint64_t>();
    if (nodes == 32 || nodes == 256) continue;  // 1 KiB and 8 KiB are in the reference's tests only
    const SectorSize size(nodes * kNodeBytes);
    SCOPED_TRACE(size.to_string());
    const UpdateShape shape = update_shape(size);
    EXPECT_EQ(shape.partitions, expected.at("partitions").get<unsigned>());
    EXPECT_EQ(shape.challenges_per_partition, expected.at("challenge_count").get<unsigned>());
    EXPECT_EQ(shape.apex_leaves, expected.at("apex_leaf_count").get<unsigned>());
    EXPECT_EQ(shape.h_default, expected.at("h").get<unsigned>());
    EXPECT_EQ((std::vector<unsigned>(shape.h_choices.begin(), shape.h_choices.end())),
              expected.at("hs").get<std::vector<unsigned>>());
    EXPECT_EQ(h_select(shape, shape.h_default), expected.at("h_select").get<std::uint64_t>());
    const Fr comm_r_new = golden::fr(expected.at("comm_r_new"));
    const nlohmann::json& last = expected.at("challenges").back();
    EXPECT_EQ(challenges(size, comm_r_new, last.at("k").get<unsigned>()),
              last.at("challenges").get<std::vector<std::uint64_t>>());
    EXPECT_EQ(poseidon_challenges(size, comm_r_new).size(),
              expected.at("challenge_count_poseidon").get<std::size_t>());
    ++sizes;
  }
  EXPECT_EQ(sizes, 9u);
}

TEST(UpdateRandomness, GoldenPhiAndRho) {
  const nlohmann::json golden_all = cuzk::testing::golden_json("vectors.json").at("update");
  ASSERT_GE(golden_all.size(), 11u);
  for (const nlohmann::json& expected : golden_all) {
    const Fr value =
        phi(golden::fr(expected.at("comm_d_new")), golden::fr(expected.at("comm_r_old")));
    EXPECT_EQ(value, golden::fr(expected.at("phi")));
    ASSERT_GE(expected.at("rhos").size(), 3u);
    for (const nlohmann::json& entry : expected.at("rhos")) {
      EXPECT_EQ(rho(value, entry.at("high").get<std::uint64_t>()), golden::fr(entry.at("rho")));
    }
  }
}

TEST(UpdateRandomness, HighBits) {
  EXPECT_EQ(high_bits(0, 30, 10), 0u);
  EXPECT_EQ(high_bits((std::uint64_t{1} << 30) - 1, 30, 10), 1023u);
  EXPECT_EQ(high_bits(std::uint64_t{1} << 20, 30, 10), 1u);
  EXPECT_EQ(high_bits(31, 6, 1), 0u);
  EXPECT_EQ(high_bits(32, 6, 1), 1u);
}

TEST(UpdateRandomness, HSelect) {
  const UpdateShape production = update_shape(SectorSize::parse("32GiB"));
  for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(h_select(production, 7 + i), 1u << i);
  EXPECT_THROW(h_select(production, 6), base::InvalidInput);
  EXPECT_THROW(h_select(production, 13), base::InvalidInput);
  EXPECT_THROW(h_select(update_shape(SectorSize::parse("2KiB")), 10), base::InvalidInput);
}

TEST(UpdateChallenges, LieInTheirPartition) {
  const SectorSize size = SectorSize::parse("64GiB");
  const std::uint64_t part = size.nodes() / 16;
  for (unsigned k = 0; k < 16; ++k) {
    const auto nodes = challenges(size, Fr::from_u64(77).inverse(), k);
    EXPECT_EQ(nodes.size(), 86u);
    for (const std::uint64_t node : nodes) EXPECT_EQ(node / part, k);
  }
  EXPECT_THROW(challenges(size, Fr::one(), 16), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::update
