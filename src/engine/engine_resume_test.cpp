#include "base/error.hpp"
#include "engine/sqlite.hpp"
#include "engine/testing/full_disk.hpp"
#include "engine/testing/toy_engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

// What survives the process.
namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::toy_request;

class EngineResumeTest : public testing::ToyEngine {
 protected:
  EngineResumeTest() { journal_path(); }

  /// The process dies: what it had on disk is all that is left.
  void kill_and_restart(const std::function<void()>& before_restart = {}) {
    const auto saved = folder / "saved";
    std::filesystem::create_directories(saved);
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.is_regular_file())
        std::filesystem::copy_file(file.path(), saved / file.path().filename(),
                                   std::filesystem::copy_options::overwrite_existing);
    }
    for (const auto& hook : hooks) hook->start_gate.open();
    host_gate.open();
    engine.reset();
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.is_regular_file()) std::filesystem::remove(file.path());
    }
    for (const auto& file : std::filesystem::directory_iterator(saved))
      std::filesystem::rename(file.path(), folder / file.path().filename());
    for (auto& hook : hooks) hook = std::make_shared<testing::FakeHooks>();
    if (before_restart) before_restart();
    start_and_wait();
  }

  std::int64_t in_journal(std::string_view count) {
    sqlite::Database reader(journal_path());
    return reader.integer(count);
  }
  /// Waits until the journal has so many jobs marked as worked on.
  void await_marked(std::int64_t jobs) {
    wait_until([&] { return in_journal("SELECT count(*) FROM job WHERE started") == jobs; },
               std::to_string(jobs) + " marked jobs");
  }

  testing::Gate host_gate;  ///< for tests whose on_witness or on_decode passes it
};

TEST_F(EngineResumeTest, FinishedPartitionsAreKept) {
  config.pipeline.max_parallel_synthesis = 1;  // in the order of the partitions
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1, 2, 3, 4, 5}));
  hooks[0]->start_gate.let_through(3);
  wait_until(
      [&] {
        return std::ranges::count(job_status("a").partitions, PartitionStatus::State::kDone,
                                  &PartitionStatus::state) == 3;
      },
      "three partitions");
  hooks[0]->start_gate.await_waiting(1);
  kill_and_restart();
  expect_proofs(await("a"), {1, 2, 3, 4, 5});
  EXPECT_EQ(hooks[0]->started(), (std::vector<std::uint64_t>{4, 5}));
}

TEST_F(EngineResumeTest, JobsOfALostDeviceAreKeptForTheNextProcess) {
  hooks[0]->fault = [](std::uint64_t root, unsigned) {
    return root == 2 ? testing::Fault::kLost : testing::Fault::kNone;
  };
  config.pipeline.max_parallel_synthesis = 1;  // in the order of the partitions
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1, 2, 3}));
  engine->submit(toy_request(ProofKind::kSnap, "b", {4}));
  wait_until([&] { return !engine->status().restart_because.empty(); }, "a restart is wanted");
  EXPECT_EQ(hooks[0]->loaded_now, 0U);
  EXPECT_EQ(hooks[0]->resets, 1U);
  engine->stop_now();
  EXPECT_EQ(in_journal("SELECT count(*) FROM job WHERE started"), 1)
      << "what was on the device may be what it was lost by";
  kill_and_restart();
  expect_proofs(await("a"), {1, 2, 3});
  expect_proofs(await("b"), {4});
  EXPECT_THAT(hooks[0]->started(), ::testing::Not(::testing::Contains(1U))) << "proved before";
}

// As one that ends the process.
TEST_F(EngineResumeTest, AJobByWhichDevicesAreLostIsRefused) {
  const auto lose = [this] {
    hooks[0]->fault = [](std::uint64_t, unsigned) { return testing::Fault::kLost; };
  };
  const auto await_loss = [this] {
    wait_until([&] { return !engine->status().restart_because.empty(); }, "a restart is wanted");
  };
  lose();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {2}));
  await_loss();
  kill_and_restart([&] {
    lose();
    hooks[0]->start_gate.close();  // until it was ready
  });
  hooks[0]->start_gate.open();
  await_loss();
  kill_and_restart();
  EXPECT_EQ(await("a").code, ErrorCode::kRefused);
  expect_proofs(prove(toy_request(ProofKind::kPorep, "b", {3})), {3});
}

