#include "engine/preparation.hpp"
#include "engine/testing/golden_request.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string_view>

// Requests in Curio's shapes, from really sealed sectors; and everything that can be wrong with
// them.
namespace cuzk::engine {
namespace {

using filecoin::SectorSize;
using ::testing::AllOf;
using testing::golden_request;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FilecoinPreparation : public ::testing::Test {
 protected:
  struct Refusal {
    ErrorCode code = ErrorCode::kNone;
    std::string text;
  };
  /// Of examine(), then of check().
  Refusal refusal(const JobRequest& request) {
    try {
      preparation->examine(request);
      preparation->check(request);
    } catch (const EngineError& error) {
      return {error.code(), error.what()};
    }
    return {};
  }
  void expect_refused(const JobRequest& request, ErrorCode code,
                      const ::testing::Matcher<std::string>& text) {
    const Refusal found = refusal(request);
    EXPECT_EQ(found.code, code) << found.text;
    EXPECT_THAT(found.text, text);
    EXPECT_THAT(found.text,
                StartsWith(std::string(to_string(code)) + ": " + request.request_id + ": "));
  }

  std::unique_ptr<Preparation> preparation = make_filecoin_preparation();
};

struct Golden {
  std::string sector, artefact, circuit;
};
class GoldenRequests : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenRequests, AreAcceptedWithTheReferencesInputs) {
  const auto& [sector, artefact, circuit] = GetParam();
  const auto preparation = make_filecoin_preparation();
  JobRequest request = golden_request(sector, artefact);
  EXPECT_EQ(preparation->examine(request).to_string(), circuit);
  const auto begin = std::chrono::steady_clock::now();
  const PreparedJob prepared = preparation->check(request);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  const auto golden = testing::golden_inputs(sector, artefact);
  ASSERT_EQ(prepared.partitions(), golden.size());
  for (std::size_t k = 0; k < golden.size(); ++k) {
    std::vector<std::string> hex;
    for (const curve::Fr& value : prepared.public_inputs[k])
      hex.push_back(base::to_hex(value.to_bytes_le()));
    EXPECT_EQ(hex, golden[k]) << "partition " << k;
  }
  EXPECT_EQ(preparation->decode(request).public_inputs, prepared.public_inputs);
  EXPECT_GT(prepared.bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(Sectors, GoldenRequests,
                         ::testing::Values(Golden{"2KiB-v1_1", "porep", "porep-2k"},
                                           Golden{"2KiB-v1", "porep", "porep-2k"},
                                           Golden{"2KiB-v1_2-synth", "porep", "porep-2k"},
                                           Golden{"2KiB-v1_2-ni", "porep", "porep-2k"},
                                           Golden{"16KiB-v1_1", "porep", "porep-16k"},
                                           Golden{"2KiB-v1_1", "winning", "winning-2k"},
                                           Golden{"2KiB-v1_1", "window", "wpost-2k"},
                                           Golden{"2KiB-v1_1", "update", "snap-2k"},
                                           Golden{"8MiB-v1_1", "update", "snap-8m"}),
                         [](const auto& test) {
                           std::string name = test.param.sector + "_" + test.param.artefact;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_F(FilecoinPreparation, SectorSizeMayBeMissing) {
  for (const char* artefact : {"porep", "winning", "window", "update"}) {
    JobRequest request = golden_request("2KiB-v1_1", artefact);
    request.sector_size = 0;
    EXPECT_EQ(preparation->examine(request).size, SectorSize::parse("2KiB")) << artefact;
    EXPECT_EQ(refusal(request).text, "") << artefact;
  }
  // A bare C1 output, and an envelope that does not say it.
  JobRequest bare = golden_request("2KiB-v1_1", "porep");
  bare.sector_size = 0;
  bare.vanilla_proof = cuzk::testing::golden_bytes("sectors/2KiB-v1_1/c1.json");
  EXPECT_EQ(refusal(bare).text, "");
  std::string text(bare.vanilla_proof.begin(), bare.vanilla_proof.end());
  text = "{\"Phase1Out\":\"" + base::to_base64(bare.vanilla_proof) + "\"}";
  bare.vanilla_proof.assign(text.begin(), text.end());
  EXPECT_EQ(preparation->examine(bare).size, SectorSize::parse("2KiB"));
  EXPECT_EQ(refusal(bare).text, "");
}

TEST_F(FilecoinPreparation, PorepAgainstWhatTheRequestSays) {
  const JobRequest good = golden_request("2KiB-v1_1", "porep");
  JobRequest request = good;
  request.registered_proof = 5;
  EXPECT_EQ(refusal(request).text, "");
  request.registered_proof = 10;
  expect_refused(request, ErrorCode::kBadInput,
                 HasSubstr("registered_proof 10 is StackedDrg2KiBV1_1_Feat_SyntheticPoRep, but the "
                           "C1 output says StackedDrg2KiBV1_1"));
  request.registered_proof = 20;
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("none of the seal proofs 0 to 19"));
  request.registered_proof = 8;
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("sector_size is 2048, but"));
  request = good;
  request.sector_size = SectorSize::parse("8MiB").bytes();
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("C1 output: "));
  request.sector_size = 5000;
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("sector_size: "));
  request = good;
  request.sector_number = 2;
  expect_refused(request, ErrorCode::kBadInput,
                 HasSubstr("sector_number is 2, but the C1 output is of sector 1"));
  request = good;
  request.miner_id = 1001;
  expect_refused(request, ErrorCode::kBadInput,
                 HasSubstr("the replica id in the C1 output is not that of miner 1001, sector 1"));
  request = good;
  request.miner_id = request.sector_number = 0;
  EXPECT_EQ(refusal(request).text, "") << "not given";
  request = good;
  request.vanilla_proof.clear();
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("vanilla_proof is empty"));
  request.vanilla_proof = {'{', '}'};
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("C1 output: "));
}

