#include "engine/testing/toy_engine.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>

namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using testing::Gate;
using ::testing::HasSubstr;
using testing::toy_request;
using Clock = std::chrono::steady_clock;
using Readiness = CircuitStatus::Readiness;

/// An engine whose parameter files are there, and checked while it starts.
class EngineStartTest : public testing::ToyEngine {
 protected:
  EngineStartTest() {
    on_parameters = [this](testing::ToyParameters& files) {
      for (const std::string& circuit : unchecked) files.set(circuit, unchecked_state());
      files.on_inspect = [this](const CircuitId& circuit, const std::stop_token& stop) {
        {
          const std::lock_guard lock(mutex);
          order.push_back(circuit.to_string());
        }
        return inspect(circuit, stop);
      };
    };
  }
  ~EngineStartTest() override {
    gate.open();
    engine.reset();  // before what its threads call
  }
  static ParameterStore::State unchecked_state() { return {Readiness::kChecking, "to be checked"}; }
  std::vector<std::string> checked() {
    const std::lock_guard lock(mutex);
    return order;
  }

  std::vector<std::string> unchecked{"porep-2k", "winning-2k"};
  Gate gate;  ///< the check of PoRep's files stands at it
  std::function<ParameterStore::State(const CircuitId&, const std::stop_token&)> inspect =
      [this](const CircuitId& circuit, const std::stop_token&) {
        if (circuit.to_string() == "porep-2k") gate.pass();
        return ParameterStore::State{Readiness::kReady, {}};
      };
  std::mutex mutex;
  std::vector<std::string> order;  // guarded by mutex
};

TEST_F(EngineStartTest, JobsWaitForTheCheckOfTheirFilesAndSayIt) {
  gate.close();
  start();
  gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kPorep, "porep", {1}));
  wait_until(
      [&] { return job_status("porep").waiting_for == "the check of the files of porep-2k"; },
      "the job says what it waits for");
  const Status status = engine->status();
  EXPECT_FALSE(status.ready);
  EXPECT_FALSE(engine->ready());
  EXPECT_EQ(status.not_ready_because, "starting: checking the files of porep-2k");
  // Others go on, WinningPoSt's files having been checked first.
  EXPECT_EQ(checked(), (std::vector<std::string>{"winning-2k", "porep-2k"}));
  expect_proofs(prove(toy_request(ProofKind::kWinningPost, "winning", {2})), {2});
  expect_proofs(prove(toy_request(ProofKind::kSnap, "snap", {3})), {3});
  EXPECT_EQ(hooks[0]->loads, 2U) << "of those two";
  gate.open();
  const JobResult result = await("porep");
  expect_proofs(result, {1});
  EXPECT_GT(result.timings.srs_load.count(), 0) << "the wait for the check counts as the key's";
  wait_until([&] { return engine->ready(); }, "ready");
  EXPECT_EQ(engine->status().not_ready_because, "");
}

TEST_F(EngineStartTest, JobsOfFilesThatProveDamagedFailByName) {
  inspect = [this](const CircuitId& circuit, const std::stop_token&) {
    if (circuit.to_string() != "porep-2k") return ParameterStore::State{Readiness::kReady, {}};
    gate.pass();
    return ParameterStore::State{Readiness::kCorrupt, "porep.params: digest 12, expected 34"};
  };
  gate.close();
  start();
  gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kPorep, "porep", {1}));
  gate.open();
  const JobResult result = await("porep");
  EXPECT_EQ(result.code, ErrorCode::kParamsCorrupt);
  EXPECT_THAT(result.error, HasSubstr("porep: porep.params: digest 12, expected 34"));
  wait_until([&] { return engine->ready(); }, "ready all the same");
  expect_proofs(prove(toy_request(ProofKind::kSnap, "snap", {3})), {3});
}

TEST_F(EngineStartTest, WhatIsWantedIsCheckedFirst) {
  unchecked = {"porep-2k", "porep-8m", "porep-512m", "wpost-8m", "winning-2k"};
  config.srs.preload = {"wpost-8m"};
  gate.close();
  start();
  // Only the third stands at the gate: the second may be over before anyone looks.
  wait_until([&] { return checked().size() == 3; }, "the third check");
  EXPECT_EQ(checked()[1], "wpost-8m");
  EXPECT_EQ(checked()[2], "porep-2k");
  EXPECT_EQ(hooks[0]->loads, 2U) << "WinningPoSt and the configured one are there already";
  JobRequest wanted = toy_request(ProofKind::kPorep, "wanted", {1});
  wanted.sector_size = std::uint64_t{512} << 20;
  engine->submit(wanted);
  gate.open();
  expect_proofs(await("wanted"), {1});
  wait_until([&] { return engine->ready(); }, "ready");
  EXPECT_EQ(checked()[3], "porep-512m");
  EXPECT_EQ(checked().size(), 5U);
}

