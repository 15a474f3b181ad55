#include "base/error.hpp"
#include "engine/testing/toy_engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <numeric>
#include <random>

// What goes wrong stays inside its job, and nothing wrong gets out.
namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using testing::Fault;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::toy_request;

class EngineFaultTest : public testing::ToyEngine {
 protected:
  const DeviceStatus device(std::size_t i) { return engine->status().devices.at(i); }
  void expect_good_winning_proof() {
    expect_proofs(prove(toy_request(ProofKind::kWinningPost, "", {78})), {78});
  }
  /// The device takes work again.
  void expect_good_proof(std::uint64_t root = 77) {
    expect_proofs(prove(toy_request(ProofKind::kSnap, "", {root})), {root});
  }
};

TEST_F(EngineFaultTest, ABadProofIsMadeAgain) {
  hooks[0]->fault = [](std::uint64_t root, unsigned start) {
    return root == 3 && start == 1 ? Fault::kWrongProof : Fault::kNone;
  };
  start_and_wait();
  const JobResult result = prove(toy_request(ProofKind::kPorep, "a", {1, 2, 3, 4}));
  expect_proofs(result, {1, 2, 3, 4});
  EXPECT_EQ(result.attempts, 2U);
  EXPECT_EQ(hooks[0]->started().size(), 5U) << "only the bad one";
  EXPECT_EQ(device(0).bad_proofs, 1U);
  EXPECT_EQ(device(0).proofs, 4U);
  const Counters counters = engine->status().counters;
  EXPECT_EQ(counters.self_check_failures, 1U);
  EXPECT_EQ(counters.partition_retries, 1U);
  // porep-2k was loaded anew for the second try.
  EXPECT_EQ(hooks[0]->loads, 3U);
}

TEST_F(EngineFaultTest, ABadProofIsMadeAgainOnAnotherDevice) {
  add_device();
  config.gpus.quarantine_after = 100;
  hooks[0]->fault = [](std::uint64_t, unsigned) { return Fault::kWrongProof; };
  start_and_wait();
  for (std::uint64_t i = 0; i < 10; ++i) {
    const JobResult result = prove(toy_request(ProofKind::kPorep, "", {i, i + 1}));
    expect_proofs(result, {i, i + 1});
    EXPECT_THAT(result.backend, HasSubstr("fake:1"));
  }
  EXPECT_EQ(device(1).bad_proofs, 0U);
}

// A partition that failed on a device gets the same one again because the other is being reset, and
// that one comes back before the first has time for it.
TEST_F(EngineFaultTest, APartitionStaysWithTheDeviceItWasAdmittedTo) {
  add_device();
  config.gpus.quarantine_after = 100;
  std::promise<void> reset, busy;
  const auto is_reset = reset.get_future().share(), is_busy = busy.get_future().share();
  hooks[1]->on_self_test = [&, first = true]() mutable {
    if (!first) is_reset.wait();
    first = false;
  };
  hooks[1]->fault = [](std::uint64_t, unsigned) { return Fault::kAtStart; };
  hooks[0]->fault = [&](std::uint64_t root, unsigned start) {
    if (root == 8) is_busy.wait();
    return root == 9 && start == 1 ? Fault::kWrongProof : Fault::kNone;
  };
  hooks[0]->delay_us = 20'000;  // so that the other gets the key, too
  start_and_wait();
  const std::vector<std::uint64_t> roots(20, 1);
  expect_proofs(prove(toy_request(ProofKind::kSnap, "", roots)), roots);
  wait_until([&] { return hooks[1]->resets == 1; }, "the other device is being reset");

  hooks[0]->start_gate.close();
  engine->submit(toy_request(ProofKind::kPorep, "fails once", {9}));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kPorep, "long", {8}, Priority::kHigh));
  const auto is_witness_done = [&](const std::string& id) {
    return job_status(id).partitions.at(0).state == PartitionStatus::State::kWitnessDone;
  };
  wait_until([&] { return is_witness_done("long"); }, "the long job waits for the device");
  hooks[0]->start_gate.open();
  wait_until([&] { return is_witness_done("fails once"); }, "it waits for the device again");
  reset.set_value();
  wait_until([&] { return device(1).quarantine_reason.empty(); }, "the other device is back");
  hooks[1]->fault = nullptr;
  busy.set_value();
  expect_proofs(await("long"), {8});
  expect_proofs(await("fails once"), {9});
}

