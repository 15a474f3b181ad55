#include "filecoin/porep/vanilla_codec.hpp"

#include "base/error.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>

namespace cuzk::filecoin::porep {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Pointer = ordered_json::json_pointer;

constexpr std::pair<const char*, const char*> kCases[] = {
    {"2KiB-v1", "2KiB"},         {"2KiB-v1_1", "2KiB"},   {"2KiB-v1_2-ni", "2KiB"},
    {"2KiB-v1_2-synth", "2KiB"}, {"16KiB-v1_1", "16KiB"}, {"32KiB-v1_1", "32KiB"},
    {"8MiB-v1_1", "8MiB"}};

std::string golden_text(std::string_view sector, std::string_view file) {
  const base::Bytes bytes = testing::golden_bytes(fmt::format("sectors/{}/{}", sector, file));
  return {bytes.begin(), bytes.end()};
}

std::string complaint(std::string_view text, std::optional<SectorSize> size = std::nullopt) {
  // A copy of the exact size on the heap, so that a sanitizer sees a read past the end.
  const std::vector<char> exact(text.begin(), text.end());
  try {
    decode_commit_phase1({exact.data(), exact.size()}, size);
  } catch (const base::InvalidInput& error) {
    return error.what();
  }
  return "";
}

/// The object with the members of every object in reverse order.
ordered_json reversed(const ordered_json& json) {
  if (json.is_array()) {
    ordered_json out = ordered_json::array();
    for (const auto& element : json) out.push_back(reversed(element));
    return out;
  }
  if (!json.is_object()) return json;
  std::vector<std::pair<std::string, ordered_json>> members;
  for (const auto& [key, value] : json.items())
    members.insert(members.begin(), {key, reversed(value)});
  ordered_json out = ordered_json::object();
  for (auto& [key, value] : members) out[key] = std::move(value);
  return out;
}

TEST(CommitPhase1, RoundTripsTheGoldenOutputs) {
  for (const auto& [sector, text] : kCases) {
    const SectorSize size = SectorSize::parse(text);
    const std::string bare = golden_text(sector, "c1.json"),
                      envelope = golden_text(sector, "c1.wrapper.json");
    SealCommitPhase1Output output = decode_commit_phase1(bare, size);
    const auto meta = testing::golden_json(fmt::format("sectors/{}/meta.json", sector));
    EXPECT_EQ(info(output.registered_proof).name, meta["porep"]["registered_proof"]);
    EXPECT_EQ(output.partitions.size(), meta["porep"]["partitions"]);
    EXPECT_EQ(base::to_hex(output.comm_r.to_bytes_le()), meta["porep"]["comm_r"]);
    EXPECT_EQ(base::to_hex(output.comm_d.to_bytes_le()), meta["porep"]["comm_d"]);
    EXPECT_EQ(base::to_hex(output.replica_id.to_bytes_le()), meta["porep"]["replica_id"]);
    EXPECT_EQ(base::to_hex(output.seed), meta["porep"]["seed"]);
    EXPECT_EQ(base::to_hex(output.ticket), meta["porep"]["ticket"]);
    EXPECT_EQ(output.sector_number, std::nullopt);
    EXPECT_TRUE(encode_commit_phase1(output) == bare) << sector;

    const SealCommitPhase1Output enveloped = decode_commit_phase1(envelope);
    EXPECT_EQ(enveloped.sector_size, size);
    EXPECT_EQ(enveloped.sector_number, meta["porep"]["sector_id"]);
    EXPECT_TRUE(encode_commit_phase1_envelope(enveloped) == envelope) << sector;
    output.sector_number = enveloped.sector_number;
    EXPECT_TRUE(output == enveloped) << sector;
  }
}

/// The public inputs that the reference derived name every node that is opened.
TEST(CommitPhase1, OpensTheNodesOfTheGoldenPublicInputs) {
  for (const auto& [sector, text] : kCases) {
    const SealCommitPhase1Output output =
        decode_commit_phase1(golden_text(sector, "c1.json"), SectorSize::parse(text));
    const auto inputs =
        testing::golden_json(fmt::format("sectors/{}/porep.inputs.json", sector))["partitions"];
    ASSERT_EQ(inputs.size(), output.partitions.size());
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      std::vector<std::uint64_t> nodes;
      for (const VanillaProof& proof : output.partitions[k]) {
        nodes.push_back(proof.comm_d_inclusion.leaf_index(tree_d_shape(output.sector_size)));
        for (const ColumnProof& parent : proof.drg_parents) nodes.push_back(parent.node);
        for (const ColumnProof& parent : proof.exp_parents) nodes.push_back(parent.node);
        nodes.push_back(proof.challenge);
        nodes.push_back(proof.comm_r_last_inclusion.leaf_index(tree_r_shape(output.sector_size)));
        nodes.push_back(proof.column.inclusion.leaf_index(tree_r_shape(output.sector_size)));
      }
      ASSERT_EQ(inputs[k].size(), nodes.size() + 3);
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        EXPECT_EQ(base::to_hex(curve::Fr::from_u64(nodes[i]).to_bytes_le()), inputs[k][i + 3])
            << sector << " " << i;
      }
    }
  }
}

