#include "engine/engine.hpp"

#include "base/error.hpp"
#include "engine/testing/toy_engine.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <future>
#include <numeric>
#include <set>
#include <thread>

// The engine as its callers see it, over fake devices.
namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::toy_request;
using ::testing::UnorderedElementsAre;

class EngineTest : public testing::ToyEngine {};

TEST_F(EngineTest, ProvesEveryKindWithItsPartitionsInOrder) {
  start_and_wait();
  std::uint64_t root = 10;
  for (const ProofKind kind :
       {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindowPost, ProofKind::kWinningPost}) {
    SCOPED_TRACE(label(kind));
    std::vector<std::uint64_t> roots(1 + root % 7);
    std::iota(roots.begin(), roots.end(), root);
    root += 100;
    const auto submitted = engine->submit(toy_request(kind, std::string(label(kind)), roots));
    EXPECT_EQ(submitted.job_id, label(kind));
    EXPECT_FALSE(submitted.joined);
    const JobResult result = await(submitted.job_id);
    expect_proofs(result, roots);
    EXPECT_EQ(result.backend, "fake:0");
    EXPECT_EQ(result.attempts, 1U);
    EXPECT_EQ(result.error, "");
  }
  const Counters counters = engine->status().counters;
  for (const auto& [kind, counts] : counters.kinds) {
    EXPECT_EQ(counts.accepted, 1U);
    EXPECT_EQ(counts.completed, 1U);
    EXPECT_EQ(counts.pending + counts.in_progress, 0U);
    EXPECT_GT(counts.stages.at("witness").count, 0U);
    EXPECT_GT(counts.stages.at("msm_h").count, 0U);
    EXPECT_GT(counts.stages.at("verify").count, 0U);
    EXPECT_EQ(counts.stages.at("total").count, 1U);
  }
}

TEST_F(EngineTest, WithoutDeviceOrCpuItDoesNotStart) {
  const auto make = [&] {
    Engine made(config, {}, journal(), std::make_unique<testing::ToyPreparation>(on_witness),
                std::make_unique<testing::ToyParameters>());
  };
  try {
    make();
    FAIL();
  } catch (const base::InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("allow_cpu"));
  }
  config.gpus.allow_cpu = true;
  EXPECT_NO_THROW(make());
}

TEST_F(EngineTest, UnknownJobsAndCircuits) {
  start();
  const auto code = [](const auto& call) {
    try {
      call();
    } catch (const EngineError& error) {
      return error.code();
    }
    return ErrorCode::kNone;
  };
  EXPECT_EQ(code([&] { engine->await("nobody", 1s); }), ErrorCode::kNotFound);
  EXPECT_EQ(code([&] { engine->cancel("nobody"); }), ErrorCode::kNotFound);
  EXPECT_EQ(code([&] { engine->preload("porep-3g"); }), ErrorCode::kNotFound);
  EXPECT_EQ(code([&] { engine->evict("porep-3g"); }), ErrorCode::kNotFound);
  EXPECT_EQ(code([&] { engine->preload("porep-32g"); }), ErrorCode::kParamsMissing);
}

