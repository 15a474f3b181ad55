#include "filecoin/ids.hpp"

#include "filecoin/golden_values.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cuzk::filecoin {
namespace {

nlohmann::json vectors(const char* group) {
  return cuzk::testing::golden_json("vectors.json").at(group);
}

TEST(Ids, GoldenProverIds) {
  const nlohmann::json golden = vectors("prover_ids");
  ASSERT_GE(golden.size(), 7u);
  for (const nlohmann::json& entry : golden) {
    const std::uint64_t miner = std::stoull(entry.at("miner").get<std::string>());
    EXPECT_EQ(base::to_hex(prover_id(miner)), entry.at("prover_id")) << "miner " << miner;
  }
}

TEST(Ids, GoldenReplicaIds) {
  const nlohmann::json golden = vectors("replica_ids");
  ASSERT_GE(golden.size(), 4u);
  for (const nlohmann::json& entry : golden) {
    const std::uint64_t sector = entry.at("sector_id").is_string()
                                     ? std::stoull(entry.at("sector_id").get<std::string>())
                                     : entry.at("sector_id").get<std::uint64_t>();
    EXPECT_EQ(replica_id(golden::bytes32(entry.at("prover_id")), sector,
                         golden::bytes32(entry.at("ticket")), golden::fr(entry.at("comm_d")),
                         golden::bytes32(entry.at("porep_id"))),
              golden::fr(entry.at("replica_id")));
  }
}

TEST(Ids, GoldenCommR) {
  const nlohmann::json golden = vectors("comm_r");
  ASSERT_GE(golden.size(), 3u);
  for (const nlohmann::json& entry : golden) {
    EXPECT_EQ(comm_r(golden::fr(entry.at("comm_c")), golden::fr(entry.at("comm_r_last"))),
              golden::fr(entry.at("comm_r")));
  }
}

TEST(Ids, NonceFollowsTheNumberInPorepId) {
  const base::Bytes32 id = porep_id(RegisteredSealProof::kStackedDrg64GiBV1_1, 0x0807060504030201);
  EXPECT_EQ(base::to_hex(id), "09000000000000000102030405060708" + std::string(32, '0'));
}

TEST(Ids, SealedSectorsReplicaIds) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    const nlohmann::json meta =
        cuzk::testing::golden_json(std::string("sectors/") + sector + "/meta.json");
    const nlohmann::json& porep = meta.at("porep");
    const base::Bytes32 prover = prover_id(meta.at("miner_id").get<std::uint64_t>());
    EXPECT_EQ(base::to_hex(prover), meta.at("prover_id")) << sector;
    const RegisteredSealProof proof =
        seal_proof_from_name(porep.at("registered_proof").get<std::string>());
    EXPECT_EQ(base::to_hex(porep_id(proof)), porep.at("porep_id")) << sector;
    EXPECT_EQ(replica_id(prover, porep.at("sector_id").get<std::uint64_t>(),
                         golden::bytes32(porep.at("ticket")), golden::fr(porep.at("comm_d")),
                         porep_id(proof)),
              golden::fr(porep.at("replica_id")))
        << sector;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
