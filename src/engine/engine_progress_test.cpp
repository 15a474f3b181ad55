#include "base/error.hpp"
#include "engine/testing/toy_engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <numeric>
#include <thread>

// Where memory is short, keys do not fit together, devices fail: whoever waits gets on in the end,
// or is told why not.
namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using filecoin::CircuitKind;
using testing::Fault;
using ::testing::HasSubstr;
using testing::toy_request;
using Needs = ProvingDevice::Needs;

class EngineProgressTest : public testing::ToyEngine {
 protected:
  static std::vector<std::uint64_t> roots_from(std::uint64_t first, std::size_t count) {
    std::vector<std::uint64_t> out(count);
    std::iota(out.begin(), out.end(), first);
    return out;
  }
  std::ptrdiff_t place(std::uint64_t root) {
    const auto order = hooks[0]->started();
    return std::ranges::find(order, root) - order.begin();
  }
  /// What keys need beside WinningPoSt's small one.
  void all_need(const Needs& needs) {
    for (const auto& hook : hooks) {
      hook->needs = [needs](const ProvingDevice::Circuit& circuit) {
        return circuit.kind == CircuitKind::kWinningPost ? Needs{100, 10, 10} : needs;
      };
    }
  }
  /// Only one key fits on the device beside WinningPoSt's.
  void one_key_fits_the_device() { all_need({1000, 10, 600'000}); }
  /// Only one key fits into the host's memory.
  void one_key_fits_the_host() {
    config.memory.total_budget.bytes = 11'000;
    all_need({6000, 100, 10});
  }
};

TEST_F(EngineProgressTest, PreloadsAndProofsGoOnBesideOneAnother) {
  config.memory.total_budget.bytes = 11'000;
  all_need({4500, 10, 10});
  start_and_wait();
  std::atomic<bool> stop = false;
  std::jthread preloads([&] {
    while (!stop) {
      for (const char* id : {"porep-2k", "snap-2k", "wpost-2k"}) engine->preload(id);
    }
  });
  for (std::uint64_t i = 0; i < 150; ++i) prove(toy_request(ProofKind::kWinningPost, "", {i}));
  stop = true;
}

TEST_F(EngineProgressTest, APreloadTakesNothingFromJobs) {
  one_key_fits_the_host();
  hooks[0]->start_gate.close();
  start_and_wait();
  const auto roots = roots_from(1, 20);
  engine->submit(toy_request(ProofKind::kPorep, "a", roots));
  hooks[0]->start_gate.await_waiting(1);
  auto preload = std::async(std::launch::async, [&]() -> std::string {
    try {
      engine->preload("snap-2k");
    } catch (const EngineError& error) {
      return error.what();
    }
    return "loaded";
  });
  EXPECT_THAT(preload.get(), HasSubstr("HOST-MEM: snap-2k needs 5.9 KiB of host memory"));
  hooks[0]->start_gate.open();
  expect_proofs(await("a"), roots);
  EXPECT_FALSE(engine->preload("snap-2k").already_loaded) << "now there is room";
}

TEST_F(EngineProgressTest, AWindowPostGetsThePlaceOfTheBacklogsKey) {
  one_key_fits_the_device();
  hooks[0]->start_gate.close();
  start_and_wait();
  for (std::uint64_t i = 0; i < 20; ++i)
    engine->submit(
        toy_request(ProofKind::kPorep, "porep-" + std::to_string(i), roots_from(1000 + 10 * i, 3)));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kWindowPost, "window", {8}));
  wait_until([&] { return job_status("window").waiting_for.starts_with("device memory"); },
             "it waits for the place of a key");
  hooks[0]->start_gate.open();
  expect_proofs(await("window"), {8});
  EXPECT_LE(place(8), 2) << "after what was in hand";
  for (std::uint64_t i = 0; i < 20; ++i)
    expect_proofs(await("porep-" + std::to_string(i)), roots_from(1000 + 10 * i, 3));
}

TEST_F(EngineProgressTest, AnOlderJobGetsThePlaceOfYoungerOnesKey) {
  one_key_fits_the_device();
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "first", {1, 2, 3}));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kSnap, "snap", {8}));
  for (std::uint64_t i = 0; i < 50; ++i)
    engine->submit(
        toy_request(ProofKind::kPorep, "porep-" + std::to_string(i), roots_from(1000 + 10 * i, 3)));
  hooks[0]->start_gate.open();
  expect_proofs(await("snap"), {8});
  EXPECT_LE(place(8), 8) << "after the job before it and what was begun meanwhile";
  for (std::uint64_t i = 0; i < 50; ++i)
    EXPECT_EQ(await("porep-" + std::to_string(i)).state, JobState::kCompleted);
}

