#include "base/error.hpp"
#include "engine/key_files.hpp"
#include "engine/testing/development_key.hpp"
#include "engine/testing/log_capture.hpp"
#include "engine/testing/toy_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tbb/task_arena.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

// That each switch of the configuration reaches what it switches.
namespace cuzk::engine {
namespace {

using ::testing::AllOf;
using testing::DevelopmentKeys;
using ::testing::ElementsAre;
using testing::Fault;
using ::testing::HasSubstr;
using testing::LogCapture;
using ::testing::Not;
using ::testing::Pair;
using testing::TemporaryFolder;
using testing::toy_request;
using ::testing::UnorderedElementsAre;

class EngineSettings : public testing::ToyEngine {};

TEST_F(EngineSettings, GpuThreadsAreThoseOfADevicesHostPart) {
  std::atomic<int> seen = 0;
  hooks[0]->fault = [&](std::uint64_t, unsigned) {
    seen = tbb::this_task_arena::max_concurrency();
    return Fault::kNone;
  };
  config.gpus.gpu_threads = 1;
  start_and_wait();
  EXPECT_EQ(prove(toy_request(ProofKind::kPorep, "a", {5})).state, JobState::kCompleted);
  EXPECT_EQ(seen, 1);
}

TEST_F(EngineSettings, ADeviceIsToldWhichPartitionsBelongTogether) {
  start_and_wait();
  prove(toy_request(ProofKind::kPorep, "a", {5, 6}));
  prove(toy_request(ProofKind::kSnap, "b", {7}));
  prove(toy_request(ProofKind::kWindowPost, "c", {8}));
  const std::vector<groth16::Ticket> tickets = hooks[0]->tickets_seen();
  ASSERT_EQ(tickets.size(), 4U);
  EXPECT_EQ(tickets[0].job, tickets[1].job);
  EXPECT_EQ((std::set<std::uint64_t>{tickets[0].job, tickets[2].job, tickets[3].job}.size()), 3U);
  EXPECT_FALSE(tickets[0].urgent || tickets[1].urgent || tickets[2].urgent);
  EXPECT_TRUE(tickets[3].urgent);
}

TEST_F(EngineSettings, PrestagedWitnessesAreCounted) {
  LogCapture log;
  start_and_wait();
  prove(toy_request(ProofKind::kPorep, "a", {5}));
  hooks[0]->prestage = groth16::Prestage::kHit;
  prove(toy_request(ProofKind::kPorep, "b", {6, 7}));
  hooks[0]->prestage = groth16::Prestage::kSkipVram;
  prove(toy_request(ProofKind::kPorep, "c", {8}));
  EXPECT_THAT(engine->status().counters.prestage,
              UnorderedElementsAre(Pair("hit", 2U), Pair("skip_vram", 1U)));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("gpu_total="), HasSubstr("prestage=hit"),
                                HasSubstr("prestage=skip_vram")));
  engine.reset();
}

TEST_F(EngineSettings, DevicesAreToldWhatToExpect) {
  config.srs.resident_keys = {"wpost-2k"};
  on_parameters = [](testing::ToyParameters& files) {
    files.set("snap-2k", {CircuitStatus::Readiness::kMissing, "not there"});
  };
  start_and_wait();
  EXPECT_THAT(hooks[0]->expected, ElementsAre("winning-2k", "wpost-2k", "porep-2k"));
  EXPECT_THAT(hooks[0]->staying, ElementsAre("winning-2k", "wpost-2k"));
}

TEST_F(EngineSettings, WhatOnlyGpusKnowIsReportedWhereThereIsNone) {
  config.pipeline.prestage = false;
  config.pipeline.overlap = false;
  {
    LogCapture log;
    start_and_wait();
    EXPECT_THAT(log.text(), Not(HasSubstr("without effect")));
    engine.reset();
  }
  options_of_devices[0].is_cpu = true;
  LogCapture log;
  start_and_wait();
  EXPECT_THAT(log.text(), HasSubstr("pipeline.prestage = false: accepted, without effect"));
  EXPECT_THAT(log.text(), Not(HasSubstr("pipeline.overlap = false: accepted")));
  engine.reset();
}

