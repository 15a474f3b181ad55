#include "base/error.hpp"
#include "engine/engine.hpp"
#include "engine/testing/development_key.hpp"
#include "engine/testing/golden_request.hpp"
#include "engine/testing/log_capture.hpp"
#include "engine/testing/temporary_variable.hpp"
#include "groth16/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <thread>

// The whole of it on the CPU: requests as Curio sends them from really sealed sectors, keys from
// files, proofs that an independent verifier accepts.
namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using testing::golden_request;
using ::testing::HasSubstr;
using ::testing::Not;

class EngineFilecoin : public ::testing::Test {
 protected:
  EngineFilecoin() {
    config.gpus.allow_cpu = true;
    config.srs.param_cache = folder.path();
    config.srs.param_cache_source = "config";
    config.memory.total_budget.bytes = std::uint64_t{4} << 30;
  }
  void start() {
    engine = std::make_unique<Engine>(config, std::vector<std::unique_ptr<ProvingDevice>>(),
                                      std::make_unique<Journal>(":memory:", Journal::Options{}));
  }
  /// The parameter files: nobody is fetching them.
  void written_long_ago() {
    for (const auto& file : std::filesystem::directory_iterator(folder.path()))
      std::filesystem::last_write_time(file, {});
  }
  JobResult prove(const JobRequest& request) {
    return engine->await(engine->submit(request).job_id, 5min).value();
  }
  /// What the engine says to a request that it does not take.
  EngineError refusal(const JobRequest& request) {
    try {
      engine->submit(request);
    } catch (const EngineError& error) {
      return error;
    }
    ADD_FAILURE() << "taken";
    return {ErrorCode::kNone, ""};
  }
  /// With the verifying key's own file and the reference's public inputs.
  void expect_valid(const JobResult& result, const CircuitId& circuit,
                    std::vector<std::string> golden_inputs) {
    ASSERT_EQ(result.state, JobState::kCompleted) << result.error;
    ASSERT_EQ(result.proof.size(), groth16::Proof::kBytes);
    std::vector<curve::Fr> inputs;
    for (const std::string& hex : golden_inputs)
      inputs.push_back(curve::Fr::from_bytes_le(base::bytes32_from_hex(hex).value()).value());
    const groth16::Verifier verifier(
        groth16::read_verifying_key(KeyPaths(folder.path(), circuit).verifying_key));
    const auto proofs = groth16::decode_proofs(result.proof, 1, "result");
    EXPECT_TRUE(verifier.verify(proofs[0], inputs));
    inputs.back() += curve::Fr::one();
    EXPECT_FALSE(verifier.verify(proofs[0], inputs));
  }

  testing::TemporaryFolder folder;
  Config config;
  std::unique_ptr<Engine> engine;
  const CircuitId window = CircuitId::parse("wpost-2k"), winning = CircuitId::parse("winning-2k");
};

TEST_F(EngineFilecoin, ProvesWindowPost) {
  testing::DevelopmentKeys::put(window, folder.path());
  start();
  const JobResult result = prove(golden_request("2KiB-v1_1", "window"));
  expect_valid(result, window, testing::golden_inputs("2KiB-v1_1", "window")[0]);
  EXPECT_EQ(result.backend, "cpu");
  // Both partitions of three sectors, each with its own request.
  JobRequest all = golden_request("2KiB-v1_1", "window-multi");
  for (std::uint32_t k = 0; k < 2; ++k) {
    JobRequest part = all;
    part.request_id = "wdpost-1000-" + std::to_string(k);
    part.partition_index = k;
    part.vanilla_proofs.clear();
    for (std::size_t i = 2 * k; i < std::min<std::size_t>(2 * k + 2, 3); ++i)
      part.vanilla_proofs.push_back(all.vanilla_proofs[i]);
    expect_valid(prove(part), window, testing::golden_inputs("2KiB-v1_1", "window-multi")[k]);
  }
  const Status status = engine->status();
  EXPECT_EQ(status.devices[0].proofs, 3U);
  EXPECT_TRUE(status.cpu_proving);
  EXPECT_GT(status.counters.kinds.at(ProofKind::kWindowPost).stages.at("msm_b_g2.tail").count, 0U);
}

