#include "filecoin/update/public_inputs.hpp"

#include "base/error.hpp"
#include "filecoin/golden_values.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cuzk::filecoin::update {
namespace {

using curve::Fr;

Statement statement_of(SectorSize size, const nlohmann::json& values) {
  return {size, golden::fr(values.at("comm_r_old")), golden::fr(values.at("comm_d_new")),
          golden::fr(values.at("comm_r_new")), values.at("h").get<unsigned>()};
}

TEST(UpdatePublicInputs, GoldenUpdatedSectors) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    SCOPED_TRACE(sector);
    const std::string folder = std::string("sectors/") + sector;
    const nlohmann::json meta = cuzk::testing::golden_json(folder + "/meta.json");
    const nlohmann::json partitions =
        cuzk::testing::golden_json(folder + "/update.inputs.json").at("partitions");
    const Statement statement =
        statement_of(SectorSize(meta.at("sector_bytes").get<std::uint64_t>()), meta.at("update"));
    ASSERT_EQ(partitions.size(), meta.at("update").at("partitions").get<std::size_t>());
    for (unsigned k = 0; k < partitions.size(); ++k) {
      EXPECT_EQ(public_inputs(statement, k).to_fields(), golden::frs(partitions[k]))
          << "partition " << k;
    }
  }
}

TEST(UpdatePublicInputs, SelectionStandsAboveThePartition) {
  const Fr one = Fr::one();
  Statement statement{SectorSize::parse("32GiB"), one, one, one, 10};
  EXPECT_EQ(public_inputs(statement, 5).k_and_h_select, 5u | 8u << 4);
  EXPECT_EQ(poseidon_public_inputs(statement).k_and_h_select, 8u);
  EXPECT_EQ(poseidon_public_inputs(statement).to_fields()[0], Fr::from_u64(8));
  statement.h = 12;
  EXPECT_EQ(public_inputs(statement, 15).k_and_h_select, 15u | 32u << 4);
}

TEST(UpdatePublicInputs, WrongPartitionOrH) {
  const Fr one = Fr::one();
  Statement statement{SectorSize::parse("8MiB"), one, one, one, 10};
  EXPECT_NO_THROW(public_inputs(statement, 3));
  EXPECT_THROW(public_inputs(statement, 4), base::InvalidInput);
  statement.h = 1;
  EXPECT_THROW(public_inputs(statement, 0), base::InvalidInput);
  EXPECT_THROW(poseidon_public_inputs(statement), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::update