TEST_F(EngineTest, RefusesBeforeQueueing) {
  config.scheduler.max_queued_jobs = 2;
  on_parameters = [](testing::ToyParameters& files) {
    files.set("porep-8m", {CircuitStatus::Readiness::kCorrupt, "porep-8m: digest"});
  };
  hooks[0]->start_gate.close();
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind == filecoin::CircuitKind::kUpdate)
      return ProvingDevice::Needs{900'000, 200'000, 10};
    if (circuit.kind == filecoin::CircuitKind::kWindowPost)
      return ProvingDevice::Needs{10, 10, 2'000'000};
    return ProvingDevice::Needs{10, 10, 10};
  };
  start_and_wait();
  std::string text;
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "a", {}), &text), ErrorCode::kBadInput);
  EXPECT_THAT(text, StartsWith("BAD-INPUT: a: "));
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "a", {666})), ErrorCode::kBadVanilla);
  JobRequest large = toy_request(ProofKind::kPorep, "a", {1});
  large.sector_size = filecoin::SectorSize::parse("32GiB").bytes();
  EXPECT_EQ(refusal(large, &text), ErrorCode::kParamsMissing);
  EXPECT_THAT(text, StartsWith("PARAMS-MISSING: a: porep-32g"));
  large.sector_size = filecoin::SectorSize::parse("8MiB").bytes();
  EXPECT_EQ(refusal(large), ErrorCode::kParamsCorrupt);
  EXPECT_EQ(refusal(toy_request(ProofKind::kSnap, "a", {1}), &text), ErrorCode::kHostMemory);
  EXPECT_THAT(text, HasSubstr("needs 1.0 MiB"));
  EXPECT_EQ(refusal(toy_request(ProofKind::kWindowPost, "a", {1}), &text), ErrorCode::kGpuMemory);
  EXPECT_THAT(text, HasSubstr("fake:0"));
  JobRequest long_id = toy_request(ProofKind::kPorep, std::string(2000, 'x'), {1});
  EXPECT_EQ(refusal(long_id), ErrorCode::kBadInput);
  EXPECT_TRUE(engine->status().jobs.empty());

  engine->submit(toy_request(ProofKind::kPorep, "first", {1}));
  engine->submit(toy_request(ProofKind::kPorep, "second", {2}));
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "third", {3})), ErrorCode::kQueueFull);
  // PoSt is not crowded out.
  engine->submit(toy_request(ProofKind::kWinningPost, "winning", {4}));
  hooks[0]->start_gate.open();
  for (const char* id : {"first", "second", "winning"})
    EXPECT_EQ(await(id).state, JobState::kCompleted);
  const auto refused = engine->status().counters.kinds.at(ProofKind::kPorep).refused;
  EXPECT_EQ(refused.at("QUEUE-FULL"), 1U);
  EXPECT_EQ(refused.at("BAD-INPUT"), 2U);
  EXPECT_EQ(refused.at("BAD-VANILLA"), 1U);
}

TEST_F(EngineTest, TheSameRequestJoinsAndReplays) {
  hooks[0]->start_gate.close();
  start_and_wait();
  const JobRequest request = toy_request(ProofKind::kPorep, "wdpost-1-[1 2]", {1, 2, 3});
  const auto first = engine->submit(request);
  const auto second = engine->submit(request);
  EXPECT_FALSE(first.joined);
  EXPECT_TRUE(second.joined);
  EXPECT_EQ(first.job_id, second.job_id);
  auto waiting = std::async(std::launch::async, [&] { return await(first.job_id); });
  hooks[0]->start_gate.open();
  const JobResult result = await(second.job_id);
  expect_proofs(result, {1, 2, 3});
  EXPECT_EQ(waiting.get().proof, result.proof);
  const auto third = engine->submit(request);
  EXPECT_TRUE(third.joined);
  EXPECT_EQ(await(third.job_id).proof, result.proof);
  EXPECT_EQ(hooks[0]->started().size(), 3U) << "proved once";
  const Counters counters = engine->status().counters;
  EXPECT_EQ(counters.joined, 1U);
  EXPECT_EQ(counters.replayed, 1U);
}

TEST_F(EngineTest, EqualRequestsAtOnceAreOneJob) {
  start_and_wait();
  const JobRequest request = toy_request(ProofKind::kSnap, "snap-1", {5, 6});
  std::vector<std::future<JobResult>> results;
  for (int i = 0; i < 8; ++i)
    results.push_back(std::async(std::launch::async, [&] { return prove(request); }));
  std::set<base::Bytes> proofs;
  for (auto& result : results) proofs.insert(result.get().proof);
  EXPECT_EQ(proofs.size(), 1U);
  EXPECT_EQ(hooks[0]->started().size(), 2U);
  EXPECT_EQ(engine->status().counters.kinds.at(ProofKind::kSnap).accepted, 1U);
}