TEST(CommitPhase1, KeysComeInAnyOrder) {
  for (const auto& [sector, text] : {kCases[1], kCases[5]}) {
    const SectorSize size = SectorSize::parse(text);
    const std::string original = golden_text(sector, "c1.json");
    const SealCommitPhase1Output expected = decode_commit_phase1(original, size);
    // Sorted, as Go writes a map; reversed; with white space everywhere.
    EXPECT_TRUE(decode_commit_phase1(nlohmann::json::parse(original).dump(), size) == expected);
    const ordered_json backwards = reversed(ordered_json::parse(original));
    EXPECT_TRUE(decode_commit_phase1(backwards.dump(), size) == expected);
    EXPECT_TRUE(decode_commit_phase1(backwards.dump(1, '\t'), size) == expected);
  }
  const ordered_json envelope = ordered_json::parse(golden_text("2KiB-v1_1", "c1.wrapper.json"));
  EXPECT_TRUE(decode_commit_phase1(reversed(envelope).dump()) ==
              decode_commit_phase1(envelope.dump()));
}

/// Some writers of JSON escape the slashes of base64, or any character.
TEST(CommitPhase1, ReadsAnEscapedEnvelope) {
  std::string text = golden_text("2KiB-v1_1", "c1.wrapper.json");
  const SealCommitPhase1Output expected = decode_commit_phase1(text);
  const auto escape = [&](std::string_view from, std::string_view to) {
    std::size_t count = 0;
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
      ++count;
    }
    return count;
  };
  EXPECT_GT(escape("L", "\\u004c"), 100u);
  escape("/", "\\/");
  EXPECT_TRUE(decode_commit_phase1(text) == expected);
}

/// Members that the circuit does not use may be missing or differ; they must still be JSON.
TEST(CommitPhase1, SkipsWhatTheCircuitDoesNotUse) {
  const std::string text = golden_text("2KiB-v1_1", "c1.json");
  const SealCommitPhase1Output expected = decode_commit_phase1(text);
  ordered_json json = ordered_json::parse(text);
  auto& challenge = json[Pointer("/vanilla_proofs/StackedDrg2KiBV1/0/1")];
  challenge.erase("encoding_proof");
  challenge["labeling_proofs"].erase(1);
  challenge["labeling_proofs"][0]["parents"] = "nothing";
  challenge["unknown"] = {{"root", 1}, {"deep", {1, {2, {3}}}}};
  json["another"] = nullptr;
  EXPECT_TRUE(decode_commit_phase1(json.dump()) == expected);
}

struct Damage {
  const char* at;  // JSON pointer, below vanilla_proofs.StackedDrg2KiBV1 where relative
  std::function<void(ordered_json&)> apply;  // to the value there
  const char* place;                         // expected in the error
  const char* text;
};

