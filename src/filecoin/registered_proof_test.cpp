#include "filecoin/registered_proof.hpp"

#include "base/error.hpp"
#include "filecoin/golden_values.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/parameter_files.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cuzk::filecoin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

nlohmann::json registered(const char* kind) {
  return cuzk::testing::golden_json("vectors.json").at("registered").at(kind);
}

TEST(RegisteredSealProof, Golden) {
  const nlohmann::json golden = registered("seal");
  ASSERT_EQ(golden.size(), all_seal_proofs().size());
  for (std::size_t number = 0; number < golden.size(); ++number) {
    const nlohmann::json& expected = golden[number];
    SCOPED_TRACE(expected.at("proof").get<std::string>());
    const RegisteredSealProof proof = seal_proof_from_number(number);
    const SealProofInfo& actual = info(proof);
    EXPECT_EQ(actual.proof, proof);
    EXPECT_EQ(static_cast<std::size_t>(proof), number);
    EXPECT_EQ(actual.name, expected.at("proof"));
    EXPECT_EQ(seal_proof_from_name(actual.name), proof);
    EXPECT_EQ(actual.sector_size.bytes(), expected.at("sector_bytes").get<std::uint64_t>());
    EXPECT_EQ(to_string(actual.api_version), expected.at("api_version"));
    EXPECT_EQ(actual.partitions, expected.at("partitions").get<unsigned>());
    EXPECT_EQ(actual.minimum_challenges, expected.at("minimum_challenges").get<unsigned>());
    const unsigned per_partition = porep_shape(actual.sector_size).challenges_per_partition;
    EXPECT_EQ(per_partition, expected.at("challenges_per_partition").get<unsigned>());
    EXPECT_GE(actual.partitions * per_partition, actual.minimum_challenges);
    nlohmann::json features = nlohmann::json::array();
    if (actual.feature == PorepFeature::kSynthetic) features.push_back("synthetic-porep");
    if (actual.feature == PorepFeature::kNonInteractive)
      features.push_back("non-interactive-porep");
    EXPECT_EQ(features, expected.at("features"));
    EXPECT_EQ(base::to_hex(porep_id(proof)), expected.at("porep_id"));
    EXPECT_EQ(cache_id(CircuitKind::kPorep, actual.sector_size), expected.at("circuit_identifier"));
    EXPECT_EQ(seal_proof(actual.sector_size, actual.api_version, actual.feature), proof);
  }
}

TEST(RegisteredPoStProof, Golden) {
  const nlohmann::json golden = registered("post");
  ASSERT_GE(golden.size(), 12u);
  for (const nlohmann::json& expected : golden) {
    SCOPED_TRACE(expected.at("proof").get<std::string>());
    const PostProofInfo& actual =
        info(post_proof_from_name(expected.at("proof").get<std::string>()));
    EXPECT_EQ(actual.name, expected.at("proof"));
    EXPECT_EQ(actual.sector_size.bytes(), expected.at("sector_bytes").get<std::uint64_t>());
    EXPECT_EQ(to_string(actual.api_version), expected.at("api_version"));
    EXPECT_EQ(actual.winning ? kWinningPostChallenges : kWindowPostChallenges,
              expected.at("challenge_count").get<unsigned>());
    EXPECT_EQ(actual.winning ? 1 : window_post_sector_count(actual.sector_size),
              expected.at("sector_count").get<unsigned>());
    EXPECT_EQ(cache_id(actual.winning ? CircuitKind::kWinningPost : CircuitKind::kWindowPost,
                       actual.sector_size),
              expected.at("circuit_identifier"));
    EXPECT_EQ(actual.winning ? winning_post_proof(actual.sector_size)
                             : window_post_proof(actual.sector_size, actual.api_version),
              actual.proof);
  }
}

TEST(RegisteredPoStProof, NumbersOfTheWire) {
  ASSERT_EQ(all_post_proofs().size(), 15u);
  for (std::uint64_t number = 0; number < 15; ++number) {
    const PostProofInfo& entry = info(post_proof_from_number(number));
    EXPECT_EQ(static_cast<std::uint64_t>(entry.proof), number);
    EXPECT_EQ(entry.winning, number < 5);
    EXPECT_EQ(entry.api_version, number < 10 ? ApiVersion::k1_0 : ApiVersion::k1_2);
    EXPECT_EQ(entry.sector_size, info(seal_proof_from_number(number % 5)).sector_size);
    EXPECT_EQ(post_proof_from_name(entry.name), entry.proof);
  }
  EXPECT_EQ(post_proof_from_number(8), RegisteredPoStProof::kStackedDrgWindow32GiBV1);
  EXPECT_EQ(post_proof_from_name("StackedDrgWindow32GiBV1_1"),
            RegisteredPoStProof::kStackedDrgWindow32GiBV1_2);
}

