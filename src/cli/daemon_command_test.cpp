#include "base/mapped_file.hpp"
#include "cli/testing.hpp"
#include "service/testing/test_server.hpp"
#include "support/golden.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <fstream>
#include <future>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuzk::cli {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// ---- daemon and plan: what they do without serving
// -----------------------------------------------

class DaemonCommandTest : public ::testing::Test {
 protected:
  std::string config(const std::string& text) {
    const std::string path = (folder_ / "cuzk.toml").string();
    std::ofstream(path) << text;
    return path;
  }

  service::testing::TempFolder folder_;
};

TEST_F(DaemonCommandTest, CheckConfigJudgesTheFile) {
  const Outcome fine =
      run_cuzk({"daemon", "--config", config("[gpus]\nallow_cpu = true\n"), "--check-config"});
  EXPECT_EQ(fine.status, 0) << fine.err;
  EXPECT_THAT(fine.out, HasSubstr("fine"));

  const Outcome unknown =
      run_cuzk({"daemon", "--config", config("[gpus]\nallow_cpus = true\n"), "--check-config"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("allow_cpu"));
  EXPECT_THAT(unknown.err, HasSubstr("cuzk.toml:2"));

  const Outcome open = run_cuzk(
      {"daemon", "--config", config("[daemon]\nlisten = \"0.0.0.0:9820\"\n"), "--check-config"});
  EXPECT_EQ(open.status, 1);
  EXPECT_THAT(open.err, HasSubstr("allow_insecure"));

  EXPECT_EQ(run_cuzk({"daemon", "--config", (folder_ / "absent.toml").string()}).status, 1);
}

TEST_F(DaemonCommandTest, CheckConfigReportsWhatIsDeprecated) {
  const Outcome old = run_cuzk(
      {"daemon", "--config", config("[synthesis]\npartition_workers = 4\n"), "--check-config"});
  EXPECT_EQ(old.status, 0) << old.err;
  EXPECT_THAT(old.out, HasSubstr("synthesis.partition_workers"));
}

TEST_F(DaemonCommandTest, PrintConfigHasTheCommandLineOverTheFile) {
  const std::string file = config("[daemon]\nlisten = \"127.0.0.1:1\"\n");
  EXPECT_THAT(run_cuzk({"daemon", "-c", file, "--print-config"}).out, HasSubstr("\"127.0.0.1:1\""));
  const Outcome printed = run_cuzk(
      {"daemon", "-c", file, "--listen", "127.0.0.1:2", "--log-level", "debug", "--print-config"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("\"127.0.0.1:2\""));
  EXPECT_THAT(printed.out, HasSubstr("level = \"debug\""));
  EXPECT_EQ(run_cuzk({"daemon", "-c", file, "--log-level", "loud", "--print-config"}).status, 1);
}

TEST_F(DaemonCommandTest, TheProgramAloneIsTheDaemon) {
  const std::string file = config("[daemon]\nlisten = \"127.0.0.1:1\"\n");
  EXPECT_THAT(run_cuzk({"--config", file, "--print-config"}).out, HasSubstr("\"127.0.0.1:1\""));
  EXPECT_EQ(run_cuzk({}).status, 64);
  EXPECT_EQ(run_cuzk({"--version"}).status, 0);
}

// What a machine without driver and without parameters can do.
TEST_F(DaemonCommandTest, HelpAndConfigurationNeedNoDevice) {
  const Outcome all = run_cuzk({"--help"});
  EXPECT_EQ(all.status, 0) << all.err;
  for (const char* command : {"daemon", "plan", "prove", "verify", "params", "bench", "status"}) {
    EXPECT_THAT(all.out, HasSubstr(command));
    EXPECT_EQ(run_cuzk({command, "--help"}).status, 0) << command;
  }
  const std::string file = config("[gpus]\nallow_cpu = false\ndevices = [\"7\"]\n");
  EXPECT_EQ(run_cuzk({"daemon", "--config", file, "--check-config"}).status, 0);
  EXPECT_EQ(run_cuzk({"daemon", "--config", file, "--print-config"}).status, 0);
}

// Whoever writes it to a file is to know that the disk is full.
TEST_F(DaemonCommandTest, OutputThatCannotBeWrittenIsNoSuccess) {
  const std::string file = config("[gpus]\nallow_cpu = true\n");
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO), full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  ::dup2(full, STDOUT_FILENO);
  std::vector<std::string> words = {"cuzk", "daemon", "--config", file, "--print-config"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStderr();
  const int status = run(static_cast<int>(argv.size()), argv.data());
  const std::string err = ::testing::internal::GetCapturedStderr();
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  ::close(full);
  EXPECT_EQ(status, 3);
  EXPECT_EQ(err, "cuzk: standard output: No space left on device\n");
}

TEST_F(DaemonCommandTest, WithoutADeviceNothingStarts) {
  const Outcome outcome = run_cuzk({"daemon", "--config",
                                    config(fmt::format("[daemon]\nlisten = \"unix://{}\"\n",
                                                       (folder_ / "cuzk.sock").string()))});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("NO-GPU"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cuzk.sock"));
}

TEST_F(DaemonCommandTest, PlanTellsWhatIsMissing) {
  const std::string file = config(fmt::format(
      "[srs]\nparam_cache = \"{}\"\n[gpus]\nallow_cpu = true\n", (folder_ / "params").string()));
  Outcome plan = run_cuzk({"plan", "--config", file});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("no such folder"));
  std::filesystem::create_directory(folder_ / "params");
  plan = run_cuzk({"plan", "--config", file});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("porep-32g"));
  EXPECT_THAT(plan.out, HasSubstr("v28-stacked"));
}

// ---- commands that talk to a daemon
// --------------------------------------------------------------

class ClientCommandTest : public service::testing::ServerTest {
 protected:
  void SetUp() override {
    engine_.picture = service::testing::sample_status();
    start();
    address_ = "unix://" + server_->address().path;
  }
  Outcome call(std::vector<std::string> words) {
    words.insert(words.end(), {"--addr", address_});
    return run_cuzk(std::move(words));
  }

  std::string address_;
};

TEST_F(ClientCommandTest, Status) {
  const Outcome text = call({"status"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("cuzk 0.1.0: ready, up 61 s, 20 proved, 4 failed"));
  EXPECT_THAT(text.out, HasSubstr("wdpost-1000-3-[1 2 \"<b>\"]"));
  EXPECT_THAT(text.out, HasSubstr("waits for host memory"));
  EXPECT_THAT(text.out, HasSubstr("OUT OF SERVICE: 3 bad proofs in a row"));
  EXPECT_THAT(text.out, HasSubstr("PARAMS-MISSING"));
  const Outcome json = call({"status", "--json"});
  EXPECT_THAT(json.out, HasSubstr("\"total_proofs_completed\": \"20\""));
}

TEST_F(ClientCommandTest, MetricsPreloadEvictCancel) {
  EXPECT_THAT(call({"metrics"}).out, HasSubstr("cuzk_queue_depth 7\n"));
  EXPECT_THAT(call({"preload", "porep-2k"}).out, HasSubstr("porep-2k: loaded in 1234 ms"));
  EXPECT_THAT(call({"preload", "porep-2k"}).out, HasSubstr("was loaded already"));
  EXPECT_THAT(call({"evict", "porep-2k"}).out, HasSubstr("porep-2k: dropped"));
  EXPECT_THAT(call({"evict", "porep-2k"}).out, HasSubstr("was not loaded"));
  engine::JobRequest request;
  request.request_id = "a b";
  engine_.submit(request);
  EXPECT_THAT(call({"cancel", "a b"}).out, HasSubstr("a b: cancelled"));
  EXPECT_THAT(call({"cancel", "a b"}).out, HasSubstr("had ended already"));
}

TEST_F(ClientCommandTest, FailuresTellWhetherToTryAgain) {
  const Outcome unknown = call({"cancel", "nobody"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("NOT-FOUND"));
  engine_.refusal.emplace(engine::ErrorCode::kHostMemory, "needs 300 GiB");
  EXPECT_EQ(call({"preload", "porep-64g"}).status, 3);
  server_.reset();
  EXPECT_EQ(call({"status"}).status, 3);
  EXPECT_EQ(run_cuzk({"status", "--addr", "nonsense"}).status, 1);
}

// ---- prove --addr
// --------------------------------------------------------------------------------

class ProveThroughDaemonTest : public ClientCommandTest {
 protected:
  void SetUp() override {
    ClientCommandTest::SetUp();
    base::FileWriter writer(c1_);
    writer.write(cuzk::testing::golden_bytes("sectors/2KiB-v1_1/c1.json"));
    writer.commit();
  }

  /// Runs the command while the daemon ends its job so.
  Outcome prove(const engine::JobResult& result, std::vector<std::string> more = {}) {
    auto ended = std::async(std::launch::async, [&] {
      return engine_.until_total_waiters(1) &&
             engine_.finish(engine_.requests().back().request_id, result);
    });
    more.insert(more.begin(), {"prove", "porep", "--c1", c1_, "--meta", meta_, "--out", out_});
    const Outcome outcome = call(std::move(more));
    EXPECT_TRUE(ended.get());
    return outcome;
  }
  /// As if the daemon had proved partitions of PoReps since.
  void count_partitions(std::uint64_t count) {
    auto& stages = engine_.picture.counters.kinds[engine::ProofKind::kPorep].stages;
    for (const char* stage : {"witness", "device", "msm_h", "verify"}) {
      stages[stage].count += count;
      stages[stage].sum_seconds += 2.5 * static_cast<double>(count);
    }
  }

  const std::string c1_ = (folder_ / "c1.json").string();
  const std::string meta_ = cuzk::testing::golden_path("sectors/2KiB-v1_1/meta.json").string();
  const std::string out_ = (folder_ / "proof").string();
};

TEST_F(ProveThroughDaemonTest, SendsTheFilesAndKeepsTheProof) {
  engine_.on_request = [this](const engine::JobRequest&) { count_partitions(1); };
  const std::string trace = (folder_ / "trace.json").string();
  const Outcome outcome = prove(service::testing::FakeEngine::completed(), {"--trace", trace});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const engine::JobRequest request = engine_.requests().at(0);
  EXPECT_EQ(request.kind, engine::ProofKind::kPorep);
  EXPECT_EQ(request.vanilla_proof, cuzk::testing::golden_bytes("sectors/2KiB-v1_1/c1.json"));
  EXPECT_EQ(request.miner_id, 1000u);
  EXPECT_EQ(request.sector_number, 1u);
  const base::MappedFile proof(out_);
  EXPECT_EQ(base::Bytes(proof.bytes().begin(), proof.bytes().end()), base::Bytes(192, 0xab));
  EXPECT_THAT(outcome.err, ::testing::ContainsRegex("\n  srs_load +2\\.0 ms\n"));
  EXPECT_THAT(outcome.err,
              ::testing::ContainsRegex("\n  device +4\\.0 ms\n    msm_h +2500\\.0 ms\n"
                                       "  verify +2500\\.0 ms\n  request to proof, cpu +5\\.0 ms"));
  std::ifstream file(trace);
  EXPECT_EQ(nlohmann::json::parse(file).at(4), nlohmann::json({{"stage", "msm_h"}, {"ms", 2500}}));
}

TEST_F(ProveThroughDaemonTest, StagesOfOthersAreNotItsOwn) {
  engine_.on_request = [this](const engine::JobRequest&) { count_partitions(2); };
  const Outcome outcome = prove(service::testing::FakeEngine::completed());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("  witness "));
  EXPECT_THAT(outcome.err, Not(HasSubstr("msm_h")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("verify")));
}

TEST_F(ProveThroughDaemonTest, AFailedJobLeavesNoProof) {
  using service::testing::FakeEngine;
  const Outcome bad = prove(FakeEngine::failed(engine::ErrorCode::kBadVanilla, "sector 1"));
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.err, HasSubstr("BAD-VANILLA: sector 1"));
  EXPECT_EQ(prove(FakeEngine::failed(engine::ErrorCode::kGpuFault, "cuda:0")).status, 3);
  EXPECT_EQ(prove(FakeEngine::failed(engine::ErrorCode::kInternal, "oh")).status, 4);
  EXPECT_FALSE(std::filesystem::exists(out_));
  engine_.refusal.emplace(engine::ErrorCode::kQueueFull, "50 jobs");
  EXPECT_EQ(call({"prove", "porep", "--c1", c1_, "--out", out_}).status, 3);
}

TEST_F(ProveThroughDaemonTest, OptionsOfOneWayDoNotMixWithTheOther) {
  for (const char* option : {"--params-dir", "--backend", "--cache-dir", "--insecure-test-r"})
    EXPECT_EQ(call({"prove", "porep", "--c1", c1_, "--out", out_, option, "x"}).status, 64);
  EXPECT_EQ(run_cuzk({"prove", "porep", "--c1", c1_, "--out", out_, "--timeout", "1"}).status, 64);
  const Outcome nowhere = run_cuzk({"prove", "porep", "--c1", c1_, "--out", out_});
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("--addr"));
  EXPECT_EQ(call({"prove", "snap", "--c1", c1_, "--out", out_}).status, 1);
}

}  // namespace

}  // namespace cuzk::cli