TEST(CommitPhase1, NamesWhereTheFormIsWrong) {
  const auto erase = [](const char* key) { return [key](ordered_json& json) { json.erase(key); }; };
  const auto set = [](ordered_json value) { return [value](ordered_json& json) { json = value; }; };
  const auto pop = [](ordered_json& json) { json.erase(json.size() - 1); };
  const auto repeat = [](ordered_json& json) { json.push_back(ordered_json(json.back())); };
  const auto rename = [](const char* from, const char* to) {
    return [=](ordered_json& json) {
      json[to] = json[from];
      json.erase(from);
    };
  };
  const ordered_json too_large = std::vector<int>(32, 255);
  const ordered_json zeros = std::vector<int>(32, 0);

  const std::vector<Damage> damages = {
      {"", erase("registered_proof"), "the top level", "the key 'registered_proof' is missing"},
      {"", erase("vanilla_proofs"), "the top level", "the key 'vanilla_proofs' is missing"},
      {"", erase("comm_r"), "the top level", "the key 'comm_r' is missing"},
      {"", erase("ticket"), "the top level", "the key 'ticket' is missing"},
      {"/registered_proof", set("StackedDrg3KiBV1"), "registered_proof, at byte",
       "StackedDrg3KiBV1"},
      {"/registered_proof", set(7), "registered_proof", "a string expected"},
      {"/registered_proof", set("StackedDrg8MiBV1_1"), "the top level",
       "vanilla_proofs holds StackedDrg2KiBV1"},
      {"/registered_proof", set("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"), "the top level",
       "has 1 partitions, 13 expected"},
      {"/comm_r", set(too_large), "comm_r, at byte", "is not below r"},
      {"/comm_d", set(zeros), "comm_d, at byte", "all zeros"},
      {"/comm_r", set(zeros), "comm_r, at byte", "all zeros"},
      {"/seed", set(zeros), "seed, at byte", "all zeros"},
      {"/replica_id", set(too_large), "replica_id, at byte", "is not below r"},
      {"/seed", pop, "seed, at byte", "31 elements, 32 expected"},
      {"/ticket", repeat, "ticket, at byte", "more than 32 elements"},
      {"/ticket/7", set(256), "ticket[7]", "an integer from 0 to 255 expected, found 256"},
      {"/ticket/7", set(-1), "ticket[7]", "found -1"},
      {"/ticket/7", set(1.5), "ticket[7]", "found 1.5"},
      {"/ticket/7", set("1"), "ticket[7]", "a number expected"},
      {"/vanilla_proofs", set(ordered_json::object()), "vanilla_proofs",
       "no kind of vanilla proof"},
      {"/vanilla_proofs", rename("StackedDrg2KiBV1", "StackedDrg2KiBV9"),
       "vanilla_proofs.StackedDrg2KiBV9", "no kind of vanilla proof, such as"},
      {"/vanilla_proofs", rename("StackedDrg2KiBV1", "StackedDrg32GiBV1"),
       "vanilla_proofs.StackedDrg32GiBV1[0][0].comm_d_proofs.data.Single.path.path",
       "6 elements, 30 expected"},
      {"/vanilla_proofs/StackedDrg2KiBV1", repeat, "the top level", "has 2 partitions, 1 expected"},
      {"/vanilla_proofs/StackedDrg2KiBV1", set(ordered_json::array()), "the top level",
       "has 0 partitions, 1 expected"},
      {"/vanilla_proofs/StackedDrg2KiBV1/0", repeat, "vanilla_proofs.StackedDrg2KiBV1[0], ",
       "more than 2 elements"},
      {"/vanilla_proofs/StackedDrg2KiBV1/0", pop, "vanilla_proofs.StackedDrg2KiBV1[0], ",
       "1 elements, 2 expected"},
      {"0/1", erase("labeling_proofs"), "[0][1], ", "the key 'labeling_proofs' is missing"},
      {"0/1", set(nullptr), "[0][1], ", "an object expected, found 'n'"},
      {"0/1/labeling_proofs", set(ordered_json::array()), "[0][1].labeling_proofs",
       "no labeling proof"},
      {"0/1/labeling_proofs/0/node", set(4294967296), "[0][1].labeling_proofs[0].node",
       "found 4294967296"},
      {"0/1/replica_column_proofs/drg_parents", pop, "[0][1].replica_column_proofs.drg_parents",
       "5 elements, 6 expected"},
      {"0/1/replica_column_proofs/exp_parents", repeat, "[0][1].replica_column_proofs.exp_parents",
       "more than 8 elements"},
      {"0/1/replica_column_proofs/drg_parents/3", erase("inclusion_proof"),
       "[0][1].replica_column_proofs.drg_parents[3], ", "the key 'inclusion_proof' is missing"},
      {"0/1/replica_column_proofs/drg_parents/3/inclusion_proof/data", rename("Single", "Sub"),
       "[0][1].replica_column_proofs.drg_parents[3].inclusion_proof.data.Sub",
       "variant 'Sub' of a Merkle proof, 'Single' expected for a tree 8-0-0"},
      {"0/1/replica_column_proofs/drg_parents/3/inclusion_proof/data", set(ordered_json::object()),
       "drg_parents[3].inclusion_proof.data, ", "the key 'Single' is missing"},
      {"0/1/replica_column_proofs/c_x/column/rows", pop,
       "[0][1].replica_column_proofs.c_x.column.rows", "1 elements, 2 expected"},
      {"0/1/replica_column_proofs/c_x/column/rows", repeat, "c_x.column.rows",
       "more than 2 elements"},
      {"0/1/replica_column_proofs/c_x/column/rows/1", set(too_large), "c_x.column.rows[1]",
       "is not below r"},
      {"0/1/replica_column_proofs/c_x/column/index", set("2"), "c_x.column.index",
       "a number expected"},
      {"0/0/comm_d_proofs/data/Single", erase("leaf"), "[0][0].comm_d_proofs.data.Single",
       "the key 'leaf' is missing"},
      {"0/0/comm_d_proofs/data/Single", rename("path", "base_proof"),
       "comm_d_proofs.data.Single.base_proof", "the variant 'Single' has no such member"},
      {"0/0/comm_d_proofs/data/Single/path/path", pop, "comm_d_proofs.data.Single.path.path",
       "5 elements, 6 expected"},
      {"0/0/comm_d_proofs/data/Single/path/path/4/index", set(2), "data.Single.path.path[4].index",
       "an integer from 0 to 1 expected, found 2"},
      {"0/0/comm_r_last_proof/data/Single/path/path/1/hashes", pop,
       "comm_r_last_proof.data.Single.path.path[1].hashes", "6 elements, 7 expected"},
      {"0/0/comm_r_last_proof/data/Single/path/path/1/hashes/6", set(too_large),
       "path.path[1].hashes[6]", "is not below r"},
      {"0/0/comm_r_last_proof/data/Single/path/path/1/hashes/6/0", set(ordered_json::array()),
       "path.path[1].hashes[6][0]", "a number expected, found '['"},
  };
  const ordered_json original = ordered_json::parse(golden_text("2KiB-v1_1", "c1.json"));
  ASSERT_EQ(complaint(original.dump()), "");
  for (const Damage& damage : damages) {
    ordered_json json = original;
    const bool relative = damage.at[0] != '\0' && damage.at[0] != '/';
    damage.apply(json[Pointer(
        relative ? fmt::format("/vanilla_proofs/StackedDrg2KiBV1/{}", damage.at) : damage.at)]);
    EXPECT_THAT(complaint(json.dump()), AllOf(HasSubstr(damage.place), HasSubstr(damage.text)))
        << damage.at;
    // The place does not depend on the order of the keys.
    const std::string turned = complaint(reversed(json).dump());
    EXPECT_NE(turned, "") << damage.at;
  }
}