TEST_F(EngineFaultTest, TwoBadProofsFailTheJobByName) {
  hooks[0]->fault = [](std::uint64_t root, unsigned) {
    return root == 2 ? Fault::kWrongProof : Fault::kNone;
  };
  start_and_wait();
  const JobResult result = prove(toy_request(ProofKind::kPorep, "porep-1000-42", {1, 2, 3}));
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_EQ(result.code, ErrorCode::kSelfCheckFailed);
  EXPECT_TRUE(result.proof.empty());
  EXPECT_THAT(result.error,
              StartsWith("SELF-CHECK-FAILED: porep-1000-42: partition 1 of 3, attempt 2: "));
  EXPECT_THAT(result.error, HasSubstr("fake:0"));
  expect_good_proof();
}

// A bad proof discards the key. Here the stages are full of witnesses of the job that goes first,
// which wants no more of them, and the job of the bad proof comes later.
TEST_F(EngineFaultTest, WitnessesThatWaitGetADiscardedKeyAgain) {
  hooks[0]->fault = [](std::uint64_t root, unsigned start) {
    return root == 3 && start == 1 ? Fault::kWrongProof : Fault::kNone;
  };
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "bad", {3}));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kPorep, "first", {1, 2}, Priority::kHigh));
  wait_until(
      [&] {
        return std::ranges::all_of(job_status("first").partitions, [](const auto& partition) {
          return partition.state == PartitionStatus::State::kWitnessDone;
        });
      },
      "both witnesses are there");
  hooks[0]->start_gate.open();
  expect_proofs(await("first"), {1, 2});
  expect_proofs(await("bad"), {3});
  EXPECT_EQ(hooks[0]->loads, 3U) << "winning-2k, porep-2k and that once more";
}

TEST_F(EngineFaultTest, ADeviceOfBadProofsIsQuarantined) {
  add_device();
  config.gpus.quarantine_after = 3;
  config.reliability.partition_attempts = 4;
  hooks[0]->fault = [](std::uint64_t, unsigned) { return Fault::kWrongProof; };
  start_and_wait();
  std::vector<std::uint64_t> roots(30);
  std::iota(roots.begin(), roots.end(), 1);
  expect_proofs(prove(toy_request(ProofKind::kPorep, "a", roots)), roots);
  EXPECT_TRUE(device(0).quarantined);
  EXPECT_THAT(device(0).quarantine_reason, HasSubstr("does not verify"));
  EXPECT_GE(device(0).bad_proofs, 3U);
  EXPECT_FALSE(device(1).quarantined);
  EXPECT_TRUE(engine->ready());
  const auto started = hooks[0]->started().size();
  expect_good_proof();
  EXPECT_EQ(hooks[0]->started().size(), started) << "it gets no more work";
}

// Its input may be what is wrong: other jobs still get the device.
TEST_F(EngineFaultTest, BadProofsOfOneJobTakeNoDevice) {
  config.gpus.quarantine_after = 3;
  hooks[0]->fault = [](std::uint64_t root, unsigned) {
    return root < 10 ? Fault::kWrongProof : Fault::kNone;
  };
  start_and_wait();
  EXPECT_EQ(prove(toy_request(ProofKind::kPorep, "a", {1, 2, 3, 4, 5})).code,
            ErrorCode::kSelfCheckFailed);
  EXPECT_EQ(prove(toy_request(ProofKind::kPorep, "b", {6, 7, 8})).code,
            ErrorCode::kSelfCheckFailed);
  EXPECT_GE(device(0).bad_proofs, 4U);
  expect_good_proof();
  // Three jobs in a row are the device's.
  hooks[0]->start_gate.close();
  for (const char* id : {"c", "d", "e"}) engine->submit(toy_request(ProofKind::kPorep, id, {1}));
  hooks[0]->start_gate.open();
  for (const char* id : {"c", "d", "e"}) await(id);
  wait_until([&] { return device(0).quarantined; }, "it is out of service");
}