TEST_F(EngineStartTest, FilesThatComeLaterAreCheckedBeforeTheyAreUsed) {
  start_and_wait();
  expect_proofs(prove(toy_request(ProofKind::kPorep, "a", {1})), {1});
  engine->evict("porep-2k");
  gate.close();
  parameters->set("porep-2k", unchecked_state());
  engine->submit(toy_request(ProofKind::kPorep, "b", {2}));
  gate.await_waiting(1);
  EXPECT_TRUE(engine->ready()) << "for the others";
  EXPECT_FALSE(is_final(job_status("b").state));
  gate.open();
  expect_proofs(await("b"), {2});
  EXPECT_EQ(checked(), (std::vector<std::string>{"winning-2k", "porep-2k", "porep-2k"}));
}

TEST_F(EngineStartTest, AStopDoesNotWaitForTheCheck) {
  std::atomic<bool> checking = false;
  inspect = [&](const CircuitId& circuit, const std::stop_token& stop) {
    if (circuit.to_string() != "porep-2k") return ParameterStore::State{Readiness::kReady, {}};
    checking = true;
    const auto end = Clock::now() + 30s;
    while (!stop.stop_requested() && Clock::now() < end) std::this_thread::sleep_for(1ms);
    return unchecked_state();
  };
  for (const bool drained : {true, false}) {
    checking = false;
    start();
    wait_until([&] { return checking.load(); }, "the check has begun");
    engine->submit(toy_request(ProofKind::kPorep, "porep", {1}));
    const auto begin = Clock::now();
    drained ? engine->drain(60s) : engine->stop_now();
    EXPECT_LT(Clock::now() - begin, 10s) << drained;
    EXPECT_FALSE(engine->ready());
    EXPECT_EQ(engine->status().not_ready_because, "draining");
    engine.reset();
  }
}

// A job's waits are told apart: for its turn, and for its key.
TEST_F(EngineStartTest, WaitsForTheKeyAndForATurnAreDisjoint) {
  unchecked.clear();
  start_and_wait();
  hooks[0]->load_gate.close();
  const auto submitted = Clock::now();
  engine->submit(toy_request(ProofKind::kPorep, "loads", {1}));
  engine->submit(toy_request(ProofKind::kPorep, "waits", {21, 22, 23}));
  hooks[0]->load_gate.await_waiting(1);
  const auto loading = Clock::now();
  std::this_thread::sleep_for(200ms);
  const auto loaded = Clock::now();
  hooks[0]->start_gate.close();
  hooks[0]->load_gate.open();
  hooks[0]->start_gate.await_waiting(1);
  std::this_thread::sleep_for(300ms);
  hooks[0]->start_gate.open();
  JobTimings timings = await("waits").timings;
  EXPECT_LE(timings.srs_load + 250ms, timings.total) << "not the wait for a turn after the load";
  timings = await("loads").timings;
  EXPECT_GE(timings.srs_load, loaded - loading - 2ms);
  EXPECT_LE(timings.queue_wait, loading - submitted + 2ms) << "the load is no part of it";
  EXPECT_LE(timings.queue_wait + timings.srs_load, timings.total);
  // The key is there, and the device is not free for a while.
  hooks[0]->start_gate.close();
  engine->submit(toy_request(ProofKind::kPorep, "first", {2, 3, 4, 5, 6, 7, 8, 9}));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kPorep, "second", {10}));
  std::this_thread::sleep_for(200ms);
  hooks[0]->start_gate.open();
  timings = await("second").timings;
  EXPECT_GE(timings.queue_wait, 190ms);
  EXPECT_EQ(timings.srs_load, 0ms);
  await("first");  // or its last partition would still use the key
  // One that ends before its key has come.
  engine->evict("porep-2k");
  hooks[0]->load_gate.close();
  engine->submit(toy_request(ProofKind::kPorep, "cancelled", {11}));
  hooks[0]->load_gate.await_waiting(1);
  std::this_thread::sleep_for(200ms);
  engine->cancel("cancelled");
  timings = await("cancelled").timings;
  EXPECT_GE(timings.srs_load, 190ms);
  EXPECT_EQ(timings.queue_wait + timings.srs_load, timings.total);
  hooks[0]->load_gate.open();
  const auto stages = engine->status().counters.kinds.at(ProofKind::kPorep).stages;
  EXPECT_EQ(stages.at("srs_load").count, stages.at("queue_wait").count);
  EXPECT_GE(stages.at("srs_load").sum_seconds, 0.38);
}

}  // namespace
}  // namespace cuzk::engine