TEST_F(EngineSettings, TheTimelineIsThereAfterTheEnd) {
  const TemporaryFolder place;
  const auto path = place.path() / "trace.json";
  config.logging.timeline = path.string();
  start_and_wait();
  prove(toy_request(ProofKind::kPorep, "the-job", {5}));
  engine.reset();
  std::ifstream file(path);
  const auto trace = nlohmann::json::parse(file);
  std::set<std::string> stages;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") stages.insert(event.at("name").get<std::string>());
  }
  EXPECT_THAT(stages, ::testing::IsSupersetOf({"witness", "device", "verify", "msm_h"}));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".new"));
}

TEST_F(EngineSettings, ATimelineThatCannotBeWrittenEndsTheStart) {
  config.logging.timeline = "/nowhere/at/all/trace.json";
  try {
    start();
    FAIL();
  } catch (const base::InvalidInput& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("logging.timeline"), HasSubstr("/nowhere/at/all")));
  }
}

TEST(QuotientSetting, ACircuitWithoutTheDerivativeFileIsRefusedByName) {
  const TemporaryFolder folder;
  Config::Srs srs;
  srs.param_cache = folder.path();
  const CircuitId circuit = CircuitId::parse("wpost-2k");
  const KeyPaths paths(folder.path(), circuit);
  std::ofstream(paths.params) << "a key";
  using Readiness = CircuitStatus::Readiness;
  EXPECT_EQ(make_parameter_store(srs)->state(circuit).readiness, Readiness::kChecking);
  const auto store = make_parameter_store(srs, "derivative");
  const ParameterStore::State state = store->state(circuit);
  EXPECT_EQ(state.readiness, Readiness::kMissing);
  EXPECT_THAT(state.detail,
              AllOf(HasSubstr("wpost-2k"), HasSubstr(".derivative"),
                    HasSubstr("cuzk params derive --params-dir " + folder.path().string() +
                              " --circuit window-post --sector-size 2KiB")));
  std::ofstream(paths.derived) << "its second form";
  EXPECT_EQ(store->state(circuit).readiness, Readiness::kChecking);
}

TEST(QuotientSetting, ChoosesTheFormOfAKey) {
  const TemporaryFolder folder;
  const CircuitId circuit = CircuitId::parse("winning-2k");
  DevelopmentKeys::put(circuit, folder.path());
  const KeyPaths paths(folder.path(), circuit);
  const r1cs::Shape shape = filecoin::build_shape(circuit.kind, circuit.size);
  const auto form = [&](std::string_view quotient) {
    const OpenKey key = open_key(paths, shape, quotient);
    EXPECT_EQ(key.derived.has_value(), key.layout.form == groth16::QuotientForm::kDerivative);
    return key.layout.form;
  };
  EXPECT_EQ(form("auto"), groth16::QuotientForm::kDerivative);
  EXPECT_EQ(form("derivative"), groth16::QuotientForm::kDerivative);
  EXPECT_EQ(form("textbook"), groth16::QuotientForm::kTextbook);
  std::filesystem::remove(paths.derived);
  EXPECT_EQ(form("auto"), groth16::QuotientForm::kTextbook);
  EXPECT_THROW(open_key(paths, shape, "derivative"), base::InvalidInput);
}

TEST(WindowBitsSetting, ReachesTheSums) {
  const testing::SquareKey& key = testing::SquareKey::get();
  const r1cs::Witness witness = testing::SquareKey::witness(key.shape, 5);
  base::StageTimer timer;
  for (const unsigned bits : {0U, 2U, 11U}) {
    const auto prover = groth16::make_cpu_prover({key.shape, key.layout, key.key}, bits);
    EXPECT_TRUE(key.verifies(prover->prove(witness, groth16::Blinding::random(), timer), 5));
  }
  EXPECT_THROW(
      groth16::make_cpu_prover({key.shape, key.layout, key.key}, 21)->start(witness, timer),
      base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::engine