// As when a pass over a streamed key fails, which ten partitions share.
TEST_F(EngineFaultTest, AFaultThatEveryWorkerMeetsIsOne) {
  options_of_devices[0].workers = 4;
  config.gpus.quarantine_after = 3;
  hooks[0]->fault = [](std::uint64_t, unsigned start) {
    return start == 1 ? Fault::kAtStart : Fault::kNone;
  };
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1, 2, 3, 4}));
  hooks[0]->start_gate.await_waiting(4);
  hooks[0]->start_gate.open();
  expect_proofs(await("a"), {1, 2, 3, 4});
  EXPECT_EQ(device(0).faults, 4U);
  EXPECT_FALSE(device(0).quarantined);
  EXPECT_EQ(hooks[0]->resets, 1U);
}

TEST_F(EngineFaultTest, WithoutAnyDeviceJobsEndAndAreRefused) {
  config.gpus.quarantine_after = 2;
  config.reliability.partition_attempts = 10;
  hooks[0]->fault = [](std::uint64_t, unsigned) { return Fault::kAtStart; };
  hooks[0]->start_gate.close();  // until both are accepted
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1}));
  engine->submit(toy_request(ProofKind::kPorep, "b", {2}));
  hooks[0]->start_gate.open();
  EXPECT_EQ(await("a").code, ErrorCode::kNoGpu);
  EXPECT_EQ(await("b").code, ErrorCode::kNoGpu);
  std::string text;
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "c", {3}), &text), ErrorCode::kNoGpu);
  EXPECT_THAT(text, HasSubstr("fake:0: 2 failures in a row, the last: launch failed"));
  EXPECT_FALSE(engine->ready());
}

TEST_F(EngineFaultTest, AFaultResetsTheDeviceAndTheNextJobSucceeds) {
  for (const Fault fault : {Fault::kAtStart, Fault::kAtFinish, Fault::kUnknown}) {
    hooks = {std::make_shared<testing::FakeHooks>()};
    hooks[0]->fault = [fault](std::uint64_t root, unsigned start) {
      return root == 5 && start == 1 ? fault : Fault::kNone;
    };
    start_and_wait();
    const JobResult result = prove(toy_request(ProofKind::kPorep, "a", {4, 5, 6}));
    expect_proofs(result, {4, 5, 6});
    EXPECT_EQ(result.attempts, 2U);
    EXPECT_EQ(hooks[0]->resets, 1U);
    EXPECT_EQ(hooks[0]->resets_with_keys, 0U) << "no key was left on it";
    EXPECT_EQ(hooks[0]->self_tests, 2U) << "at start and after the fault";
    EXPECT_EQ(device(0).faults, 1U);
    expect_good_proof();
    engine.reset();
  }
}

TEST_F(EngineFaultTest, FaultsOnEveryAttemptFailTheJobOnly) {
  config.gpus.quarantine_after = 10;
  hooks[0]->fault = [](std::uint64_t root, unsigned) {
    return root == 5 ? Fault::kAtFinish : Fault::kNone;
  };
  start_and_wait();
  const JobResult result = prove(toy_request(ProofKind::kPorep, "a", {5}));
  EXPECT_EQ(result.code, ErrorCode::kGpuFault);
  EXPECT_THAT(result.error, HasSubstr("illegal memory access"));
  expect_good_proof();
}

TEST_F(EngineFaultTest, OutOfDeviceMemoryIsRetriedWithoutReset) {
  hooks[0]->fault = [](std::uint64_t root, unsigned start) {
    const bool hits = root == 9 || (root == 3 && start == 1);
    return hits ? Fault::kOutOfMemory : Fault::kNone;
  };
  start_and_wait();
  for (int round = 0; round < 10; ++round) {
    const JobResult failed = prove(toy_request(ProofKind::kPorep, "", {9}));
    EXPECT_EQ(failed.code, ErrorCode::kGpuMemory);
    expect_good_proof();
  }
  expect_proofs(prove(toy_request(ProofKind::kPorep, "b", {3})), {3});
  EXPECT_EQ(hooks[0]->resets, 0U);
  EXPECT_FALSE(device(0).quarantined) << "the device stays in service";
  EXPECT_EQ(engine->status().host.used, 3000U) << "three keys and nothing else";
}