TEST_F(EngineProgressTest, WinningPostIsNextBehindManyWindowPosts) {
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->preload("wpost-2k");
  for (std::uint64_t i = 0; i < 8; ++i)
    engine->submit(toy_request(ProofKind::kWindowPost, "window-" + std::to_string(i), {100 + i}));
  hooks[0]->start_gate.await_waiting(1);
  wait_until([&] { return engine->status().witness_active == 0; }, "the stages are full");
  engine->submit(toy_request(ProofKind::kWinningPost, "winning", {7}));
  wait_until(
      [&] {
        return job_status("winning").partitions[0].state == PartitionStatus::State::kWitnessDone;
      },
      "its witness is made");
  hooks[0]->start_gate.open();
  await("winning");
  EXPECT_EQ(place(7), 1);
}

TEST_F(EngineProgressTest, TheDeviceThatFailedIsBetterThanNone) {
  add_device();
  one_key_fits_the_host();
  for (const auto& hook : hooks) {
    hook->fault = [](std::uint64_t root, unsigned start) {
      return root == 1 && start == 1 ? Fault::kOutOfMemory : Fault::kNone;
    };
  }
  start_and_wait();
  expect_proofs(prove(toy_request(ProofKind::kPorep, "a", {1, 2, 3})), {1, 2, 3});
  expect_proofs(prove(toy_request(ProofKind::kSnap, "b", {5})), {5});
}

TEST_F(EngineProgressTest, LoadsThatFailedLongAgoAreForgotten) {
  unsigned loads = 0;
  hooks[0]->on_load = [&](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind != CircuitKind::kPorep) return;
    if (++loads == 1 || loads == 3)
      throw DeviceFault("no device memory for the key", DeviceFault::Kind::kMemory);
  };
  start_and_wait();
  expect_proofs(prove(toy_request(ProofKind::kPorep, "a", {1})), {1});
  engine->evict("porep-2k");
  expect_proofs(prove(toy_request(ProofKind::kPorep, "b", {2})), {2});
}

TEST_F(EngineProgressTest, AnotherDeviceTakesOverFromALoadThatHangs) {
  add_device();
  config.reliability.stall_warning = 0s;
  config.reliability.stall_limit = 1s;
  start_and_wait();
  hooks[0]->load_gate.close();
  for (std::uint64_t root : {1, 2, 3})
    expect_proofs(prove(toy_request(ProofKind::kPorep, "", {root})), {root});
  EXPECT_EQ(engine->status().devices[0].faults, 1U);
  hooks[0]->load_gate.open();
}

TEST_F(EngineProgressTest, AKeyOnADeviceOutOfServiceCountsForNothing) {
  add_device();
  config.gpus.quarantine_after = 1;
  hooks[0]->fault = [](std::uint64_t, unsigned) { return Fault::kAtStart; };
  hooks[1]->on_load = [](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind == CircuitKind::kPorep)
      throw DeviceFault("no device memory for the key", DeviceFault::Kind::kMemory);
  };
  start_and_wait();
  const JobResult result = prove(toy_request(ProofKind::kPorep, "a", {1}));
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_LT(hooks[1]->loads, 10U);
}

TEST_F(EngineProgressTest, FilesThatWaitForTheirCheckAreNotLoadedElsewhere) {
  add_device();
  start_and_wait();
  engine->preload("porep-2k");
  const unsigned before = hooks[1]->loads;
  parameters->set("porep-2k", {CircuitStatus::Readiness::kChecking, "replaced"});
  hooks[0]->start_gate.close();
  const auto roots = roots_from(1, 12);
  engine->submit(toy_request(ProofKind::kPorep, "a", roots));
  hooks[0]->start_gate.await_waiting(1);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(hooks[1]->loads, before);
  hooks[0]->start_gate.open();
  expect_proofs(await("a"), roots);
}

