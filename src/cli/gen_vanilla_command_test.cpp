#include "cli/testing.hpp"
#include "hash/sha256.hpp"
#include "support/golden.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuzk::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::set<std::string> keys(const json& object) {
  std::set<std::string> out;
  for (const auto& item : object.items()) out.insert(item.key());
  return out;
}

class GenVanillaCommand : public ::testing::Test {
 protected:
  GenVanillaCommand() : folder_(std::filesystem::temp_directory_path() / unique_name()) {
    std::filesystem::create_directories(folder_);
  }
  ~GenVanillaCommand() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }

  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    EXPECT_TRUE(file.is_open()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
  }
  json meta(const std::string& name) const { return json::parse(content(name + ".meta.json")); }

  Outcome generate(const std::string& kind, const std::string& size, const std::string& name,
                   std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"gen-vanilla", kind,    "--sector-size",
                                          size,          "--out", path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_cuzk(arguments);
  }

 private:
  static std::string unique_name() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return fmt::format("cuzk_{}_{}_{}", test->test_suite_name(), test->name(), ::getpid());
  }

  std::filesystem::path folder_;
};

TEST_F(GenVanillaCommand, WritesProofsThatTheCheckAcceptsTogetherWithTheirMetaFile) {
  for (const char* size : {"2KiB", "4KiB", "32KiB", "512MiB"}) {
    for (const char* kind : {"porep", "winning-post", "window-post", "snap"}) {
      if (std::string(size) == "512MiB" && std::string(kind) == "snap") continue;  // takes seconds
      SCOPED_TRACE(fmt::format("{} {}", size, kind));
      const Outcome generated = generate(kind, size, "proof", {"--seed", "9"});
      ASSERT_EQ(generated.status, 0) << generated.err;
      EXPECT_THAT(generated.out, HasSubstr(path("proof.meta.json")));
      const Outcome checked = run_cuzk({"vanilla", "check", "--kind", kind, path("proof"),
                                        "--sector-size", size, "--meta", path("proof.meta.json")});
      EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
      EXPECT_THAT(checked.out, ::testing::Not(HasSubstr("not compared")));
    }
  }
}

TEST_F(GenVanillaCommand, MetaHasTheMembersOfAGoldenOne) {
  const json golden = cuzk::testing::golden_json("sectors/2KiB-v1_1/meta.json");
  for (const auto& [kind, member] :
       {std::pair("porep", "porep"), std::pair("winning-post", "winning"),
        std::pair("window-post", "window"), std::pair("snap", "update")}) {
    SCOPED_TRACE(kind);
    ASSERT_EQ(generate(kind, "2KiB", "proof", {"--seed", "1"}).status, 0);
    const json written = meta("proof");
    EXPECT_EQ(keys(written), (std::set<std::string>{"miner_id", member, "prover_id", "rng_seed",
                                                    "sector_bytes", "size"}));
    for (const char* same : {"miner_id", "prover_id", "rng_seed", "sector_bytes", "size"}) {
      EXPECT_EQ(written.at(same), golden.at(same)) << same;
    }
    EXPECT_EQ(keys(written.at(member)), keys(golden.at(member)));
    for (const auto& item : golden.at(member).items()) {
      EXPECT_EQ(written.at(member).at(item.key()).type(), item.value().type()) << item.key();
    }
  }
}

TEST_F(GenVanillaCommand, TheFilesAreAFunctionOfTheOptions) {
  for (const char* kind : {"porep", "winning-post", "window-post", "snap"}) {
    SCOPED_TRACE(kind);
    ASSERT_EQ(generate(kind, "2KiB", "a", {"--seed", "3"}).status, 0);
    ASSERT_EQ(generate(kind, "2KiB", "b", {"--seed", "3"}).status, 0);
    ASSERT_EQ(generate(kind, "2KiB", "c", {"--seed", "4"}).status, 0);
    const auto sha256 = [&](const char* name) {
      return hash::sha256(base::as_bytes(content(name)));
    };
    EXPECT_EQ(sha256("a"), sha256("b"));
    EXPECT_EQ(meta("a"), meta("b"));
    EXPECT_NE(sha256("a"), sha256("c"));
  }
}