TEST_F(EngineFaultTest, OutOfHostMemoryFailsTheJob) {
  hooks[0]->fault = [](std::uint64_t root, unsigned) {
    return root == 9 ? Fault::kHostMemory : Fault::kNone;
  };
  *on_witness = [](std::uint64_t root) {
    if (root == 8) throw std::bad_alloc();
    if (root == 7) throw base::InvalidInput("a column without labels");
  };
  start_and_wait();
  EXPECT_EQ(prove(toy_request(ProofKind::kPorep, "", {9})).code, ErrorCode::kHostMemory);
  EXPECT_EQ(prove(toy_request(ProofKind::kPorep, "", {8})).code, ErrorCode::kHostMemory);
  const JobResult result = prove(toy_request(ProofKind::kPorep, "c", {1, 7}));
  EXPECT_EQ(result.error, "INTERNAL: c: witness of partition 1: a column without labels");
  expect_good_proof(1);
}

// Whatever happens: code, job, where it happened, and what.
TEST_F(EngineFaultTest, EveryFailureIsSaidWithItsPlaceAndCause) {
  config.gpus.quarantine_after = 100;
  const std::map<std::uint64_t, Fault> faults = {
      {10, Fault::kAtStart}, {11, Fault::kAtFinish},   {12, Fault::kOutOfMemory},
      {13, Fault::kUnknown}, {14, Fault::kHostMemory}, {15, Fault::kWrongProof}};
  hooks[0]->fault = [&](std::uint64_t root, unsigned) {
    const auto found = faults.find(root);
    return found == faults.end() ? Fault::kNone : found->second;
  };
  *on_witness = [](std::uint64_t root) {
    if (root == 16) throw std::bad_alloc();
    if (root == 17) throw std::runtime_error("no such node");
  };
  start_and_wait();
  for (std::uint64_t root = 10; root < 18; ++root) {
    const std::string id = "job " + std::to_string(root);
    const JobResult result = prove(toy_request(ProofKind::kPorep, id, {1, root}));
    EXPECT_EQ(result.state, JobState::kFailed) << root;
    EXPECT_THAT(result.error, ::testing::MatchesRegex("[A-Z-]+: " + id +
                                                      ": .*partition 1( of 2, attempt 2)?: .+"));
    EXPECT_THAT(result.error, StartsWith(std::string(to_string(result.code)) + ": "));
  }
  expect_good_proof();
}

TEST_F(EngineFaultTest, AFailedSelfTestKeepsTheDeviceOut) {
  add_device();
  hooks[0]->on_self_test = [] {
    throw DeviceFault("a product is wrong in limb 3", DeviceFault::Kind::kWork);
  };
  start_and_wait();
  EXPECT_TRUE(device(0).quarantined);
  EXPECT_EQ(device(0).quarantine_reason, "SELF-TEST: a product is wrong in limb 3");
  expect_good_proof();
  EXPECT_TRUE(hooks[0]->started().empty());
}

TEST_F(EngineFaultTest, AFailedTestAfterAFaultCountsAgainstTheDevice) {
  add_device();
  config.gpus.quarantine_after = 3;
  hooks[0]->fault = [](std::uint64_t, unsigned) { return Fault::kAtStart; };
  unsigned tests = 0;
  hooks[0]->on_self_test = [&tests] {
    if (++tests > 1) throw DeviceFault("still broken", DeviceFault::Kind::kWork);
  };
  start_and_wait();
  for (std::uint64_t i = 0; i < 20 && !device(0).quarantined; ++i)
    expect_proofs(prove(toy_request(ProofKind::kPorep, "", {i, i, i})), {i, i, i});
  wait_until([&] { return device(0).quarantined; }, "it is out of service");
  EXPECT_EQ(hooks[0]->started().size(), 1U);
  EXPECT_THAT(device(0).quarantine_reason, HasSubstr("still broken"));
}

TEST_F(EngineFaultTest, ALostDeviceLeavesItsWorkToTheOthers) {
  add_device();
  hooks[0]->fault = [](std::uint64_t, unsigned) { return Fault::kLost; };
  start_and_wait();
  const std::vector<std::uint64_t> roots = {1, 2, 3, 4, 5, 6, 7, 8};
  expect_proofs(prove(toy_request(ProofKind::kPorep, "a", roots)), roots);
  wait_until([&] { return device(0).quarantined; }, "it is out of service");
  EXPECT_EQ(
      device(0).quarantine_reason,
      "lost (1 failures in a row, the last: the device is gone); the reset: the device is gone");
  EXPECT_EQ(hooks[0]->started().size(), 1U);
  EXPECT_EQ(hooks[0]->loaded_now, 0U) << "its keys take no memory";
  EXPECT_EQ(engine->status().restart_because, "") << "there is another device";
  expect_good_proof();
}

