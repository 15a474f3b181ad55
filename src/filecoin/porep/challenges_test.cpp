#include "filecoin/porep/challenges.hpp"

#include "filecoin/golden_values.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace cuzk::filecoin::porep {
namespace {

using curve::Fr;

TEST(PorepChallenges, Golden) {
  const nlohmann::json golden_all =
      cuzk::testing::golden_json("vectors.json").at("porep_challenges");
  ASSERT_GE(golden_all.size(), 7u);
  for (const nlohmann::json& expected : golden_all) {
    const SealProofInfo& proof =
        info(seal_proof_from_name(expected.at("proof").get<std::string>()));
    SCOPED_TRACE(proof.name);
    EXPECT_EQ(proof.sector_size.nodes(), expected.at("nodes").get<std::uint64_t>());
    EXPECT_EQ(proof.partitions, expected.at("partitions").get<unsigned>());
    for (const nlohmann::json& partition : expected.at("by_partition")) {
      const unsigned k = partition.at("k").get<unsigned>();
      EXPECT_EQ(
          challenges(proof.feature, proof.sector_size, golden::fr(expected.at("replica_id")),
                     golden::fr(expected.at("comm_r")), golden::bytes32(expected.at("seed")), k),
          partition.at("challenges").get<std::vector<std::uint64_t>>())
          << "partition " << k;
    }
  }
}

TEST(PorepChallenges, NeverTheFirstNodeAndInsideTheSector) {
  const SectorSize size = SectorSize::parse("2KiB");
  const Fr comm_r = Fr::from_u64(5);
  for (const PorepFeature feature :
       {PorepFeature::kInteractive, PorepFeature::kSynthetic, PorepFeature::kNonInteractive}) {
    std::uint64_t least = ~std::uint64_t{0}, greatest = 0;
    for (std::uint64_t id = 0; id < 100; ++id) {
      for (unsigned k = 0; k < 13; ++k) {
        const auto nodes = challenges(feature, size, Fr::from_u64(id), comm_r, base::Bytes32{}, k);
        ASSERT_EQ(nodes.size(), 2u);
        least = std::min({least, nodes[0], nodes[1]});
        greatest = std::max({greatest, nodes[0], nodes[1]});
      }
    }
    EXPECT_EQ(least, 1u);
    EXPECT_EQ(greatest, 63u);
  }
}

TEST(PorepChallenges, SyntheticOnesAreOfTheSet) {
  for (const char* name : {"2KiB", "8MiB", "32GiB"}) {
    const SectorSize size = SectorSize::parse(name);
    const Fr replica_id = Fr::from_u64(3).inverse(), comm_r = Fr::from_u64(11).inverse();
    const auto set = synthetic_challenge_set(size, replica_id, comm_r);
    EXPECT_EQ(set.size(), std::min<std::uint64_t>(size.nodes(), 1 << 18));
    for (unsigned k = 0; k < 10; ++k) {
      for (const std::uint64_t node :
           synthetic_challenges(size, replica_id, comm_r, base::Bytes32{1, 2, 3}, k)) {
        EXPECT_NE(std::find(set.begin(), set.end(), node), set.end()) << name << " partition " << k;
      }
    }
  }
}

TEST(PorepChallenges, DependOnWhatTheyShouldOnly) {
  const SectorSize size = SectorSize::parse("32GiB");
  const Fr id = Fr::from_u64(1), other = Fr::from_u64(2);
  const base::Bytes32 seed{1}, other_seed{2};
  for (const PorepFeature feature :
       {PorepFeature::kInteractive, PorepFeature::kSynthetic, PorepFeature::kNonInteractive}) {
    const auto of = [&](const Fr& replica_id, const Fr& comm_r, const base::Bytes32& with_seed,
                        unsigned k) {
      return challenges(feature, size, replica_id, comm_r, with_seed, k);
    };
    const auto reference = of(id, id, seed, 0);
    EXPECT_NE(of(other, id, seed, 0), reference);
    EXPECT_NE(of(id, id, seed, 1), reference);
    EXPECT_EQ(of(id, other, seed, 0) == reference, feature == PorepFeature::kInteractive);
    EXPECT_EQ(of(id, id, other_seed, 0) == reference, feature == PorepFeature::kNonInteractive);
  }
}

}  // namespace
}  // namespace cuzk::filecoin::porep