TEST(CommitPhase1, NamesRepeatedKeys) {
  const std::string original = golden_text("2KiB-v1_1", "c1.json");
  const auto with = [&](std::string_view at, std::string_view inserted) {
    std::string text = original;
    text.insert(text.find(at), inserted);
    return complaint(text);
  };
  EXPECT_THAT(with("\"comm_r\"", "\"seed\":[1,2],"), HasSubstr("C1 output: seed, at byte"));
  EXPECT_THAT(with("\"registered_proof\"", "\"registered_proof\":\"StackedDrg2KiBV1_1\","),
              HasSubstr("registered_proof, at byte 60: the key occurs twice"));
  EXPECT_THAT(with("\"labeling_proofs\"", "\"labeling_proofs\":[{\"node\":1}],"),
              HasSubstr("[0][0].labeling_proofs, at byte"));
  EXPECT_THAT(with("\"layer_index\"", "\"node\":1,\"node\":1,"),
              HasSubstr("labeling_proofs[0].node"));
  EXPECT_THAT(with("\"index\":2", "\"index\":2,"), HasSubstr("the key occurs twice"));
  EXPECT_THAT(with("\"StackedDrg2KiBV1\"", "\"StackedDrg2KiBV1\":[],"),
              HasSubstr("a second kind of vanilla proof"));
}