TEST_F(EngineProgressTest, WitnessesWithoutAKeyGiveTheirMemoryBack) {
  config.memory.total_budget.bytes = 11'000;
  config.gpus.quarantine_after = 100;
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind == CircuitKind::kWinningPost) return Needs{100, 10, 10};
    if (circuit.kind == CircuitKind::kWindowPost) return Needs{9300, 100, 10};
    return Needs{4000, 1000, 10};
  };
  hooks[0]->fault = [](std::uint64_t root, unsigned start) {
    return root == 1 && start == 1 ? Fault::kWrongProof : Fault::kNone;
  };
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "bad", {1}));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kPorep, "a", {2, 3}, Priority::kHigh));
  wait_until(
      [&] {
        return std::ranges::count(job_status("a").partitions, PartitionStatus::State::kWitnessDone,
                                  &PartitionStatus::state) == 2;
      },
      "two witnesses");
  engine->submit(toy_request(ProofKind::kWindowPost, "window", {8}, Priority::kCritical));
  wait_until([&] { return !job_status("window").waiting_for.empty(); }, "it waits for memory");
  hooks[0]->start_gate.open();
  expect_proofs(await("window"), {8});
  expect_proofs(await("a"), {2, 3});
  expect_proofs(await("bad"), {1});
}

TEST_F(EngineProgressTest, WhatCanNeverFitFailsByName) {
  // After the next start, with less memory.
  journal_path();
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    return circuit.kind == CircuitKind::kPorep ? Needs{50'000, 100, 10} : Needs{100, 10, 10};
  };
  hooks[0]->load_gate.close();
  start();
  engine->submit(toy_request(ProofKind::kPorep, "big", {1}));
  hooks[0]->load_gate.open();
  engine->stop_now();
  engine.reset();
  config.memory.total_budget.bytes = 20'000;
  start_and_wait();
  engine->submit(toy_request(ProofKind::kSnap, "small", {2}));
  expect_proofs(await("small"), {2});
  const JobResult big = await("big");
  EXPECT_EQ(big.code, ErrorCode::kHostMemory);
  EXPECT_THAT(big.error, HasSubstr("porep-2k needs 48.9 KiB of host memory"));
}

TEST_F(EngineProgressTest, WhatCannotFitFailsThoughADeviceCannotSayWhatItNeeds) {
  add_device();
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    return circuit.kind == CircuitKind::kPorep ? Needs{400'000, 100, 10} : Needs{100, 10, 10};
  };
  hooks[1]->needs = [](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind == CircuitKind::kPorep) throw base::InvalidInput("porep.params: gone");
    return Needs{100, 10, 10};
  };
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "big", {1, 2, 3, 4, 5, 6, 7, 8}));
  hooks[0]->start_gate.await_waiting(1);
  config.memory.total_budget.bytes = 100'000;
  engine->reconfigure(config);
  hooks[0]->start_gate.open();
  const JobResult big = await("big");
  EXPECT_EQ(big.code, ErrorCode::kHostMemory);
  EXPECT_THAT(big.error, HasSubstr("porep-2k needs 390.7 KiB of host memory"));
  expect_proofs(prove(toy_request(ProofKind::kSnap, "small", {2})), {2});
}

TEST_F(EngineProgressTest, WhatDoesNotFitBesideResidentKeysIsRefused) {
  config.memory.total_budget.bytes = 11'000;
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind == CircuitKind::kPorep) return Needs{9500, 100, 10};
    if (circuit.kind == CircuitKind::kWinningPost) return Needs{1000, 100, 10};
    return Needs{100, 10, 10};
  };
  start_and_wait();
  std::string text;
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "big", {1}), &text), ErrorCode::kHostMemory);
  EXPECT_THAT(text, HasSubstr("beside 1000 B of keys that always stay"));
  expect_proofs(prove(toy_request(ProofKind::kSnap, "small", {2})), {2});
}

TEST_F(EngineProgressTest, AStartWithoutAWorkingDeviceLosesNoJob) {
  const JobRequest request = toy_request(ProofKind::kPorep, "porep", {1, 2, 3});
  journal_path();
  journal()->add("porep", request, payload_digest(request));
  std::atomic<bool> fails = true;
  hooks[0]->on_self_test = [&] {
    if (fails) throw DeviceFault("out of memory", DeviceFault::Kind::kMemory);
  };
  start();
  wait_until([&] { return engine->status().devices[0].quarantined; }, "it is taken out of service");
  EXPECT_EQ(refusal(toy_request(ProofKind::kSnap, "new", {1})), ErrorCode::kNoGpu);
  EXPECT_EQ(engine->await("porep", 300ms), std::nullopt);
  engine.reset();
  fails = false;
  start_and_wait();
  expect_proofs(await("porep"), {1, 2, 3});
}

