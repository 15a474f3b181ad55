#include "engine/testing/toy_engine.hpp"

#include <algorithm>
#include <future>
#include <numeric>

// Who goes first, and who waits for what.
namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using testing::toy_request;

class EngineOrderTest : public testing::ToyEngine {
 protected:
  std::vector<std::uint64_t> started() { return hooks[0]->started(); }
  std::ptrdiff_t place(std::uint64_t root) {
    const auto order = started();
    return std::ranges::find(order, root) - order.begin();
  }
};

TEST_F(EngineOrderTest, OldestJobFirstWithinAPriority) {
  config.pipeline.max_parallel_synthesis = 1;  // no witness overtakes another
  start_and_wait();
  for (const char* id : {"porep-2k", "snap-2k"}) engine->preload(id);  // nor does a key
  hooks[0]->start_gate.close();
  // So many partitions that its last ones have not begun when the others come.
  engine->submit(toy_request(ProofKind::kPorep, "a", {10, 11, 12, 13, 14, 15, 16, 17}));
  engine->submit(toy_request(ProofKind::kSnap, "b", {20, 21}));
  engine->submit(toy_request(ProofKind::kPorep, "c", {30}, Priority::kHigh));
  engine->submit(toy_request(ProofKind::kPorep, "d", {40}, Priority::kLow));
  engine->submit(toy_request(ProofKind::kPorep, "e", {50}));
  hooks[0]->start_gate.open();
  for (const char* id : {"a", "b", "c", "d", "e"}) EXPECT_EQ(await(id).state, JobState::kCompleted);
  EXPECT_LT(place(30), place(17)) << "high before normal";
  EXPECT_LT(place(17), place(50));
  EXPECT_LT(place(21), place(50));
  EXPECT_EQ(started().back(), 40U) << "low when nothing else waits";
}

TEST_F(EngineOrderTest, WinningPostPassesABacklogOfFiftyPoReps) {
  hooks[0]->start_gate.close();
  start_and_wait();
  for (std::uint64_t i = 0; i < 50; ++i) {
    engine->submit(toy_request(ProofKind::kPorep, "porep-" + std::to_string(i),
                               {1000 + 10 * i, 1001 + 10 * i, 1002 + 10 * i}));
  }
  hooks[0]->start_gate.await_waiting(1);
  wait_until([&] { return engine->status().witness_active == 0; }, "the stages are full");
  engine->submit(toy_request(ProofKind::kWinningPost, "winning", {7}));
  engine->submit(toy_request(ProofKind::kWindowPost, "window", {8}));
  // Their witnesses are made although the bulk's fill their stages.
  for (const char* id : {"winning", "window"}) {
    wait_until(
        [&] { return job_status(id).partitions[0].state == PartitionStatus::State::kWitnessDone; },
        "its witness is made");
  }
  hooks[0]->start_gate.let_through(2);
  expect_proofs(await("winning"), {7});
  hooks[0]->start_gate.open();
  expect_proofs(await("window"), {8});
  for (int i = 0; i < 50; ++i) await("porep-" + std::to_string(i));
  EXPECT_EQ(place(7), 1) << "after the partition in hand";
  EXPECT_EQ(place(8), 2) << "after WinningPoSt";
}

// Equal in kind, priority and age: neither takes the other's place.
TEST_F(EngineOrderTest, TwoWinningPostsAreAnsweredWhileEveryWorkerIsBusy) {
  options_of_devices[0].workers = 2;
  hooks[0]->start_gate.close();
  start_and_wait();
  for (std::uint64_t i = 0; i < 4; ++i)
    engine->submit(toy_request(ProofKind::kPorep, "", {10 * i + 100, 10 * i + 101, 10 * i + 102}));
  hooks[0]->start_gate.await_waiting(2);
  engine->submit(toy_request(ProofKind::kWinningPost, "one", {7}));
  engine->submit(toy_request(ProofKind::kWinningPost, "two", {8}));
  hooks[0]->start_gate.let_through(8);  // of 14 partitions
  expect_proofs(await("one"), {7});
  expect_proofs(await("two"), {8});
  hooks[0]->start_gate.open();
  wait_until([&] { return engine->status().counters.kinds.at(ProofKind::kPorep).completed == 4; },
             "the others are done, too");
}

// As where the partitions of a pass over a streamed key take seconds, and end together.
TEST_F(EngineOrderTest, AWorkerIsKeptForPost) {
  options_of_devices[0].workers = 3;
  options_of_devices[0].urgent_workers = 1;
  std::promise<void> over;
  const auto is_over = over.get_future().share();
  hooks[0]->fault = [&](std::uint64_t root, unsigned) {
    if (root >= 100) is_over.wait();
    return testing::Fault::kNone;
  };
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "bulk", {100, 101, 102, 103, 104}));
  wait_until([&] { return hooks[0]->started().size() == 2; }, "two workers are busy");
  wait_until([&] { return engine->status().witness_active == 0; }, "the stages are full");
  expect_proofs(prove(toy_request(ProofKind::kWinningPost, "", {7})), {7});
  expect_proofs(prove(toy_request(ProofKind::kWindowPost, "", {8})), {8});
  EXPECT_EQ(hooks[0]->started().size(), 4U) << "no more of the others";
  over.set_value();
  expect_proofs(await("bulk"), {100, 101, 102, 103, 104});
}