TEST_F(EngineResumeTest, StopNowKeepsEverything) {
  hooks[0]->start_gate.close();
  start_and_wait();
  for (std::uint64_t i = 0; i < 10; ++i)
    engine->submit(toy_request(ProofKind::kSnap, std::to_string(i), {i, i + 1}));
  hooks[0]->start_gate.let_through(7);
  wait_until([&] { return engine->status().devices[0].proofs == 7; }, "seven partitions");
  hooks[0]->start_gate.open();
  engine->stop_now();
  EXPECT_EQ(refusal(toy_request(ProofKind::kSnap, "late", {1})), ErrorCode::kShuttingDown);
  engine.reset();
  const auto started = hooks[0]->started().size();
  start_and_wait();
  for (std::uint64_t i = 0; i < 10; ++i) expect_proofs(await(std::to_string(i)), {i, i + 1});
  EXPECT_LE(hooks[0]->started().size(), 21U) << "at most the one in hand again";
  EXPECT_GT(hooks[0]->started().size(), started);
}

TEST_F(EngineResumeTest, ResultsAreReplayedAfterTheRestart) {
  start_and_wait();
  const JobRequest request = toy_request(ProofKind::kPorep, "done", {1, 2});
  const JobResult first = prove(request);
  kill_and_restart();
  const auto again = engine->submit(request);
  EXPECT_TRUE(again.joined);
  const JobResult second = await(again.job_id);
  EXPECT_EQ(second.proof, first.proof);
  EXPECT_TRUE(hooks[0]->started().empty());
  EXPECT_EQ(engine->status().counters.replayed, 1U);
  EXPECT_FALSE(engine->cancel("done")) << "known, and over";
}

TEST_F(EngineResumeTest, ResultsThatAFullDiskDidNotTakeAreWrittenOnceItDoes) {
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "done", {1}));
  engine->submit(toy_request(ProofKind::kPorep, "dropped", {2}));
  hooks[0]->start_gate.await_waiting(1);
  {
    const testing::FullDisk full;
    EXPECT_TRUE(engine->cancel("dropped"));
    hooks[0]->start_gate.open();
    expect_proofs(await("done"), {1});
    EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "new", {3})), ErrorCode::kQueueFull);
  }
  wait_until([&] { return in_journal("SELECT count(*) FROM job WHERE finished_ms IS NULL") == 0; },
             "the results are in the journal");
  kill_and_restart();
  expect_proofs(await("done"), {1});
  EXPECT_EQ(await("dropped").code, ErrorCode::kCancelled);
  EXPECT_TRUE(hooks[0]->started().empty());
}

TEST_F(EngineResumeTest, ResultsThatAFullDiskDidNotTakeAreWrittenAtTheStop) {
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "done", {1}));
  hooks[0]->start_gate.await_waiting(1);
  {
    const testing::FullDisk full;
    hooks[0]->start_gate.open();
    expect_proofs(await("done"), {1});
  }
  engine->stop_now();
  EXPECT_EQ(in_journal("SELECT count(*) FROM job WHERE finished_ms IS NULL"), 0);
}

TEST_F(EngineResumeTest, ClientsFindTheirJobAgain) {
  hooks[0]->start_gate.close();
  start_and_wait();
  const JobRequest request = toy_request(ProofKind::kPorep, "mine", {1});
  engine->submit(request);
  hooks[0]->start_gate.await_waiting(1);
  kill_and_restart([&] { hooks[0]->start_gate.close(); });
  const auto again = engine->submit(request);
  EXPECT_TRUE(again.joined);
  EXPECT_EQ(again.job_id, "mine");
  hooks[0]->start_gate.open();
  expect_proofs(await("mine"), {1});
}