// The circuit that a job is planned with and the one that its C1 output needs must not differ.
TEST_F(FilecoinPreparation, AC1OutputOfAnotherSizeThanExaminedIsRefused) {
  JobRequest tagged = golden_request("16KiB-v1_1", "porep");
  tagged.sector_size = 0;
  tagged.registered_proof = 8;
  EXPECT_EQ(preparation->examine(tagged).to_string(), "porep-32g");
  expect_refused(tagged, ErrorCode::kBadInput,
                 HasSubstr("SectorSize is 16KiB, but 32GiB was asked for"));

  JobRequest nested = golden_request("2KiB-v1_1", "porep");
  nested.sector_size = 0;
  const std::string_view member = R"(,"x":{"SectorSize":16384})";
  const auto end = std::find(nested.vanilla_proof.rbegin(), nested.vanilla_proof.rend(), '}');
  nested.vanilla_proof.insert(end.base() - 1, member.begin(), member.end());
  EXPECT_EQ(preparation->examine(nested).to_string(), "porep-16k");
  expect_refused(nested, ErrorCode::kBadInput,
                 HasSubstr("SectorSize is 2KiB, but 16KiB was asked for"));

  for (const JobRequest& request : {tagged, nested}) {
    try {
      preparation->decode(request);
      ADD_FAILURE() << request.sector_size;
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput) << error.what();
    }
  }
}

TEST_F(FilecoinPreparation, AnAlteredC1OutputIsRefused) {
  JobRequest request = golden_request("2KiB-v1_1", "porep");
  const base::Bytes bare = cuzk::testing::golden_bytes("sectors/2KiB-v1_1/c1.json");
  std::string text(bare.begin(), bare.end());
  // The first sibling of the first path in tree D.
  const auto at = text.find("\"hashes\":[[") + 11;
  ASSERT_NE(at, std::string::npos + 11);
  text[at] = text[at] == '1' ? '2' : '1';
  request.vanilla_proof.assign(text.begin(), text.end());
  expect_refused(request, ErrorCode::kBadVanilla,
                 AllOf(HasSubstr("proofs rejected: partition 0, index 0"),
                       HasSubstr("Merkle path does not reach"), HasSubstr("Nothing was proved.")));
}