TEST_F(EngineProgressTest, ADeviceThatFailsItsFirstTestIsResetAndTestedAgain) {
  hooks[0]->on_self_test = [first = true]() mutable {
    if (std::exchange(first, false))
      throw DeviceFault("left behind by another program", DeviceFault::Kind::kWork);
  };
  start_and_wait();
  EXPECT_EQ(hooks[0]->resets, 1U);
  expect_proofs(prove(toy_request(ProofKind::kPorep, "a", {1})), {1});
}

// The id of a job may be the request id of a later one with other content.
TEST_F(EngineProgressTest, AReplayIsOfTheSameContent) {
  journal_path();
  start_and_wait();
  prove(toy_request(ProofKind::kPorep, "x", {1}));
  engine.reset();
  start_and_wait();
  hooks[0]->start_gate.close();
  const auto second = engine->submit(toy_request(ProofKind::kPorep, "x", {2}));
  EXPECT_NE(second.job_id, "x");
  const auto again = engine->submit(toy_request(ProofKind::kPorep, "x", {1}));
  EXPECT_EQ(again.job_id, "x");
  engine->cancel_with_waiters(again.job_id);
  expect_proofs(await(again.job_id), {1});
  EXPECT_FALSE(engine->cancel("x")) << "has ended long ago";
  hooks[0]->start_gate.open();
  expect_proofs(await(second.job_id), {2});
}

TEST_F(EngineProgressTest, ARetriedJobIsCancelledByItsRequestsId) {
  std::atomic<bool> bad = true;
  config.gpus.quarantine_after = 100;
  hooks[0]->fault = [&](std::uint64_t, unsigned) {
    return bad ? Fault::kOutOfMemory : Fault::kNone;
  };
  start_and_wait();
  EXPECT_EQ(prove(toy_request(ProofKind::kPorep, "x", {1})).state, JobState::kFailed);
  bad = false;
  hooks[0]->start_gate.close();
  const auto second = engine->submit(toy_request(ProofKind::kPorep, "x", {1}));
  EXPECT_NE(second.job_id, "x");
  EXPECT_TRUE(engine->cancel("x"));
  EXPECT_EQ(await(second.job_id).code, ErrorCode::kCancelled);
  hooks[0]->start_gate.open();
}

TEST_F(EngineProgressTest, OfTwoContentsOfOneIdAtOnceOneSupersedes) {
  start_and_wait();
  for (int round = 0; round < 100; ++round) {
    const std::string id = "r" + std::to_string(round);
    std::atomic<int> ready = 0;
    const auto submit = [&](std::uint64_t root) {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      return await(engine->submit(toy_request(ProofKind::kPorep, id, {root})).job_id);
    };
    auto a = std::async(std::launch::async, submit, 1),
         b = std::async(std::launch::async, submit, 2);
    for (const JobResult& result : {a.get(), b.get()}) {
      EXPECT_TRUE(result.state == JobState::kCompleted || result.code == ErrorCode::kSuperseded)
          << result.error;
    }
  }
}

TEST_F(EngineProgressTest, AClientThatWaitsLongEnoughCancelsNothing) {
  hooks[0]->start_gate.close();
  start_and_wait();
  const auto submitted = engine->submit(toy_request(ProofKind::kPorep, "tied", {1}));
  engine->cancel_with_waiters(submitted.job_id);
  EXPECT_EQ(engine->await("tied", 20ms), std::nullopt) << "it was told that the job goes on";
  hooks[0]->start_gate.open();
  expect_proofs(await("tied"), {1});
}

TEST_F(EngineProgressTest, WhoComesAsTheLastClientLeavesIsServed) {
  hooks[0]->start_gate.close();
  start_and_wait();
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto request = toy_request(ProofKind::kPorep, "j" + std::to_string(i), {i});
    const auto first = engine->submit(request);
    engine->cancel_with_waiters(first.job_id);
    std::atomic<bool> leaves = false;
    std::jthread client([&] {
      engine->await(first.job_id, 0ms, [&] {
        leaves = true;
        return true;
      });
    });
    while (!leaves) std::this_thread::yield();
    const auto second = engine->submit(request);
    const auto result = engine->await(second.job_id, 20ms);
    EXPECT_FALSE(result.has_value()) << result->error << ", joined " << second.joined;
    engine->cancel(second.job_id);
  }
  hooks[0]->start_gate.open();
}

}  // namespace
}  // namespace cuzk::engine