TEST_F(EngineTest, OtherContentUnderAnIdSupersedes) {
  hooks[0]->start_gate.close();
  start_and_wait();
  const auto old_job = engine->submit(toy_request(ProofKind::kPorep, "porep-1-2", {1, 2, 3}));
  hooks[0]->start_gate.await_waiting(1);
  // What is refused supersedes nothing.
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "porep-1-2", {666})), ErrorCode::kBadVanilla);
  EXPECT_EQ(job_status(old_job.job_id).state, JobState::kRunning);
  const auto new_job = engine->submit(toy_request(ProofKind::kPorep, "porep-1-2", {7, 8}));
  EXPECT_NE(new_job.job_id, old_job.job_id);
  EXPECT_FALSE(new_job.joined);
  const JobResult dropped = await(old_job.job_id);
  EXPECT_EQ(dropped.state, JobState::kCancelled);
  EXPECT_EQ(dropped.code, ErrorCode::kSuperseded);
  EXPECT_THAT(dropped.error, StartsWith("JOB-SUPERSEDED: porep-1-2: new input digest "));
  EXPECT_TRUE(dropped.proof.empty());
  hooks[0]->start_gate.open();
  expect_proofs(await(new_job.job_id), {7, 8});
  EXPECT_EQ(engine->status().counters.superseded, 1U);
}

TEST_F(EngineTest, AFailedRequestIsTriedAnew) {
  hooks[0]->fault = [](std::uint64_t, unsigned start) {
    return start <= 2 ? testing::Fault::kWrongProof : testing::Fault::kNone;
  };
  start_and_wait();
  const JobRequest request = toy_request(ProofKind::kPorep, "again", {1});
  EXPECT_EQ(prove(request).code, ErrorCode::kSelfCheckFailed);
  const auto second = engine->submit(request);
  EXPECT_FALSE(second.joined);
  expect_proofs(await(second.job_id), {1});
}

TEST_F(EngineTest, CancelsQueuedAndRunningJobs) {
  config.pipeline.max_parallel_synthesis = 1;  // in the order of the partitions
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "running", {1, 2}));
  engine->submit(toy_request(ProofKind::kPorep, "queued", {3}));
  hooks[0]->start_gate.await_waiting(1);
  EXPECT_TRUE(engine->cancel("running"));
  EXPECT_TRUE(engine->cancel("queued"));
  EXPECT_FALSE(engine->cancel("queued"));
  EXPECT_EQ(await("running").code, ErrorCode::kCancelled);
  const JobResult queued = await("queued");
  EXPECT_EQ(queued.state, JobState::kCancelled);
  EXPECT_EQ(queued.error, "CANCELLED: queued: cancelled by a client");
  hooks[0]->start_gate.open();
  expect_proofs(prove(toy_request(ProofKind::kPorep, "next", {9})), {9});
  // Nothing of the cancelled ones was started after the partition in hand.
  EXPECT_EQ(hooks[0]->started(), (std::vector<std::uint64_t>{1, 9}));
  EXPECT_EQ(engine->status().host.used, 2 * 1000U) << "memory of two keys and nothing else";
}

TEST_F(EngineTest, AwaitTimesOutAndTheJobGoesOn) {
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "slow", {1}));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(engine->await("slow", 300ms), std::nullopt);
  const auto waited = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(waited, 300ms);
  EXPECT_LT(waited, 2s);
  hooks[0]->start_gate.open();
  expect_proofs(await("slow"), {1});
}