TEST_F(EngineResumeTest, AnInputThatKillsTwiceIsRefused) {
  hooks[0]->start_gate.close();
  start_and_wait();
  const JobRequest killer = toy_request(ProofKind::kSnap, "killer", {6});
  engine->submit(killer);
  hooks[0]->start_gate.await_waiting(1);
  kill_and_restart([&] { hooks[0]->start_gate.close(); });
  hooks[0]->start_gate.await_waiting(1);
  EXPECT_FALSE(is_final(job_status("killer").state)) << "once may be chance";
  kill_and_restart();
  EXPECT_EQ(await("killer").code, ErrorCode::kRefused);
  std::string text;
  EXPECT_EQ(refusal(killer, &text), ErrorCode::kRefused);
  EXPECT_THAT(text, HasSubstr("died twice while it worked on this input"));
  EXPECT_TRUE(hooks[0]->started().empty());
  expect_proofs(prove(toy_request(ProofKind::kSnap, "other", {7})), {7});
}

TEST_F(EngineResumeTest, WaitingJobsAreNotBlamedForACrash) {
  config.pipeline.max_parallel_synthesis = 1;  // in the order of the jobs
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "killer", {1}));
  hooks[0]->start_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kPorep, "waits", {2}));
  const auto await_witness = [&] {
    wait_until(
        [&] {
          const JobStatus job = job_status("waits");
          return !job.partitions.empty() &&
                 job.partitions[0].state == PartitionStatus::State::kWitnessDone;
        },
        "the witness of the job that waits");
    await_marked(1);
  };
  await_witness();
  kill_and_restart([&] { hooks[0]->start_gate.close(); });
  hooks[0]->start_gate.await_waiting(1);
  EXPECT_EQ(hooks[0]->started(), (std::vector<std::uint64_t>{1}));
  await_witness();
  kill_and_restart();
  EXPECT_EQ(await("killer").code, ErrorCode::kRefused);
  expect_proofs(await("waits"), {2});
}

TEST_F(EngineResumeTest, AnInputThatKillsTwiceInItsWitnessIsRefused) {
  config.pipeline.max_parallel_synthesis = 1;  // one job at a time
  *on_witness = [&](std::uint64_t root) {
    if (root == 6) host_gate.pass();
  };
  host_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kSnap, "killer", {6}));
  host_gate.await_waiting(1);
  engine->submit(toy_request(ProofKind::kSnap, "waits", {7}));
  kill_and_restart([&] { host_gate.close(); });
  host_gate.await_waiting(1);
  EXPECT_FALSE(is_final(job_status("killer").state)) << "once may be chance";
  kill_and_restart();
  EXPECT_EQ(await("killer").code, ErrorCode::kRefused);
  expect_proofs(await("waits"), {7});
}

TEST_F(EngineResumeTest, AnInputThatKillsTwiceWhenDecodedIsRefused) {
  config.pipeline.max_parallel_synthesis = 1;  // one job at a time
  {
    const auto written = journal();
    const JobRequest killer = toy_request(ProofKind::kSnap, "killer", {6});
    written->add("killer", killer, payload_digest(killer));
  }
  *on_decode = [&](const JobRequest& request) {
    if (request.request_id == "killer") host_gate.pass();
  };
  host_gate.close();
  start_and_wait();
  host_gate.await_waiting(1);
  kill_and_restart([&] { host_gate.close(); });
  host_gate.await_waiting(1);
  kill_and_restart();
  EXPECT_EQ(await("killer").code, ErrorCode::kRefused);
}

TEST_F(EngineResumeTest, JobsOfCircuitsThatAreGoneFailByName) {
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "a", {1, 2}));
  hooks[0]->start_gate.await_waiting(1);
  kill_and_restart([&] {
    hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) -> ProvingDevice::Needs {
      if (circuit.kind == filecoin::CircuitKind::kPorep)
        throw base::InvalidInput("porep.params: there is no such file");
      return {10, 10, 10};
    };
  });
  const JobResult result = await("a");
  EXPECT_EQ(result.code, ErrorCode::kParamsMissing);
  EXPECT_THAT(result.error, HasSubstr("no such file"));
}