TEST_F(FilecoinPreparation, PostAgainstWhatTheRequestSays) {
  const JobRequest good = golden_request("2KiB-v1_1", "window");
  JobRequest request = good;
  request.registered_proof = 0;
  expect_refused(request, ErrorCode::kBadInput,
                 HasSubstr("registered_proof 0 is StackedDrgWinning2KiBV1: no WindowPoSt"));
  request.registered_proof = 15;
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("none of the PoSt proofs 0 to 14"));
  request.registered_proof = 13;
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("sector_size is 2048, but"));
  request = good;
  request.vanilla_proofs.clear();
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("no vanilla proofs"));
  request = good;
  request.randomness.pop_back();
  request.vanilla_proofs.clear();
  expect_refused(request, ErrorCode::kBadInput,
                 AllOf(HasSubstr("randomness has 31 bytes"), HasSubstr("no vanilla proofs")));
  request = good;
  request.randomness.back() |= 0xc0;
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("two top bits"));
  request = good;
  request.randomness[0] ^= 1;
  expect_refused(request, ErrorCode::kBadVanilla, HasSubstr("1 of 1 proofs rejected: index 0"));
  JobRequest winning = golden_request("2KiB-v1_1", "winning");
  winning.vanilla_proofs.push_back(winning.vanilla_proofs[0]);
  expect_refused(winning, ErrorCode::kBadInput, HasSubstr("2 > 1 per partition"));
  winning.vanilla_proofs.clear();
  expect_refused(winning, ErrorCode::kBadInput, HasSubstr("no vanilla proofs"));
  winning.vanilla_proofs = good.vanilla_proofs;
  expect_refused(winning, ErrorCode::kBadVanilla, HasSubstr("index 0"));
}

TEST_F(FilecoinPreparation, AWindowPartitionHasItsSectorsOnly) {
  const JobRequest all = golden_request("2KiB-v1_1", "window-multi");
  ASSERT_EQ(all.vanilla_proofs.size(), 3U);
  expect_refused(all, ErrorCode::kBadInput, HasSubstr("3 > 2 per partition"));
  const auto golden = testing::golden_inputs("2KiB-v1_1", "window-multi");
  for (std::uint32_t k = 0; k < 2; ++k) {
    JobRequest request = all;
    if (k == 0) {
      request.vanilla_proofs = {all.vanilla_proofs[0], all.vanilla_proofs[1]};
    } else {
      request.vanilla_proofs.assign(1, all.vanilla_proofs[2]);
    }
    // The index is the partition's, or 0 as Curio always sends.
    for (const std::uint32_t index : {k, 0U, 7U}) {
      request.partition_index = index;
      const PreparedJob prepared = preparation->check(request);
      ASSERT_EQ(prepared.partitions(), 1U);
      std::vector<std::string> hex;
      for (const curve::Fr& value : prepared.public_inputs[0])
        hex.push_back(base::to_hex(value.to_bytes_le()));
      EXPECT_EQ(hex, golden[k]) << k << " " << index;
    }
  }
}

TEST_F(FilecoinPreparation, AllBadSectorsAreNamedAtOnce) {
  // The WindowPoSt circuit at 8 MiB has two places as well; three kinds of damage in two requests.
  const JobRequest all = golden_request("2KiB-v1_1", "window-multi");
  JobRequest request = all;
  request.vanilla_proofs = {all.vanilla_proofs[0], all.vanilla_proofs[1]};
  request.vanilla_proofs[0][8] ^= 1;                                       // comm_r
  request.vanilla_proofs[1].resize(request.vanilla_proofs[1].size() / 2);  // cut
  expect_refused(request, ErrorCode::kBadVanilla,
                 AllOf(HasSubstr("2 of 2 proofs rejected: index 0 (sector 1): "),
                       HasSubstr("; index 1"), HasSubstr("Nothing was proved.")));
  request.vanilla_proofs = {all.vanilla_proofs[0], all.vanilla_proofs[1]};
  request.vanilla_proofs[1][0] = 9;  // another sector's number: other challenges
  expect_refused(request, ErrorCode::kBadVanilla,
                 AllOf(HasSubstr("1 of 2 proofs rejected: index 1 (sector 9): ")));
  request.vanilla_proofs.pop_back();
  EXPECT_EQ(refusal(request).text, "") << "without it the rest is proved";
}

TEST_F(FilecoinPreparation, AWindowsSectorsAscend) {
  const JobRequest all = golden_request("2KiB-v1_1", "window-multi");
  JobRequest request = all;
  for (const std::size_t first : {1U, 0U}) {
    request.vanilla_proofs = {all.vanilla_proofs[first], all.vanilla_proofs[0]};
    expect_refused(request, ErrorCode::kBadVanilla,
                   HasSubstr(fmt::format("1 of 2 proofs rejected: index 1 (sector 1): sector_id: "
                                         "sector 1 after {}: the verifier takes sectors in "
                                         "ascending order, each once",
                                         first + 1)));
  }
}

