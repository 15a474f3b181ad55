// The load commands with real proofs: WindowPoSt of 2 KiB sectors, on the CPU, with a development
// key.

#include "cli/commands.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cuzk::daemon_test {
namespace {

using nlohmann::json;

int run(std::vector<std::string> words) {
  words.insert(words.begin(), "cuzk");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return cli::run(static_cast<int>(words.size()), argv.data());
}

class BenchCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string name = (std::filesystem::temp_directory_path() / "cuzk-bench-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    ASSERT_EQ(run({"setup", "--circuit", "window-post", "--sector-size", "2KiB", "--params-dir",
                   folder_, "--seed", "1"}),
              0);
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  /// Runs a load command on jobs of that kind, and returns its status.
  static int bench(const std::string& command, const std::string& kind,
                   const std::vector<std::string>& more) {
    std::filesystem::remove(result());
    std::vector<std::string> words{
        "bench",  command,        "--kind", kind,    "--sector-size",
        "2KiB",   "--params-dir", folder_,  "--set", "gpus.allow_cpu=true",
        "--json", result()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  static std::string result() { return folder_ + "/result.json"; }
  static json read_result() {
    std::ifstream file(result());
    return json::parse(file);
  }

  static inline std::string folder_;
};

TEST_F(BenchCommands, BatchProvesAndVerifiesDistinctJobs) {
  ASSERT_EQ(bench("batch", "window-post", {"--count", "3", "-j", "2"}), 0);
  const json batch = read_result();
  EXPECT_EQ(batch["valid"], 3);
  const json& kind = batch["kinds"]["window-post"];
  EXPECT_EQ(kind["sent"], 3);
  EXPECT_EQ(kind["invalid"], 0);
  EXPECT_EQ(kind["seconds"]["count"], 3);
  EXPECT_GT(kind["timings_ms"]["gpu_compute"]["p50"], 0);
  EXPECT_GE(kind["seconds"]["p99"], kind["seconds"]["p50"]);
}

TEST_F(BenchCommands, AJobThatIsRefusedIsNoSuccess) {
  // No key for it in the folder: the daemon's refusal, PARAMS-MISSING.
  EXPECT_EQ(bench("batch", "winning-post", {"--count", "1"}), 1);
  EXPECT_EQ(read_result()["kinds"]["winning-post"]["not_completed"]["refused PARAMS-MISSING"], 1);
}

TEST_F(BenchCommands, StressFindsNoFault) {
  ASSERT_EQ(bench("stress", "window-post",
                  {"--seconds", "1.5", "-j", "3", "--twins", "0.3", "--damaged", "0.3",
                   "--vanishing", "0.2", "--vanish-after-ms", "50"}),
            0);
  const json stress = read_result();
  EXPECT_EQ(stress["faults"], json::array());
  EXPECT_GT(stress["kinds"]["window-post"]["not_completed"].value("refused BAD-VANILLA", 0), 0);
}

TEST_F(BenchCommands, AbMeasuresStageByStageAndJudgesNoSingleRun) {
  ASSERT_EQ(bench("ab", "window-post",
                  {"--runs", "1", "--set-a", "pipeline.overlap=true", "--set-b",
                   "pipeline.overlap=false"}),
            0);
  const json ab = read_result();
  EXPECT_NE(ab["a"], ab["b"]);
  for (const char* row : {"wall", "client", "witness", "msm_h", "verify"}) {
    ASSERT_TRUE(ab["rows"].contains(row)) << row;
    EXPECT_EQ(ab["rows"][row]["a_s"].size(), 1u);
    EXPECT_GT(ab["rows"][row]["median_b_s"], 0) << row;
    EXPECT_EQ(ab["rows"][row]["verdict"], "too few runs");
  }
  EXPECT_EQ(bench("ab", "window-post", {"--runs", "2"}), 1);  // A and B are the same
}

TEST_F(BenchCommands, OptionsThatContradictEachOther) {
  EXPECT_EQ(run({"bench", "batch", "--kind", "porep"}), 1);  // neither size nor file
  EXPECT_EQ(run({"bench", "batch", "--kind", "door", "--sector-size", "2KiB"}), 1);
  EXPECT_EQ(bench("batch", "window-post=0", {"--count", "1"}), 1);
  EXPECT_EQ(bench("batch", "window-post", {"--count", "1", "--addr", "unix:///nowhere"}), 1);
  EXPECT_EQ(run({"bench", "batch", "--kind", "window-post", "--sector-size", "2KiB", "--addr",
                 "unix:///nowhere"}),
            1);  // nothing to verify answers with
  EXPECT_EQ(bench("batch", "window-post", {"--set", "pipeline.overlaps=true"}), 1);
  EXPECT_EQ(bench("batch", "window-post", {"--set", "pipeline.overlap=7"}), 1);
}

}  // namespace
}  // namespace cuzk::daemon_test