TEST_F(EngineTest, AJobOfWaitersGoesWithTheLast) {
  hooks[0]->start_gate.close();
  start_and_wait();
  const JobRequest tied = toy_request(ProofKind::kPorep, "tied", {1});
  const JobRequest kept = toy_request(ProofKind::kPorep, "kept", {2});
  engine->submit(tied);
  engine->cancel_with_waiters("tied");
  engine->submit(kept);
  engine->submit(kept);
  engine->cancel_with_waiters("kept");  // one of its two submitters only waits
  auto other = std::async(std::launch::async, [&] { return engine->await("tied", 0ms); });
  wait_until([&] { return job_status("tied").waiters == 1; }, "another waiter");
  EXPECT_EQ(engine->await("tied", 0ms, [] { return true; }), std::nullopt);
  EXPECT_FALSE(is_final(job_status("tied").state)) << "the other still waits";
  EXPECT_EQ(engine->await("kept", 0ms, [] { return true; }), std::nullopt);
  EXPECT_FALSE(is_final(job_status("kept").state));
  engine->cancel("tied");
  EXPECT_EQ(other.get()->code, ErrorCode::kCancelled);
  engine->submit(toy_request(ProofKind::kPorep, "alone", {3}));
  engine->cancel_with_waiters("alone");
  EXPECT_EQ(engine->await("alone", 0ms, [] { return true; }), std::nullopt);
  EXPECT_EQ(await("alone").code, ErrorCode::kCancelled);
  hooks[0]->start_gate.open();
  expect_proofs(await("kept"), {2});
}

TEST_F(EngineTest, PreloadAndEvict) {
  start_and_wait();
  const auto circuit = [&](const std::string& id) {
    for (const CircuitStatus& status : engine->status().circuits) {
      if (status.circuit_id == id) return status;
    }
    return CircuitStatus{};
  };
  EXPECT_TRUE(circuit("winning-2k").loaded) << "at start";
  EXPECT_FALSE(circuit("porep-2k").loaded);
  EXPECT_FALSE(engine->preload("porep-2k").already_loaded);
  EXPECT_TRUE(engine->preload("porep-2k").already_loaded);
  EXPECT_EQ(circuit("porep-2k").tier, KeyTier::kHot);
  EXPECT_EQ(circuit("porep-2k").bytes, 2000U);
  EXPECT_EQ(circuit("porep-2k").references, 0U);
  EXPECT_EQ(circuit("porep-32g").readiness, CircuitStatus::Readiness::kMissing);
  EXPECT_NE(circuit("porep-32g").detail, "");
  hooks[0]->start_gate.close();
  engine->submit(toy_request(ProofKind::kPorep, "user", {1}));
  hooks[0]->start_gate.await_waiting(1);
  EXPECT_GE(circuit("porep-2k").references, 1U);
  try {
    engine->evict("porep-2k");
    FAIL();
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  }
  hooks[0]->start_gate.open();
  await("user");
  wait_until([&] { return circuit("porep-2k").references == 0; }, "no reference");
  const auto evicted = engine->evict("porep-2k");
  EXPECT_TRUE(evicted.was_loaded);
  EXPECT_EQ(evicted.freed_bytes, 2000U);
  EXPECT_FALSE(engine->evict("porep-2k").was_loaded);
  EXPECT_FALSE(circuit("porep-2k").loaded);
  EXPECT_EQ(engine->status().host.used, 1000U) << "WinningPoSt's key";
}