// Each passes fifty queued PoReps while the key of another circuit does not come.
TEST_F(EngineOrderTest, WinningPostPassesABacklogWhileAKeyLoads) {
  start_and_wait();
  engine->preload("porep-2k");
  hooks[0]->load_gate.close();
  hooks[0]->start_gate.close();
  engine->submit(toy_request(ProofKind::kSnap, "snap", {1}));
  hooks[0]->load_gate.await_waiting(1);
  for (std::uint64_t i = 0; i < 50; ++i) {
    engine->submit(
        toy_request(ProofKind::kPorep, "porep-" + std::to_string(i), {1000 + 2 * i, 1001 + 2 * i}));
  }
  hooks[0]->start_gate.await_waiting(1);
  for (std::uint64_t root = 10; root < 22; ++root) {
    const std::string id = "winning-" + std::to_string(root);
    const std::size_t on_device = started().size();  // the last of them waits at the gate
    engine->submit(toy_request(ProofKind::kWinningPost, id, {root}));
    wait_until(
        [&] { return job_status(id).partitions[0].state == PartitionStatus::State::kWitnessDone; },
        "its witness is made");
    hooks[0]->start_gate.let_through(2);
    expect_proofs(await(id), {root});
    EXPECT_EQ(place(root), static_cast<std::ptrdiff_t>(on_device)) << "next after that in hand";
    wait_until([&] { return started().size() == on_device + 2; }, "a PoRep is on the device");
  }
  EXPECT_FALSE(is_final(job_status("snap").state));
  hooks[0]->load_gate.open();
  hooks[0]->start_gate.open();
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(await("porep-" + std::to_string(i)).state, JobState::kCompleted);
  expect_proofs(await("snap"), {1});
}

TEST_F(EngineOrderTest, AKeyThatLoadsHoldsUpNoOtherCircuit) {
  start_and_wait();
  engine->preload("porep-2k");
  hooks[0]->load_gate.close();
  engine->submit(toy_request(ProofKind::kSnap, "snap", {1}));
  hooks[0]->load_gate.await_waiting(1);
  EXPECT_EQ(job_status("snap").waiting_for, "key snap-2k is loading");
  expect_proofs(prove(toy_request(ProofKind::kWinningPost, "winning", {2})), {2});
  expect_proofs(prove(toy_request(ProofKind::kPorep, "porep", {3, 4})), {3, 4});
  EXPECT_FALSE(is_final(job_status("snap").state));
  hooks[0]->load_gate.open();
  const JobResult result = await("snap");
  expect_proofs(result, {1});
  EXPECT_GT(result.timings.srs_load.count(), 0);
}

TEST_F(EngineOrderTest, ALoadHappensOnceForAllWhoWait) {
  hooks[0]->load_gate.close();
  start();
  for (std::uint64_t i = 0; i < 5; ++i)
    engine->submit(toy_request(ProofKind::kPorep, std::to_string(i), {i}));
  hooks[0]->load_gate.open();
  for (int i = 0; i < 5; ++i) await(std::to_string(i));
  wait_until([&] { return engine->ready(); }, "ready");
  EXPECT_EQ(hooks[0]->loads, 2U) << "porep-2k and winning-2k";
}

TEST_F(EngineOrderTest, StagesAreBounded) {
  config.pipeline.queue_depth = 3;
  hooks[0]->start_gate.close();
  start_and_wait();
  std::vector<std::uint64_t> roots(20);
  std::iota(roots.begin(), roots.end(), 1);
  engine->submit(toy_request(ProofKind::kPorep, "a", roots));
  hooks[0]->start_gate.await_waiting(1);
  wait_until(
      [&] { return job_status("a").partitions[3].state == PartitionStatus::State::kWitnessDone; },
      "three witnesses wait");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(job_status("a").partitions[4].state, PartitionStatus::State::kPending);
  // The partition on the device has its own memory, too: key 1000, WinningPoSt's 1000, 4 x 100.
  EXPECT_LE(engine->status().host.used, 2400U + 1000U);
  hooks[0]->start_gate.open();
  expect_proofs(await("a"), roots);
}

TEST_F(EngineOrderTest, WithoutOverlapTheWitnessWaitsForTheDevice) {
  config.pipeline.overlap = false;
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1, 2, 3}));
  hooks[0]->start_gate.await_waiting(1);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(job_status("a").partitions[1].state, PartitionStatus::State::kPending);
  hooks[0]->start_gate.open();
  expect_proofs(await("a"), {1, 2, 3});
}