TEST_F(GenVanillaCommand, OptionsTakeEffect) {
  ASSERT_EQ(generate("porep", "2KiB", "proof",
                     {"--miner-id", "1234", "--sector-number", "56", "--registered-proof", "15",
                      "--bare"})
                .status,
            0);
  const json c1 = json::parse(content("proof"));
  EXPECT_EQ(c1.at("registered_proof"), "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep");
  EXPECT_EQ(meta("proof").at("miner_id"), 1234);
  EXPECT_EQ(meta("proof").at("porep").at("sector_id"), 56);
  EXPECT_EQ(meta("proof").at("porep").at("partitions"), 13);
  EXPECT_EQ(meta("proof").at("porep").at("registered_proof"), c1.at("registered_proof"));
  ASSERT_EQ(generate("porep", "2KiB", "proof",
                     {"--sector-number", "56", "--registered-proof", "StackedDrg2KiBV1"})
                .status,
            0);
  EXPECT_EQ(json::parse(content("proof")).at("SectorNum"), 56);
  EXPECT_EQ(meta("proof").at("porep").at("api_version"), "1.0.0");

  ASSERT_EQ(generate("window-post", "2KiB", "proof",
                     {"--sectors", "5", "--sector-number", "7", "--api", "1.1.0"})
                .status,
            0);
  EXPECT_EQ(json::parse(content("proof")).size(), 5u);
  EXPECT_EQ(meta("proof").at("window").at("api_version"), "1.1.0");
  EXPECT_EQ(meta("proof").at("window").at("sectors").at(4).at("sector_id"), 11);
  ASSERT_EQ(generate("window-post", "2KiB", "proof").status, 0);
  EXPECT_EQ(json::parse(content("proof")).size(), 2u) << "a full partition";
}

TEST_F(GenVanillaCommand, RefusesWrongOptionsAndSaysWhich) {
  const auto expect_refused = [](const Outcome& result, const char* text) {
    EXPECT_EQ(result.status, 1) << result.out;
    EXPECT_THAT(result.err, HasSubstr(text));
  };
  expect_refused(generate("porep", "3KiB", "proof"), "3KiB");
  expect_refused(generate("porep", "2KiB", "proof", {"--registered-proof", "99"}), "99");
  expect_refused(generate("porep", "2KiB", "proof", {"--registered-proof", "StackedDrg8MiBV1"}),
                 "2KiB");
  expect_refused(generate("porep", "512MiB", "proof", {"--registered-proof", "12"}), "comm_r");
  expect_refused(generate("snap", "1GiB", "proof"), "1GiB");
  expect_refused(generate("snap", "2KiB", "proof", {"--bare"}), "--bare");
  expect_refused(generate("porep", "2KiB", "proof", {"--sectors", "3"}), "--sectors");
  expect_refused(generate("winning-post", "2KiB", "proof", {"--api", "1.2.0"}), "--api");
  expect_refused(generate("window-post", "2KiB", "proof", {"--registered-proof", "5"}),
                 "--registered-proof");
  expect_refused(generate("window-post", "2KiB", "proof", {"--sectors", "0"}), "0 sectors");
  expect_refused(generate("snap", "2KiB", "no/such/folder/proof"), "no/such/folder/proof");
  EXPECT_FALSE(std::filesystem::exists(path("proof"))) << "a refused command left a file";
  EXPECT_EQ(generate("sector", "2KiB", "proof").status, 64);
  for (const char* number : {"-5", "", "+1", "18446744073709551616"}) {
    const Outcome result = generate("porep", "2KiB", "proof", {"--sector-number", number});
    EXPECT_EQ(result.status, 64) << number;
    EXPECT_THAT(result.err, HasSubstr("--sector-number"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("proof")));
  EXPECT_EQ(run_cuzk({"gen-vanilla", "snap", "--sector-size", "2KiB"}).status, 64);
}

}  // namespace
}  // namespace cuzk::cli