TEST_F(EngineTest, StatusShowsWhatGoesOn) {
  config.pipeline.max_parallel_synthesis = 1;  // in the order of the partitions
  hooks[0]->start_gate.close();
  start_and_wait();
  JobRequest request = toy_request(ProofKind::kPorep, "seen", {1, 2, 3, 4, 5, 6});
  request.sector_number = 42;
  request.miner_id = 1000;
  engine->submit(request);
  hooks[0]->start_gate.await_waiting(1);
  wait_until(
      [&] {
        const JobStatus seen = job_status("seen");
        return seen.partitions.at(2).state == PartitionStatus::State::kWitnessDone &&
               seen.waiting_for != "";
      },
      "two witnesses wait, and the rest for their place");
  const Status status = engine->status();
  ASSERT_EQ(status.jobs.size(), 1U);
  const JobStatus& job = status.jobs[0];
  EXPECT_EQ(job.state, JobState::kRunning);
  EXPECT_EQ(job.circuit_id, "porep-2k");
  EXPECT_EQ(job.sector_number, 42U);
  EXPECT_EQ(job.miner_id, 1000U);
  EXPECT_EQ(job.partitions.size(), 6U);
  EXPECT_EQ(job.partitions[0].state, PartitionStatus::State::kDevice);
  EXPECT_EQ(job.partitions[0].device, "fake:0");
  EXPECT_GT(job.partitions[0].device_ms, 0);
  EXPECT_EQ(job.partitions[5].state, PartitionStatus::State::kPending);
  EXPECT_EQ(status.queue_depth, 5U) << "two witnesses and three untouched";
  ASSERT_EQ(status.devices.size(), 1U);
  EXPECT_EQ(status.devices[0].workers[0].job_id, "seen");
  EXPECT_EQ(status.devices[0].workers[0].partition, 0U);
  EXPECT_EQ(status.counters.kinds.at(ProofKind::kPorep).in_progress, 1U);
  EXPECT_GT(status.host.used, 0U);
  EXPECT_EQ(status.host.total, 1'000'000U);
  hooks[0]->start_gate.open();
  await("seen");
  EXPECT_EQ(engine->status().queue_depth, 0U);
  EXPECT_EQ(engine->status().devices[0].proofs, 6U);
  EXPECT_EQ(job_status("seen").state, JobState::kCompleted);
}

TEST_F(EngineTest, TheTraceIsChromes) {
  start_and_wait();
  prove(toy_request(ProofKind::kPorep, "job \"1\"\n", {1, 2}));
  const nlohmann::json trace = nlohmann::json::parse(engine->trace_json());
  std::multiset<std::string> stages;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    stages.insert(event.at("name"));
    EXPECT_EQ(event.at("args").at("job"), "job \"1\"\n");
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_GE(event.at("ts").get<double>(), 0);
    if (event.at("name") == "device") {
      EXPECT_EQ(event.at("args").at("device"), "fake:0");
    }
  }
  for (const char* stage : {"witness", "device", "msm_h", "assemble", "verify"})
    EXPECT_EQ(stages.count(stage), 2U) << stage;
}

TEST_F(EngineTest, DrainEndsRunningJobsAndKeepsTheRest) {
  journal_path();
  hooks[0]->start_gate.close();
  start_and_wait();
  // So many partitions that the other job does not begin.
  engine->submit(toy_request(ProofKind::kPorep, "running", {1, 2, 3, 4, 5, 6}));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kPorep, "queued", {7}));
  auto waiter = std::async(std::launch::async, [&] {
    try {
      engine->await("queued", 0ms);
    } catch (const EngineError& error) {
      return error.code();
    }
    return ErrorCode::kNone;
  });
  auto drained = std::async(std::launch::async, [&] { engine->drain(60s); });
  wait_until([&] { return engine->status().draining; }, "draining");
  EXPECT_FALSE(engine->ready());
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "late", {5})), ErrorCode::kShuttingDown);
  hooks[0]->start_gate.open();
  drained.get();
  expect_proofs(await("running"), {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(waiter.get(), ErrorCode::kShuttingDown);
  EXPECT_THAT(hooks[0]->started(), UnorderedElementsAre(1, 2, 3, 4, 5, 6));
  engine.reset();
  start_and_wait();
  expect_proofs(await("queued"), {7});
}

TEST_F(EngineTest, DrainGivesUpAtItsLimit) {
  hooks[0]->delay_us = 200'000;
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "long", std::vector<std::uint64_t>(50, 1)));
  hooks[0]->start_gate.await_waiting(0);
  const auto begin = std::chrono::steady_clock::now();
  engine->drain(100ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_FALSE(is_final(job_status("long").state));
}

}  // namespace
}  // namespace cuzk::engine