TEST_F(EngineFilecoin, ProvesWinningPost) {
  testing::DevelopmentKeys::put(winning, folder.path(), false);
  start();
  while (!engine->ready()) std::this_thread::sleep_for(5ms);
  const JobResult result = prove(golden_request("2KiB-v1_1", "winning"));
  expect_valid(result, winning, testing::golden_inputs("2KiB-v1_1", "winning")[0]);
  EXPECT_EQ(result.timings.srs_load.count(), 0) << "it was there before the request";
}

// A machine without GPU, or with it switched off, whose folder for temporary files cannot be used.
TEST_F(EngineFilecoin, TheCpuAsksForNoGpuAndLeavesNoTemporaryFiles) {
  config.reliability.stall_warning = std::chrono::hours(1);  // which would name the stage, "gpu"
  testing::DevelopmentKeys::put(winning, folder.path(), false);
  const testing::TemporaryVariable temp("TMPDIR", (folder.path() / "none").string());
  const testing::LogCapture log;
  start();
  while (!engine->ready()) std::this_thread::sleep_for(5ms);
  const JobRequest request = golden_request("2KiB-v1_1", "winning");
  for (int i = 0; i < 3; ++i) {
    JobRequest again = request;
    again.request_id += std::to_string(i);
    const JobResult result = prove(again);
    expect_valid(result, winning, testing::golden_inputs("2KiB-v1_1", "winning")[0]);
    EXPECT_EQ(result.backend, "cpu");
    EXPECT_EQ(result.attempts, 1U);
  }
  const Status status = engine->status();
  ASSERT_EQ(status.devices.size(), 1U);
  EXPECT_EQ(status.devices[0].name, "cpu");
  EXPECT_EQ(status.devices[0].faults, 0U);
  EXPECT_EQ(status.devices[0].proofs, 3U);
  engine.reset();
  EXPECT_THAT(log.text(), HasSubstr("completed"));
  // But for the name of a stage, which logs of the Rust daemon are searched for.
  const std::string text = std::regex_replace(log.text(), std::regex("gpu_total"), "");
  for (const char* word : {"gpu", "GPU", "cuda", "CUDA", "driver"})
    EXPECT_THAT(text, Not(HasSubstr(word)));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "none"));
}

// Of a folder with the parameters of one small circuit.
TEST_F(EngineFilecoin, EveryCircuitIsListedAndWhatIsNotThereRefusedByName) {
  testing::DevelopmentKeys::put(winning, folder.path(), false);
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder.path()))
      if (file.path().extension() != ".checked") names.insert(file.path().filename());
    return names;
  };
  const std::set<std::string> before = files();
  start();
  while (!engine->ready()) std::this_thread::sleep_for(5ms);
  std::map<std::string, CircuitStatus> circuits;
  for (CircuitStatus& circuit : engine->status().circuits)
    circuits[circuit.circuit_id] = std::move(circuit);
  for (const CircuitId& id : CircuitId::of_network()) {
    const std::string name = id.to_string();
    ASSERT_TRUE(circuits.contains(name)) << name;
    if (id == winning) {
      EXPECT_EQ(circuits[name].readiness, CircuitStatus::Readiness::kReady);
      EXPECT_TRUE(circuits[name].loaded);
      continue;
    }
    EXPECT_EQ(circuits[name].readiness, CircuitStatus::Readiness::kMissing) << name;
    EXPECT_THAT(circuits[name].detail, HasSubstr(name + ": v28-"));
    EXPECT_THAT(circuits[name].detail, HasSubstr(folder.path().string() + " (from config)"));
  }
  JobRequest large = golden_request("2KiB-v1_1", "winning");
  large.sector_size = filecoin::SectorSize::parse("32GiB").bytes();
  large.registered_proof = static_cast<std::uint64_t>(
      filecoin::winning_post_proof(filecoin::SectorSize::parse("32GiB")));
  try {
    engine->submit(large);
    FAIL();
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kParamsMissing);
    EXPECT_THAT(error.what(), HasSubstr("winning-32g: v28-"));
  }
  EXPECT_EQ(files(), before) << "nothing is made";
}