TEST_F(EngineResumeTest, TheTimeBeforeTheRestartCounts) {
  {
    const auto written = journal();
    const JobRequest request = toy_request(ProofKind::kWindowPost, "a", {1});
    written->add("a", request, payload_digest(request));
  }
  {
    sqlite::Database database(journal_path());
    database.run("UPDATE job SET accepted_ms = accepted_ms - 60000", {});
  }
  start_and_wait();
  const JobResult result = await("a");
  EXPECT_GE(result.timings.total, 60s);
  EXPECT_GE(result.timings.queue_wait, 50s);
}

// The process dies after it has taken a request's new content, before it drops the old job.
TEST_F(EngineResumeTest, OfOneRequestTheNewestContentIsResumed) {
  {
    const auto written = journal();
    const auto add = [&](const std::string& id, const JobRequest& request) {
      written->add(id, request, payload_digest(request));
    };
    add("a", toy_request(ProofKind::kPorep, "a", {1}));
    add("b", toy_request(ProofKind::kPorep, "b", {5}));
    add("a~1", toy_request(ProofKind::kPorep, "a", {2}));
    add("a~2", toy_request(ProofKind::kPorep, "a", {3}));
    add("unnamed1", toy_request(ProofKind::kPorep, "", {6}));
    add("unnamed2", toy_request(ProofKind::kPorep, "", {7}));
  }
  start_and_wait();
  expect_proofs(await("a~2"), {3});
  expect_proofs(await("b"), {5});
  expect_proofs(await("unnamed1"), {6});
  expect_proofs(await("unnamed2"), {7});
  EXPECT_EQ(engine->status().counters.superseded, 2U);
  engine.reset();
  const auto written = journal();
  for (const char* id : {"a", "a~1"}) {
    const auto old = written->find_job(id);
    ASSERT_TRUE(old);
    EXPECT_EQ(old->result.state, JobState::kCancelled);
    EXPECT_EQ(old->result.code, ErrorCode::kSuperseded);
  }
  EXPECT_EQ(hooks[0]->started().size(), 4U);
}

TEST_F(EngineResumeTest, JobsWhosePayloadTheDiskHasChangedFailByName) {
  hooks[0]->start_gate.close();
  start_and_wait();
  engine->submit(toy_request(ProofKind::kPorep, "changed", {1, 2}));
  engine->submit(toy_request(ProofKind::kPorep, "whole", {3}));
  kill_and_restart([&] {
    sqlite::Database database(journal_path());
    database.run(
        "UPDATE payload SET bytes = zeroblob(length(bytes))"
        " WHERE job = (SELECT row FROM job WHERE job_id = 'changed')",
        {});
  });
  const JobResult result = await("changed");
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_EQ(result.code, ErrorCode::kInternal);
  EXPECT_THAT(result.error, HasSubstr("INTERNAL: changed: its payload was damaged on disk"));
  expect_proofs(await("whole"), {3});
}

TEST_F(EngineResumeTest, PayloadsBeyondTheirShareAreDecodedAgain) {
  // 16 bytes are kept decoded: two partitions.
  config.memory.total_budget.bytes = 16 * 16;
  hooks[0]->needs = [](const ProvingDevice::Circuit&) { return ProvingDevice::Needs{10, 10, 10}; };
  hooks[0]->start_gate.close();
  start_and_wait();
  for (std::uint64_t i = 0; i < 8; ++i)
    engine->submit(toy_request(ProofKind::kPorep, std::to_string(i), {i, i + 1}));
  EXPECT_LE(engine->status().host.used, 256U);
  hooks[0]->start_gate.open();
  for (std::uint64_t i = 0; i < 8; ++i) expect_proofs(await(std::to_string(i)), {i, i + 1});
}

}  // namespace
}  // namespace cuzk::engine