TEST(CommitPhase1, NamesWhatIsWrongWithTheEnvelope) {
  const ordered_json original = ordered_json::parse(golden_text("2KiB-v1_1", "c1.wrapper.json"));
  const auto with = [&](const std::function<void(ordered_json&)>& apply) {
    ordered_json json = original;
    apply(json);
    return complaint(json.dump());
  };
  EXPECT_EQ(with([](ordered_json&) {}), "");
  EXPECT_EQ(with([](ordered_json& json) { json["SectorSize"] = 0; }), "");
  EXPECT_EQ(with([](ordered_json& json) { json.erase("SectorSize"); }), "");
  EXPECT_THAT(with([](ordered_json& json) { json["SectorSize"] = 2049; }),
              HasSubstr("SectorSize: sector size 2049 bytes"));
  EXPECT_THAT(with([](ordered_json& json) { json["SectorSize"] = 34359738368; }),
              HasSubstr("sector size 32GiB, but these proofs are of 2KiB"));
  EXPECT_THAT(with([](ordered_json& json) { json["SectorSize"] = "2048"; }),
              HasSubstr("SectorSize, at byte"));
  EXPECT_THAT(with([](ordered_json& json) { json["SectorNum"] = -1; }),
              HasSubstr("SectorNum, at byte"));
  EXPECT_THAT(with([](ordered_json& json) { json.erase("Phase1Out"); }),
              HasSubstr("the key 'Phase1Out' is missing"));
  EXPECT_THAT(with([](ordered_json& json) { json["Phase1Out"] = "AAA"; }),
              HasSubstr("Phase1Out is no base64"));
  EXPECT_THAT(with([](ordered_json& json) { json["Phase1Out"] = "AAAA"; }),
              HasSubstr("C1 output in Phase1Out: the top level, at byte 0: an object expected"));
  EXPECT_THAT(with([](ordered_json& json) { json["seed"] = 1; }), HasSubstr("seed, at byte"));
  EXPECT_THAT(with([](ordered_json& json) { json["ticket"] = std::vector<int>(32, 1); }),
              HasSubstr("together"));
  const std::string envelope = original.dump();
  EXPECT_THAT(with([&](ordered_json& json) {
                json["Phase1Out"] = base::to_base64(base::as_bytes(envelope));
              }),
              HasSubstr("an envelope within an envelope"));
  EXPECT_THAT(complaint(original.dump(), SectorSize::parse("8MiB")),
              HasSubstr("SectorSize is 2KiB, but 8MiB was asked for"));
}