TEST(RegisteredUpdateProof, Golden) {
  const nlohmann::json golden = registered("update");
  ASSERT_EQ(golden.size(), all_update_proofs().size());
  for (std::size_t number = 0; number < golden.size(); ++number) {
    const nlohmann::json& expected = golden[number];
    const UpdateProofInfo& actual = info(update_proof_from_number(number));
    EXPECT_EQ(static_cast<std::size_t>(actual.proof), number);
    EXPECT_EQ(actual.name, expected.at("proof"));
    EXPECT_EQ(update_proof_from_name(actual.name), actual.proof);
    EXPECT_EQ(update_proof(actual.sector_size), actual.proof);
    EXPECT_EQ(actual.sector_size.bytes(), expected.at("sector_bytes").get<std::uint64_t>());
    EXPECT_EQ(actual.sector_size.nodes(), expected.at("nodes").get<std::uint64_t>());
    EXPECT_EQ(update_shape(actual.sector_size).partitions,
              expected.at("partitions").get<unsigned>());
    EXPECT_EQ(update_shape(actual.sector_size).h_default, expected.at("h").get<unsigned>());
  }
}

TEST(RegisteredProof, VanillaKeyIsTheSizesV1Name) {
  for (const SealProofInfo& entry : all_seal_proofs()) {
    EXPECT_EQ(entry.vanilla_key, info(seal_proof(entry.sector_size, ApiVersion::k1_0)).name);
  }
}

/// Text of the InvalidInput that `action` throws.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const base::InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

TEST(RegisteredProof, UnknownNumbersNameTheKnownOnes) {
  EXPECT_THAT(error_of([] { seal_proof_from_number(20); }),
              AllOf(HasSubstr("seal proof 20"),
                    HasSubstr("19 StackedDrg64GiBV1_2_Feat_NonInteractivePoRep")));
  EXPECT_THAT(error_of([] { post_proof_from_number(15); }),
              HasSubstr("14 StackedDrgWindow64GiBV1_2"));
  EXPECT_THAT(error_of([] { update_proof_from_number(5); }), HasSubstr("4 StackedDrg64GiBV1"));
  EXPECT_THAT(error_of([] { seal_proof_from_number(~std::uint64_t{0}); }), HasSubstr("is unknown"));
}

TEST(RegisteredProof, NoInfoOfWhatIsNoEnumerator) {
  EXPECT_THROW(info(static_cast<RegisteredSealProof>(20)), base::InvalidInput);
  EXPECT_THROW(info(static_cast<RegisteredPoStProof>(15)), base::InvalidInput);
  EXPECT_THROW(info(static_cast<RegisteredUpdateProof>(5)), base::InvalidInput);
}

TEST(RegisteredProof, UnknownNamesNameTheKnownOnes) {
  EXPECT_THAT(error_of([] { seal_proof_from_name("StackedDrg16GiBV1"); }),
              AllOf(HasSubstr("StackedDrg16GiBV1"), HasSubstr("0 StackedDrg2KiBV1")));
  for (const char* name :
       {"", "StackedDrg2KiBV1 ", "stackeddrg2kibv1", "StackedDrgWinning2KiBV1_1"}) {
    EXPECT_THROW(seal_proof_from_name(name), base::InvalidInput) << name;
    EXPECT_THROW(post_proof_from_name(name), base::InvalidInput) << name;
    EXPECT_THROW(update_proof_from_name(name), base::InvalidInput) << name;
  }
}

TEST(RegisteredProof, CombinationsThatDoNotExist) {
  const SectorSize small = SectorSize::parse("2KiB"), odd = SectorSize::parse("16KiB");
  EXPECT_THROW(seal_proof(odd, ApiVersion::k1_1), base::InvalidInput);
  EXPECT_THROW(seal_proof(small, ApiVersion::k1_2), base::InvalidInput);
  EXPECT_THROW(seal_proof(small, ApiVersion::k1_1, PorepFeature::kSynthetic), base::InvalidInput);
  EXPECT_THROW(winning_post_proof(odd), base::InvalidInput);
  EXPECT_THROW(window_post_proof(small, ApiVersion::k1_1), base::InvalidInput);
  EXPECT_THROW(update_proof(odd), base::InvalidInput);
  EXPECT_THAT(error_of([&] { seal_proof(small, ApiVersion::k1_2); }),
              HasSubstr("interactive PoRep of API 1.2.0 for 2KiB"));
}

TEST(ApiVersion, TextRoundTripsAndOthersAreRejected) {
  for (const ApiVersion version : {ApiVersion::k1_0, ApiVersion::k1_1, ApiVersion::k1_2}) {
    EXPECT_EQ(parse_api_version(to_string(version)), version);
  }
  for (const char* text : {"", "1.0", "1.3.0", "1.1.0 ", "v1.1.0"}) {
    EXPECT_THROW(parse_api_version(text), base::InvalidInput) << text;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