TEST_F(EngineFilecoin, ADamagedVerifyingKeyStopsItsCircuitOnly) {
  testing::DevelopmentKeys::put(window, folder.path(), false);
  testing::DevelopmentKeys::put(winning, folder.path(), false);
  const auto file = KeyPaths(folder.path(), winning).verifying_key;
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(500);
    const int byte = stream.get();
    stream.seekp(500);
    stream.put(static_cast<char>(byte ^ 1));
  }
  written_long_ago();
  start();
  while (!engine->ready()) std::this_thread::sleep_for(5ms);
  const EngineError error = refusal(golden_request("2KiB-v1_1", "winning"));
  EXPECT_EQ(error.code(), ErrorCode::kParamsCorrupt);
  EXPECT_THAT(error.what(), HasSubstr(file.filename().string()));
  expect_valid(prove(golden_request("2KiB-v1_1", "window")), window,
               testing::golden_inputs("2KiB-v1_1", "window")[0]);
}

TEST_F(EngineFilecoin, MissingParametersAreSaidBeforeTheInputIsRead) {
  start();
  JobRequest request;
  request.kind = ProofKind::kPorep;
  request.request_id = "porep-1000-42";
  request.sector_size = filecoin::SectorSize::parse("32GiB").bytes();
  request.vanilla_proof = {'{'};  // would be refused, too
  const EngineError error = refusal(request);
  EXPECT_EQ(error.code(), ErrorCode::kParamsMissing);
  EXPECT_THAT(error.what(), HasSubstr("PARAMS-MISSING: porep-1000-42: porep-32g: v28-stacked-"));
  EXPECT_THAT(error.what(), HasSubstr(folder.path().string() + " (from config)"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  testing::DevelopmentKeys::put(window, folder.path());
  expect_valid(prove(golden_request("2KiB-v1_1", "window")), window,
               testing::golden_inputs("2KiB-v1_1", "window")[0]);
}

TEST_F(EngineFilecoin, ADamagedKeyIsRefusedByName) {
  testing::DevelopmentKeys::put(window, folder.path());
  const auto params = KeyPaths(folder.path(), window).params;
  std::filesystem::resize_file(params, std::filesystem::file_size(params) - 1);
  written_long_ago();
  start();
  while (!engine->ready()) std::this_thread::sleep_for(5ms);
  const EngineError error = refusal(golden_request("2KiB-v1_1", "window"));
  EXPECT_EQ(error.code(), ErrorCode::kParamsCorrupt);
  EXPECT_THAT(error.what(), HasSubstr(params.filename().string()));
}

TEST_F(EngineFilecoin, AJobWaitsForAFileThatIsStillBeingFetched) {
  testing::DevelopmentKeys::put(window, folder.path(), false);
  const auto params = KeyPaths(folder.path(), window).params;
  std::filesystem::resize_file(params, std::filesystem::file_size(params) / 2);
  start();
  while (!engine->ready()) std::this_thread::sleep_for(5ms);
  const auto submitted = engine->submit(golden_request("2KiB-v1_1", "window"));
  EXPECT_EQ(engine->await(submitted.job_id, 200ms), std::nullopt);
  testing::DevelopmentKeys::put(window, folder.path(), false);
  engine->status();  // looks at the folder
  expect_valid(engine->await(submitted.job_id, 5min).value(), window,
               testing::golden_inputs("2KiB-v1_1", "window")[0]);
}

TEST_F(EngineFilecoin, ABudgetBelowOneKeyIsRefusedAtOnce) {
  testing::DevelopmentKeys::put(window, folder.path(), false);
  config.memory.total_budget.bytes = 1 << 20;
  start();
  const EngineError error = refusal(golden_request("2KiB-v1_1", "window"));
  EXPECT_EQ(error.code(), ErrorCode::kHostMemory);
  EXPECT_THAT(error.what(), HasSubstr("the budget is "));
  EXPECT_THAT(error.what(), HasSubstr("(from config)"));
}

}  // namespace
}  // namespace cuzk::engine
