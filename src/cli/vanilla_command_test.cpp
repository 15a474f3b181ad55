#include "cli/testing.hpp"
#include "filecoin/vanilla_file.hpp"
#include "support/golden.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuzk::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class VanillaCommand : public ::testing::Test {
 protected:
  VanillaCommand() : folder_(std::filesystem::temp_directory_path() / unique_name()) {
    std::filesystem::create_directories(folder_);
  }
  ~VanillaCommand() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, base::ByteView content) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
    return path;
  }
  std::string golden(const std::string& name) const {
    return write(std::filesystem::path(name).filename(), testing::golden_bytes(name));
  }
  std::string in_folder(const std::string& name) const { return folder_ / name; }

 private:
  static std::string unique_name() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return fmt::format("cuzk_{}_{}_{}", test->test_suite_name(), test->name(), ::getpid());
  }

  std::filesystem::path folder_;
};

TEST_F(VanillaCommand, ChecksTheGoldenProofsOfEveryKind) {
  const std::string meta = golden("sectors/2KiB-v1_1/meta.json");
  for (const auto& [kind, file, proofs] :
       {std::tuple("porep", "c1.wrapper.json", "all 2 proofs hold"),
        {"porep", "c1.json", "all 2 proofs hold"},
        {"winning-post", "winning.vanilla.json", "all 1 proofs hold"},
        {"window-post", "window.vanilla.json", "all 1 proofs hold"},
        {"snap", "update.vanilla.json", "all 10 proofs hold"}}) {
    const std::string vanilla = golden(fmt::format("sectors/2KiB-v1_1/{}", file));
    const Outcome with = run_cuzk({"vanilla", "check", "--kind", kind, vanilla, "--meta", meta});
    EXPECT_EQ(with.status, 0) << with.err;
    EXPECT_THAT(with.out, HasSubstr(proofs));
    EXPECT_THAT(with.out, ::testing::Not(HasSubstr("not compared")));
    const Outcome without = run_cuzk({"vanilla", "check", "--kind", kind, vanilla});
    EXPECT_EQ(without.status, 0) << without.err;
    EXPECT_THAT(without.out, HasSubstr("not compared, for want of a value: "));
  }
}

TEST_F(VanillaCommand, ChecksStandInsAndRawFiles) {
  const std::string meta = golden("sectors/32KiB-v1_1/meta.json");
  const std::string c1 = golden("sectors/32KiB-v1_1/c1.json");
  EXPECT_EQ(run_cuzk({"vanilla", "check", "--kind", "porep", c1, "--meta", meta}).status, 0);
  EXPECT_EQ(run_cuzk({"vanilla", "check", "--kind", "porep", c1, "--sector-size", "32KiB"}).status,
            0);
  EXPECT_EQ(run_cuzk({"vanilla", "check", "--kind", "porep", c1}).status, 1);
  const std::string multi = golden("sectors/32KiB-v1_1/window-multi.vanilla.json");
  EXPECT_EQ(run_cuzk({"vanilla", "check", "--kind", "window-post", multi, "--meta", meta}).status,
            1);
  EXPECT_EQ(run_cuzk({"vanilla", "check", "--kind", "window-post", multi, "--meta", meta,
                      "--meta-section", "window-multi"})
                .status,
            0);
  const std::string real = golden("real/wpost-32GiB-one-sector.vproof");
  EXPECT_EQ(run_cuzk({"vanilla", "check", "--kind", "window-post", real, "--meta",
                      golden("real/wpost-32GiB-one-sector.meta.json")})
                .status,
            0);
}

TEST_F(VanillaCommand, NamesEveryBadProofAndFails) {
  auto blobs = filecoin::decode_vanilla_file(
      testing::golden_bytes("sectors/2KiB-v1_1/window-multi.vanilla.json"));
  blobs[0][200] ^= 1;  // a sibling of the first path
  blobs[2].pop_back();
  const std::string file = write("bad.json", base::as_bytes(filecoin::encode_vanilla_file(blobs)));
  const std::string meta = golden("sectors/2KiB-v1_1/meta.json");
  const std::vector<std::string> command = {"vanilla",     "check",  "--kind", "window-post",
                                            file,          "--meta", meta,     "--meta-section",
                                            "window-multi"};
  const Outcome text = run_cuzk(command);
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out,
              HasSubstr("bad: index 0 (sector 1): inclusion_proofs[0]: the Merkle path does not "
                        "reach comm_r_last\n"
                        "bad: index 2 (sector 3): PoSt vanilla proof: truncated at byte"));
  EXPECT_THAT(text.err,
              StartsWith("cuzk: BAD-VANILLA: 2 of 3 proofs rejected: index 0 (sector 1): "));

  auto with_json = command;
  with_json.push_back("--json");
  const Outcome machine = run_cuzk(with_json);
  EXPECT_EQ(machine.status, 1);
  const json out = json::parse(machine.out);
  EXPECT_EQ(out["ok"], false);
  EXPECT_EQ(out["proofs"], 3);
  EXPECT_EQ(out["sector_size"], "2KiB");
  ASSERT_EQ(out["bad"].size(), 2u);
  EXPECT_EQ(out["bad"][0]["index"], 0);
  EXPECT_EQ(out["bad"][0]["sector"], 1);
  EXPECT_TRUE(out["bad"][0]["partition"].is_null());
  EXPECT_EQ(out["bad"][0]["where"], "inclusion_proofs[0]");
}