TEST(CommitPhase1, AStandInHasNoProofOfItsOwnAndTheSameKindOfTree) {
  const std::string text = golden_text("32KiB-v1_1", "c1.json");
  EXPECT_THAT(complaint(text), HasSubstr("10 elements, 31 expected"));
  EXPECT_EQ(complaint(text, SectorSize::parse("32KiB")), "");
  EXPECT_THAT(complaint(text, SectorSize::parse("16KiB")),
              HasSubstr("sector size 16KiB, but these proofs are of 64GiB"));
  EXPECT_THAT(complaint(text, SectorSize::parse("2KiB")),
              HasSubstr("sector size 2KiB, but these proofs are of 64GiB"));

  const auto count = [](RegisteredSealProof proof, const char* size) {
    return partition_count(proof, SectorSize::parse(size));
  };
  using enum RegisteredSealProof;
  EXPECT_EQ(count(kStackedDrg32GiBV1_1, "32GiB"), 10u);
  EXPECT_EQ(count(kStackedDrg64GiBV1_2_NonInteractive, "64GiB"), 126u);
  EXPECT_EQ(count(kStackedDrg2KiBV1_2_NonInteractive, "2KiB"), 13u);
  EXPECT_EQ(count(kStackedDrg32GiBV1_1, "16KiB"), 1u);
  EXPECT_EQ(count(kStackedDrg32GiBV1_1, "1GiB"), 1u);
  EXPECT_EQ(count(kStackedDrg64GiBV1_2_NonInteractive, "32KiB"), 13u);
  EXPECT_THROW(count(kStackedDrg32GiBV1_1, "64GiB"), base::InvalidInput);
  EXPECT_THROW(count(kStackedDrg32GiBV1_1, "32KiB"), base::InvalidInput);
  EXPECT_THROW(count(kStackedDrg32GiBV1_1, "2KiB"), base::InvalidInput);
}

TEST(CommitPhase1, RefusesTruncationsAndHostileTexts) {
  const std::string text = golden_text("2KiB-v1_1", "c1.json");
  std::size_t refused = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const bool edge = length < 500 || text.size() - length < 500;
    const bool structural =
        std::string_view("{}\":").find(text[length]) != std::string_view::npos && length % 4 == 0;
    if (!edge && !structural && length % 211 != 0) continue;
    ASSERT_NE(complaint({text.data(), length}), "") << length;
    ++refused;
  }
  EXPECT_GT(refused, 2000u);
  const std::string envelope = golden_text("2KiB-v1_1", "c1.wrapper.json");
  for (std::size_t length = 0; length < envelope.size();
       length += length < 100 || length % 997 == 0 ? 1 : 13) {
    ASSERT_NE(complaint({envelope.data(), length}), "") << length;
  }

  EXPECT_THAT(complaint(std::string(1 << 20, '[')), HasSubstr("an object expected"));
  EXPECT_THAT(complaint("{\"x\":" + std::string(1 << 20, '[')), HasSubstr("deeper than 64 levels"));
  EXPECT_THAT(complaint("{\"seed\":[" + std::string(1 << 20, '0')),
              HasSubstr("must not start with 0"));
  EXPECT_THAT(complaint("{\"seed\":[" + std::string(1 << 20, '9')), HasSubstr("found 9999"));
  std::string many = "{\"vanilla_proofs\":{\"StackedDrg2KiBV1\":[[]";
  for (int i = 0; i < 100000; ++i) many += ",[]";
  EXPECT_THAT(complaint(many + "]}}"), HasSubstr("StackedDrg2KiBV1[0], at byte"));
  EXPECT_NE(complaint(text + "x"), "");
  EXPECT_NE(complaint("\xef\xbb\xbf" + text), "");
}

TEST(CommitPhase1, EncoderRefusesOtherCounts) {
  const SealCommitPhase1Output good = decode_commit_phase1(golden_text("2KiB-v1_1", "c1.json"));
  const auto refuses = [&](const std::function<void(SealCommitPhase1Output&)>& apply) {
    SealCommitPhase1Output output = good;
    apply(output);
    EXPECT_THROW(encode_commit_phase1(output), base::InvalidInput);
  };
  refuses([](auto& output) { output.partitions.clear(); });
  refuses([](auto& output) { output.partitions[0].pop_back(); });
  refuses([](auto& output) { output.partitions[0][0].column.labels.pop_back(); });
  refuses([](auto& output) { output.partitions[0][0].comm_d_inclusion.siblings.pop_back(); });
  refuses([](auto& output) { output.sector_size = SectorSize::parse("8MiB"); });
  EXPECT_THROW(encode_commit_phase1_envelope(good), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::porep