TEST_F(EngineOrderTest, MemoryIsAWaitNotAFailure) {
  // One key and one partition fit, beside WinningPoSt's.
  config.memory.total_budget.bytes = 11'000;
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    const bool winning = circuit.kind == filecoin::CircuitKind::kWinningPost;
    return ProvingDevice::Needs{winning ? 100U : 4000U, winning ? 100U : 4000U, 10};
  };
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1, 2}));
  hooks[0]->start_gate.await_waiting(1);
  wait_until([&] { return job_status("a").waiting_for.starts_with("host memory: needs"); },
             "it says what it waits for");
  engine->submit(toy_request(ProofKind::kSnap, "b", {3}));
  expect_proofs(
      [&] {
        engine->submit(toy_request(ProofKind::kWinningPost, "w", {4}));
        hooks[0]->start_gate.let_through(2);
        return await("w");
      }(),
      {4});
  hooks[0]->start_gate.open();
  expect_proofs(await("a"), {1, 2});
  expect_proofs(await("b"), {3});
  for (const BudgetStatus& host : {engine->status().host}) EXPECT_LE(host.used, host.total);
}

TEST_F(EngineOrderTest, KeysGiveWayToTheJobInFrontOnly) {
  // Two keys of three fit.
  config.memory.total_budget.bytes = 10'000;
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    const bool winning = circuit.kind == filecoin::CircuitKind::kWinningPost;
    return ProvingDevice::Needs{winning ? 100U : 3500U, 100, 10};
  };
  start_and_wait();
  for (int round = 0; round < 3; ++round) {
    for (const ProofKind kind : {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindowPost}) {
      const auto root = static_cast<std::uint64_t>(round);
      expect_proofs(prove(toy_request(kind, "", {root, root})), {root, root});
    }
  }
  EXPECT_EQ(hooks[0]->loads, 1U + 9U) << "each drops the one used longest ago";
  const auto loaded = [&](const std::string& id) {
    const auto all = engine->status().circuits;
    return std::ranges::find(all, id, &CircuitStatus::circuit_id)->loaded;
  };
  EXPECT_TRUE(loaded("winning-2k")) << "never dropped";
  // Jobs of all three at once take turns without one key being loaded twice for the same job.
  const unsigned before = hooks[0]->loads;
  for (const ProofKind kind : {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kPorep})
    engine->submit(toy_request(kind, "", {1, 2, 3, 4, 5, 6, 7, 8}));
  wait_until([&] { return engine->status().counters.kinds.at(ProofKind::kPorep).completed == 5; },
             "all done");
  EXPECT_LE(hooks[0]->loads - before, 2U);
}

TEST_F(EngineOrderTest, TwoDevicesShareAJob) {
  add_device();
  hooks[0]->start_gate.close();
  hooks[1]->start_gate.close();
  start_and_wait();
  std::vector<std::uint64_t> roots(12);
  std::iota(roots.begin(), roots.end(), 1);
  engine->submit(toy_request(ProofKind::kPorep, "a", roots));
  // The second one gets the key as the first cannot keep up.
  hooks[0]->start_gate.await_waiting(1);
  hooks[1]->start_gate.await_waiting(1);
  hooks[0]->start_gate.open();
  hooks[1]->start_gate.open();
  const JobResult result = await("a");
  expect_proofs(result, roots);
  EXPECT_EQ(result.backend, "fake:0,fake:1");
}

TEST_F(EngineOrderTest, WorkersOfADeviceWorkAtOnce) {
  options_of_devices[0].workers = 3;
  hooks[0]->start_gate.close();
  start_and_wait();
  std::vector<std::uint64_t> roots(9);
  std::iota(roots.begin(), roots.end(), 1);
  engine->submit(toy_request(ProofKind::kPorep, "a", roots));
  hooks[0]->start_gate.await_waiting(3);
  EXPECT_EQ(engine->status().devices[0].workers.size(), 3U);
  hooks[0]->start_gate.open();
  expect_proofs(await("a"), roots);
  EXPECT_LE(hooks[0]->most_running, 3U);
}

TEST_F(EngineOrderTest, OneThreadIsEnough) {
  config.synthesis.threads = 1;
  config.pipeline.max_parallel_synthesis = 1;
  start_and_wait();
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (const ProofKind kind :
         {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindowPost, ProofKind::kWinningPost}) {
      engine->submit(toy_request(kind, std::string(label(kind)) + "-" + std::to_string(round),
                                 {round, round + 1}));
    }
  }
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (const ProofKind kind :
         {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindowPost, ProofKind::kWinningPost}) {
      EXPECT_EQ(await(std::string(label(kind)) + "-" + std::to_string(round)).state,
                JobState::kCompleted);
    }
  }
}

TEST_F(EngineOrderTest, StarvationIsBounded) {
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "patient", {1}));
  engine->submit(toy_request(ProofKind::kPorep, "holder", {2}));
  hooks[0]->start_gate.await_waiting(1);
  // As many high ones as it takes, and more.
  const std::uint64_t count = 3 * 64;
  for (std::uint64_t i = 0; i < count; ++i)
    engine->submit(toy_request(ProofKind::kPorep, "", {100 + i}, Priority::kHigh));
  hooks[0]->start_gate.open();
  await("holder");
  // The two patient ones one after the other.
  EXPECT_LE(place(2), 64 + 4);
  wait_until(
      [&] { return engine->status().counters.kinds.at(ProofKind::kPorep).completed == count + 2; },
      "all done");
}

}  // namespace
}  // namespace cuzk::engine