// Of a partition of the size that large providers prove: one good entry, three bad ones.
TEST_F(FilecoinPreparation, ThreeBadSectorsOfALargePartitionAreNamedWithTheirReasons) {
  const SectorSize size = SectorSize::parse("32GiB");
  const auto blobs = filecoin::decode_vanilla_file(
      cuzk::testing::golden_bytes("real/wpost-32GiB-one-sector.vproof"));
  ASSERT_EQ(blobs.size(), 1U);
  const auto meta = cuzk::testing::golden_json("real/wpost-32GiB-one-sector.meta.json");
  JobRequest request;
  request.kind = ProofKind::kWindowPost;
  request.request_id = "wdpost-1000-7-[1 2]";
  request.miner_id = 1000;
  request.sector_size = size.bytes();
  request.registered_proof = static_cast<std::uint64_t>(filecoin::window_post_proof(size));
  request.randomness = testing::hex_bytes(meta.at("window").at("randomness"));
  request.vanilla_proofs = {blobs[0], blobs[0], blobs[0], blobs[0]};
  request.vanilla_proofs[1][0] = 8;                                          // another sector,
  request.vanilla_proofs[1][200] ^= 1;                                       // a node of a path
  request.vanilla_proofs[2][0] = 9;                                          // another sector
  request.vanilla_proofs[3][0] = 10;                                         // another sector,
  request.vanilla_proofs[3].resize(request.vanilla_proofs[3].size() - 100);  // cut
  const Refusal found = refusal(request);
  EXPECT_EQ(found.code, ErrorCode::kBadVanilla);
  EXPECT_THAT(found.text, HasSubstr("3 of 4 proofs rejected: index 1 (sector 8): "));
  EXPECT_THAT(found.text, HasSubstr("; index 2 (sector 9): "));
  EXPECT_THAT(found.text, ::testing::ContainsRegex("; index 3 .sector 10.: [^;]*truncated"));
  EXPECT_THAT(found.text, ::testing::Not(HasSubstr("index 0")));
}

TEST_F(FilecoinPreparation, AnInputPaddedWithBlanksIsJudgedOnItsContent) {
  JobRequest request = golden_request("2KiB-v1_1", "porep");
  const std::size_t brace = request.vanilla_proof.size() - 1;
  request.vanilla_proof.insert(request.vanilla_proof.begin() + static_cast<std::ptrdiff_t>(brace),
                               std::size_t{130} << 20, ' ');
  EXPECT_EQ(refusal(request).text, "");
}

TEST_F(FilecoinPreparation, SnapAgainstWhatTheRequestSays) {
  const JobRequest good = golden_request("2KiB-v1_1", "update");
  JobRequest request = good;
  request.comm_d_new.resize(40);
  request.comm_r_old.back() = 0xff;
  request.vanilla_proofs.clear();
  expect_refused(request, ErrorCode::kBadInput,
                 AllOf(HasSubstr("0 of 1 partition proofs"),
                       HasSubstr("comm_d_new has 40 bytes, 32 expected (a CID instead of its "
                                 "digest?)"),
                       HasSubstr("comm_r_old is no field element")));
  request = good;
  request.registered_proof = 5;
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("none of the update proofs 0 to 4"));
  request = good;
  request.comm_r_new = good.comm_r_old;
  expect_refused(request, ErrorCode::kBadVanilla, HasSubstr("comm_r_new"));
  JobRequest four = golden_request("8MiB-v1_1", "update");
  ASSERT_EQ(four.vanilla_proofs.size(), 4U);
  request = four;
  request.vanilla_proofs.pop_back();
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("3 of 4 partition proofs"));
  request = four;
  request.vanilla_proofs.push_back(four.vanilla_proofs[0]);
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("5 of 4 partition proofs"));
  request = four;
  std::swap(request.vanilla_proofs[1], request.vanilla_proofs[2]);
  expect_refused(request, ErrorCode::kBadVanilla,
                 AllOf(HasSubstr("partition 1"), HasSubstr("partition 2")));
  request = four;
  request.vanilla_proofs[3].clear();
  expect_refused(request, ErrorCode::kBadVanilla,
                 HasSubstr("10 of 40 proofs rejected: partition 3: "));
}

TEST_F(FilecoinPreparation, UnknownKindsAreRefused) {
  JobRequest request = golden_request("2KiB-v1_1", "window");
  request.kind = static_cast<ProofKind>(7);
  expect_refused(request, ErrorCode::kBadInput, HasSubstr("proof_kind 7 is unknown"));
}

}  // namespace
}  // namespace cuzk::engine