TEST_F(VanillaCommand, ComparesWithTheMetaFile) {
  const std::string c1 = golden("sectors/2KiB-v1_1/c1.wrapper.json");
  json meta = testing::golden_json("sectors/2KiB-v1_1/meta.json");
  meta["porep"]["sector_id"] = 2;
  meta["porep"]["registered_proof"] = "StackedDrg2KiBV1";
  const Outcome result = run_cuzk({"vanilla", "check", "--kind", "porep", c1, "--meta",
                                   write("meta.json", base::as_bytes(meta.dump()))});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(
      result.out,
      HasSubstr("registered_proof: it is StackedDrg2KiBV1_1, the meta file says StackedDrg2KiBV1"));
  EXPECT_THAT(result.out, HasSubstr("replica_id: it is not that of prover"));
}

TEST_F(VanillaCommand, SaysWhatAFileHolds) {
  const json meta = testing::golden_json("sectors/8MiB-v1_1/meta.json");
  const auto info = [&](const char* kind, const char* file) {
    const Outcome result = run_cuzk({"vanilla", "info", "--json", "--kind", kind,
                                     golden(fmt::format("sectors/8MiB-v1_1/{}", file))});
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out);
  };
  const json porep = info("porep", "c1.wrapper.json");
  EXPECT_EQ(porep["registered_proof"], "StackedDrg8MiBV1_1");
  EXPECT_EQ(porep["sector_number"], 1);
  EXPECT_EQ(porep["comm_r"], meta["porep"]["comm_r"]);
  EXPECT_EQ(porep["partitions"][0]["challenges"], json({108307, 69010}));
  const json window = info("window-post", "window-multi.vanilla.json");
  EXPECT_EQ(window["sector_size"], "8MiB");
  ASSERT_EQ(window["sectors"].size(), 3u);
  EXPECT_EQ(window["sectors"][2]["challenges"], meta["window-multi"]["sectors"][2]["challenges"]);
  EXPECT_EQ(window["sectors"][2]["comm_r"], meta["window-multi"]["sectors"][2]["comm_r"]);
  const json snap = info("snap", "update.vanilla.json");
  EXPECT_EQ(snap["partitions"].size(), 4u);
  EXPECT_EQ(snap["partitions"][3]["comm_d_new"], meta["update"]["comm_d_new"]);

  const Outcome text = run_cuzk({"vanilla", "info", "--kind", "winning-post",
                                 golden("sectors/8MiB-v1_1/winning.vanilla.json")});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("sectors[0]\n  sector_number     1\n  comm_r "));
}

TEST_F(VanillaCommand, RefusesWhatItCannotRead) {
  const std::string junk = write("junk", base::as_bytes("junk"));
  const std::string short_blob = write("short", base::Bytes(100));
  const std::string empty = write("empty", base::as_bytes("[]"));
  const auto complaint = [](std::vector<std::string> arguments) {
    const Outcome result = run_cuzk(std::move(arguments));
    EXPECT_EQ(result.status, 1);
    return result.err;
  };
  EXPECT_THAT(complaint({"vanilla", "info", "--kind", "porep", junk}),
              HasSubstr(junk + ": C1 output: the top level"));
  EXPECT_THAT(complaint({"vanilla", "check", "--kind", "snap", junk}),
              HasSubstr(junk + ": vanilla proofs: "));
  EXPECT_THAT(complaint({"vanilla", "check", "--kind", "window-post", short_blob}),
              HasSubstr("give --sector-size"));
  EXPECT_THAT(
      complaint({"vanilla", "check", "--kind", "window-post", short_blob, "--sector-size", "2KiB"}),
      HasSubstr("BAD-VANILLA: 1 of 1 proofs rejected: index 0 (sector 0): PoSt vanilla proof"));
  EXPECT_THAT(complaint({"vanilla", "check", "--kind", "window-post", empty}),
              HasSubstr("no vanilla proof in it"));
  EXPECT_THAT(complaint({"vanilla", "check", "--kind", "snap", short_blob, "--meta", junk}),
              HasSubstr("meta file: "));
  // Neither a large file nor a hostile one gets to the terminal.
  const std::string hostile = R"(\u001b]0;title\u0007\n)" + std::string(std::size_t{1} << 20, 'a');
  const std::string of_file =
      write("hostile", base::as_bytes(R"({"registered_proof":")" + hostile + R"(","x":1})"));
  const std::string quoted = complaint({"vanilla", "info", "--kind", "porep", of_file});
  EXPECT_THAT(quoted, HasSubstr(R"(seal proof '\u001b]0;title\u0007\naaa)"));
  EXPECT_THAT(quoted, HasSubstr("aaa...' is unknown; known are 0 StackedDrg2KiBV1, "));
  EXPECT_LT(quoted.size(), 2048u);
  EXPECT_EQ(quoted.find_first_of(std::string("\x1b\x07\n", 3)), quoted.size() - 1);
  const std::string meta = golden("real/wpost-32GiB-one-sector.meta.json");
  EXPECT_THAT(complaint({"vanilla", "check", "--kind", "snap",
                         golden("sectors/2KiB-v1_1/update.vanilla.json"), "--meta", meta}),
              HasSubstr("no \"update\" in it"));
  EXPECT_THAT(complaint({"vanilla", "check", "--kind", "snap", short_blob, "--sector-size", "2KiB",
                         "--meta", meta}),
              HasSubstr("--sector-size is 2KiB, but"));
  EXPECT_EQ(run_cuzk({"vanilla", "check", "--kind", "snap", in_folder("missing")}).status, 64);
  EXPECT_EQ(run_cuzk({"vanilla", "check", "--kind", "other", junk}).status, 64);
  EXPECT_EQ(run_cuzk({"vanilla"}).status, 64);
}

}  // namespace
}  // namespace cuzk::cli
