#include "filecoin/porep/public_inputs.hpp"

#include "filecoin/golden_values.hpp"
#include "filecoin/ids.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cuzk::filecoin::porep {
namespace {

using curve::Fr;

TEST(PorepPublicInputs, GoldenAtProductionSizes) {
  const nlohmann::json golden_all =
      cuzk::testing::golden_json("vectors.json").at("public_inputs").at("porep");
  ASSERT_GE(golden_all.size(), 8u);
  for (const nlohmann::json& expected : golden_all) {
    const SealProofInfo& proof =
        info(seal_proof_from_name(expected.at("proof").get<std::string>()));
    SCOPED_TRACE(proof.name);
    const base::Bytes32 id = porep_id(proof.proof);
    const Fr comm_d = golden::fr(expected.at("comm_d"));
    const Statement statement{
        .sector_size = proof.sector_size,
        .porep_id = id,
        .api_version = proof.api_version,
        .feature = proof.feature,
        .replica_id = replica_id(golden::bytes32(expected.at("prover_id")),
                                 expected.at("sector_id").get<std::uint64_t>(),
                                 golden::bytes32(expected.at("ticket")), comm_d, id),
        .comm_d = comm_d,
        .comm_r = golden::fr(expected.at("comm_r")),
        .seed = golden::bytes32(expected.at("seed"))};
    for (const nlohmann::json& partition : expected.at("partitions")) {
      const std::vector<Fr> fields =
          public_inputs(statement, partition.at("k").get<unsigned>()).to_fields();
      const std::vector<Fr> first = golden::frs(partition.at("first"));
      ASSERT_EQ(fields.size(), partition.at("count").get<std::size_t>());
      ASSERT_GE(fields.size(), first.size());
      EXPECT_EQ(std::vector<Fr>(fields.begin(),
                                fields.begin() + static_cast<std::ptrdiff_t>(first.size())),
                first);
      EXPECT_EQ(golden::digest(fields), partition.at("sha256"));
    }
  }
}

TEST(PorepPublicInputs, GoldenSealedSectors) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    SCOPED_TRACE(sector);
    const std::string folder = std::string("sectors/") + sector;
    const nlohmann::json meta = cuzk::testing::golden_json(folder + "/meta.json");
    const nlohmann::json& porep = meta.at("porep");
    const nlohmann::json expected = cuzk::testing::golden_json(folder + "/porep.inputs.json");
    // The stand-in sizes go by the proof of a larger size; all else is their own.
    const SealProofInfo& proof =
        info(seal_proof_from_name(porep.at("registered_proof").get<std::string>()));
    const Statement statement{
        .sector_size = SectorSize(meta.at("sector_bytes").get<std::uint64_t>()),
        .porep_id = porep_id(proof.proof),
        .api_version = proof.api_version,
        .feature = proof.feature,
        .replica_id = golden::fr(porep.at("replica_id")),
        .comm_d = golden::fr(porep.at("comm_d")),
        .comm_r = golden::fr(porep.at("comm_r")),
        .seed = golden::bytes32(porep.at("seed"))};
    const nlohmann::json& partitions = expected.at("partitions");
    ASSERT_EQ(partitions.size(), porep.at("partitions").get<std::size_t>());
    const StackedGraph graph(statement.sector_size, statement.porep_id, statement.api_version);
    for (unsigned k = 0; k < partitions.size(); ++k) {
      const PublicInputs inputs = public_inputs(statement, graph, k);
      EXPECT_EQ(inputs.to_fields(), golden::frs(partitions[k])) << "partition " << k;
      EXPECT_EQ(inputs, public_inputs(statement, k));
    }
  }
}

TEST(PorepPublicInputs, EachValueHasItsPlace) {
  PublicInputs inputs{Fr::from_u64(101), Fr::from_u64(102), Fr::from_u64(103), {}};
  inputs.challenges.push_back({50, {1, 2, 3, 4, 5, 6}, {11, 12, 13, 14, 15, 16, 17, 18}});
  std::vector<Fr> expected;
  for (const unsigned value :
       {101, 102, 103, 50, 1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16, 17, 18, 50, 50, 50}) {
    expected.push_back(Fr::from_u64(value));
  }
  EXPECT_EQ(inputs.to_fields(), expected);
}

}  // namespace
}  // namespace cuzk::filecoin::porep