// However often it failed before, whether it is lost is found out.
TEST_F(EngineFaultTest, ADeviceThatIsLostByItsLastFaultIsKnownToBeLost) {
  config.gpus.quarantine_after = 1;
  hooks[0]->fault = [](std::uint64_t, unsigned) { return Fault::kLost; };
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1}));
  wait_until([&] { return !engine->status().restart_because.empty(); }, "a restart is wanted");
  EXPECT_THAT(engine->status().restart_because, StartsWith("fake:0: lost (1 failures"));
  EXPECT_FALSE(engine->status().ready);
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "b", {2})), ErrorCode::kNoGpu);
  EXPECT_FALSE(is_final(job_status("a").state)) << "it is kept";
}

TEST_F(EngineFaultTest, ACorruptKeyFailsItsCircuitOnly) {
  hooks[0]->on_load = [](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind == filecoin::CircuitKind::kPorep)
      throw base::CorruptData("porep.params: 33,812 bytes short");
  };
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1}));
  const JobResult result = await("a");
  EXPECT_EQ(result.code, ErrorCode::kParamsCorrupt);
  EXPECT_THAT(result.error, HasSubstr("33,812 bytes short"));
  std::string text;
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "b", {1}), &text), ErrorCode::kParamsCorrupt);
  EXPECT_THAT(text, HasSubstr("33,812 bytes short"));
  expect_good_proof();
  // Another file, and no restart.
  hooks[0]->on_load = nullptr;
  parameters->set("porep-2k", {CircuitStatus::Readiness::kReady, {}});
  expect_proofs(prove(toy_request(ProofKind::kPorep, "b", {1})), {1});
}

TEST_F(EngineFaultTest, ALoadThatLacksDeviceMemoryIsTriedAgainThenFails) {
  unsigned loads = 0;
  unsigned failures = 1;
  hooks[0]->on_load = [&](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind == filecoin::CircuitKind::kPorep && ++loads <= failures)
      throw DeviceFault("no device memory for the key", DeviceFault::Kind::kMemory);
  };
  start_and_wait();
  expect_proofs(prove(toy_request(ProofKind::kPorep, "a", {1})), {1});
  engine->evict("porep-2k");
  failures = 100;
  EXPECT_EQ(prove(toy_request(ProofKind::kPorep, "b", {1})).code, ErrorCode::kGpuMemory);
  EXPECT_EQ(hooks[0]->resets, 0U);
  expect_good_proof();
  try {
    engine->preload("porep-2k");
    FAIL();
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kGpuMemory);
  }
}

TEST_F(EngineFaultTest, AStallIsReportedThenFailsAndTheDeviceComesBack) {
  config.reliability.stall_warning = 0s;
  config.reliability.stall_limit = 1s;
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "stalls", {1, 2}));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kSnap, "next", {3}));
  const JobResult result = await("stalls");
  EXPECT_EQ(result.code, ErrorCode::kStalled);
  EXPECT_THAT(result.error, HasSubstr("of 2 stands in stage gpu for"));
  EXPECT_EQ(engine->status().devices[0].faults, 1U);
  EXPECT_EQ(hooks[0]->resets, 0U) << "not while the call is out";
  hooks[0]->start_gate.open();
  expect_proofs(await("next"), {3});
  EXPECT_EQ(hooks[0]->resets, 1U);
  EXPECT_EQ(hooks[0]->resets_with_keys, 0U);
}

TEST_F(EngineFaultTest, AKeyThatDoesNotGetLoadedIsAStall) {
  config.reliability.stall_limit = 1s;
  start_and_wait();
  hooks[0]->load_gate.close();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1}));
  const JobResult result = await("a");
  EXPECT_EQ(result.code, ErrorCode::kStalled);
  EXPECT_THAT(result.error, HasSubstr("key porep-2k is being loaded on fake:0 for"));
  expect_good_winning_proof();
  hooks[0]->load_gate.open();
  expect_proofs(prove(toy_request(ProofKind::kPorep, "a", {1})), {1});
}

