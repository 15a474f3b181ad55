#include "filecoin/meta.hpp"

#include "base/error.hpp"
#include "filecoin/ids.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>

namespace cuzk::filecoin {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string golden_text(std::string_view name) {
  const base::Bytes bytes = testing::golden_bytes(name);
  return {bytes.begin(), bytes.end()};
}

std::string complaint(std::string_view text) {
  try {
    decode_meta(text);
  } catch (const base::InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(Meta, ReadsTheGoldenFiles) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    const std::string text = golden_text(fmt::format("sectors/{}/meta.json", sector));
    const Meta meta = decode_meta(text);
    const json expected = json::parse(text);
    EXPECT_EQ(meta.sector_size->to_string(), expected["size"]);
    EXPECT_EQ(base::to_hex(*meta.prover_id), expected["prover_id"]);
    EXPECT_EQ(info(*meta.porep->registered_proof).name, expected["porep"]["registered_proof"]);
    EXPECT_EQ(meta.porep->sector_number, expected["porep"]["sector_id"]);
    EXPECT_EQ(to_hex(*meta.porep->comm_r), expected["porep"]["comm_r"]);
    EXPECT_EQ(to_hex(*meta.porep->comm_d), expected["porep"]["comm_d"]);
    EXPECT_EQ(to_hex(*meta.porep->replica_id), expected["porep"]["replica_id"]);
    EXPECT_EQ(base::to_hex(*meta.porep->seed), expected["porep"]["seed"]);
    EXPECT_EQ(base::to_hex(*meta.porep->ticket), expected["porep"]["ticket"]);
    EXPECT_EQ(meta.posts.size(), 3u);
    for (const auto& [name, post] : meta.posts) {
      EXPECT_EQ(to_string(*post.api_version), expected[name]["api_version"]);
      EXPECT_EQ(base::to_hex(post.randomness), expected[name]["randomness"]);
      ASSERT_EQ(post.sectors.size(), expected[name]["sectors"].size());
      for (std::size_t i = 0; i < post.sectors.size(); ++i) {
        EXPECT_EQ(post.sectors[i].number, expected[name]["sectors"][i]["sector_id"]);
        EXPECT_EQ(to_hex(post.sectors[i].comm_r), expected[name]["sectors"][i]["comm_r"]);
      }
    }
    EXPECT_EQ(to_hex(meta.update->comm_r_old), expected["update"]["comm_r_old"]);
    EXPECT_EQ(to_hex(meta.update->comm_d_new), expected["update"]["comm_d_new"]);
    EXPECT_EQ(to_hex(meta.update->comm_r_new), expected["update"]["comm_r_new"]);
    EXPECT_EQ(meta.update->h, expected["update"]["h"]);
  }
}

TEST(Meta, MembersMayBeMissing) {
  const Meta real = decode_meta(golden_text("real/wpost-32GiB-one-sector.meta.json"));
  EXPECT_EQ(real.sector_size, SectorSize::parse("32GiB"));
  EXPECT_FALSE(real.porep.has_value());
  EXPECT_FALSE(real.update.has_value());
  EXPECT_FALSE(real.posts.at("window").api_version.has_value());
  const Meta empty = decode_meta("{}");
  EXPECT_FALSE(empty.sector_size.has_value());
  EXPECT_TRUE(empty.posts.empty());
  EXPECT_EQ(decode_meta(R"({"sector_bytes":2048})").sector_size, SectorSize::parse("2KiB"));
  EXPECT_EQ(decode_meta(R"({"miner_id":1000})").prover_id, prover_id(1000));
  EXPECT_FALSE(decode_meta(R"({"porep":{}})").porep->comm_r.has_value());
}

TEST(Meta, NamesWhatIsWrong) {
  const json original = json::parse(golden_text("sectors/2KiB-v1_1/meta.json"));
  const auto with = [&](const char* pointer, json value) {
    json changed = original;
    changed[json::json_pointer(pointer)] = std::move(value);
    return complaint(changed.dump());
  };
  const auto without = [&](const char* object, const char* key) {
    json changed = original;
    changed[json::json_pointer(object)].erase(key);
    return complaint(changed.dump());
  };
  EXPECT_EQ(with("/comment", "anything"), "");
  EXPECT_THAT(with("/size", "3KiB"), HasSubstr("meta file: size, at byte"));
  EXPECT_THAT(with("/size", "8MiB"), HasSubstr("it disagrees with"));
  EXPECT_THAT(with("/sector_bytes", 2049), HasSubstr("meta file: sector_bytes, at byte"));
  EXPECT_THAT(with("/miner_id", 1001), HasSubstr("it disagrees with"));
  EXPECT_THAT(with("/prover_id", "00"), HasSubstr("prover_id, at byte"));
  EXPECT_THAT(with("/porep/registered_proof", "StackedDrg2KiBV9"),
              HasSubstr("porep.registered_proof"));
  EXPECT_THAT(with("/porep/comm_r", std::string(64, 'f')), HasSubstr("porep.comm_r, at byte"));
  EXPECT_THAT(with("/porep/seed", std::string(63, 'f') + "g"), HasSubstr("porep.seed, at byte"));
  EXPECT_THAT(with("/window/api_version", "1.3.0"), HasSubstr("window.api_version"));
  EXPECT_THAT(with("/window/sectors/0/sector_id", -1), HasSubstr("window.sectors[0].sector_id"));
  EXPECT_THAT(with("/window/sectors/0/comm_r", 7), HasSubstr("window.sectors[0].comm_r"));
  EXPECT_THAT(with("/winning", 7), HasSubstr("winning, at byte"));
  EXPECT_THAT(without("/window", "randomness"), HasSubstr("the key 'randomness' is missing"));
  EXPECT_THAT(without("/window/sectors/0", "comm_r"), HasSubstr("the key 'comm_r' is missing"));
  EXPECT_THAT(without("/update", "comm_r_new"), HasSubstr("the key 'comm_r_new' is missing"));
  EXPECT_THAT(with("/update/h", 65), HasSubstr("update.h"));
  EXPECT_THAT(complaint(R"({"porep":{},"porep":{}})"),
              HasSubstr("porep, at byte 20: the key occurs twice"));
  const std::string post = R"({"sectors":[],"randomness":")" + std::string(64, '0') + "\"}";
  EXPECT_THAT(complaint("{\"window\":" + post + ",\"window\":" + post + "}"),
              HasSubstr("the key occurs twice"));
  EXPECT_THAT(complaint("[]"), HasSubstr("an object expected"));
}

}  // namespace
}  // namespace cuzk::filecoin