TEST_F(EngineFaultTest, TwentyBadThenTwentyGood) {
  start_and_wait();
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "", {666})), ErrorCode::kBadVanilla);
  for (std::uint64_t i = 0; i < 20; ++i)
    expect_proofs(prove(toy_request(ProofKind::kPorep, "", {i})), {i});
}

// A thousand jobs, two devices of two workers, faults of every kind, clients that go away: every
// job ends, no invalid proof gets out, and the numbers add up.
TEST_F(EngineFaultTest, AThousandJobsWithInjectedFaults) {
  options_of_devices[0].workers = 2;
  add_device(2);
  config.gpus.quarantine_after = 1'000'000;
  config.reliability.partition_attempts = 3;
  config.scheduler.max_queued_jobs = 2000;
  for (const auto& hook : hooks) {
    hook->fault = [](std::uint64_t root, unsigned start) {
      const std::uint64_t roll = (root * 2654435761U + start * 40503U) % 97;
      if (roll < 3) return Fault::kWrongProof;
      if (roll < 6) return Fault::kOutOfMemory;
      if (roll == 6) return Fault::kAtStart;
      if (roll == 7) return Fault::kAtFinish;
      if (roll == 8) return Fault::kHostMemory;
      return Fault::kNone;
    };
  }
  start_and_wait();
  constexpr ProofKind kKinds[] = {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindowPost,
                                  ProofKind::kWinningPost};
  std::mt19937_64 random(7);
  struct Sent {
    std::string id;
    std::vector<std::uint64_t> roots;
    bool cancelled;
  };
  std::vector<Sent> sent;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    std::vector<std::uint64_t> roots(i % 5 == 0 ? 3 : 1);
    for (std::uint64_t& root : roots) root = 1000 + random() % 100'000;
    const auto submitted = engine->submit(toy_request(kKinds[i % 4], std::to_string(i), roots));
    const bool cancelled = i % 25 == 0 && engine->cancel(submitted.job_id);
    sent.push_back({submitted.job_id, roots, cancelled});
  }
  std::map<ErrorCode, std::uint64_t> ends;
  std::uint64_t retried = 0;
  std::vector<groth16::Proof> proofs;
  std::vector<std::vector<curve::Fr>> inputs;
  for (const Sent& job : sent) {
    const JobResult result = await(job.id);
    ++ends[result.code];
    if (result.state == JobState::kCompleted) {
      for (const groth16::Proof& proof :
           groth16::decode_proofs(result.proof, job.roots.size(), job.id))
        proofs.push_back(proof);
      for (const std::uint64_t root : job.roots) inputs.push_back(testing::square_inputs(root));
      retried += result.attempts > 1;
    } else {
      EXPECT_TRUE(result.proof.empty());
      EXPECT_THAT(result.error, StartsWith(std::string(to_string(result.code)) + ": " + job.id));
      EXPECT_EQ(result.code == ErrorCode::kCancelled, job.cancelled);
    }
  }
  EXPECT_TRUE(testing::SquareKey::get().verifier.verify_batch(proofs, inputs));
  EXPECT_GT(ends[ErrorCode::kNone], 900U);
  EXPECT_GT(retried, 50U);
  const Status status = engine->status();
  std::uint64_t accepted = 0, ended = 0, failed = 0, failures = 0;
  for (const auto& [kind, counts] : status.counters.kinds) {
    accepted += counts.accepted;
    ended += counts.completed + counts.failed + counts.cancelled;
    failed += counts.failed;
    for (const auto& [code, count] : counts.failed_with) failures += count;
    EXPECT_EQ(counts.pending + counts.in_progress, 0U);
  }
  EXPECT_EQ(accepted, 1000U);
  EXPECT_EQ(ended, 1000U);
  EXPECT_EQ(failed, 1000 - ends[ErrorCode::kNone] - ends[ErrorCode::kCancelled]);
  EXPECT_EQ(failures, failed);
  EXPECT_EQ(status.queue_depth, 0U);
  for (const auto& hook : hooks) EXPECT_EQ(hook->resets_with_keys, 0U);
  // Memory is that of the keys alone, once the last worker has let go.
  wait_until(
      [&] {
        const Status now = engine->status();
        std::uint64_t keys = 0;
        for (const CircuitStatus& circuit : now.circuits) keys += circuit.bytes;
        return now.witness_active == 0 && 2 * now.host.used == keys;
      },
      "only keys use memory");
}

}  // namespace
}  // namespace cuzk::engine
