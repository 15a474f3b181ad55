#include "engine/lifecycle.hpp"

#include "base/error.hpp"
#include "engine/testing/full_disk.hpp"
#include "engine/testing/toy_engine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>

namespace cuzk::engine {
namespace {

using testing::FullDisk;
using testing::toy_request;

class LifecycleTest : public ::testing::Test {
 protected:
  LifecycleTest()
      : folder(std::filesystem::temp_directory_path() /
               ("cuzk-lifecycle-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
    journal = std::make_unique<Journal>(folder / "journal.sqlite", Journal::Options{});
    lifecycle =
        std::make_unique<Lifecycle>(table, *journal, metrics, changed, Lifecycle::Options{});
  }
  ~LifecycleTest() override {
    journal.reset();
    std::filesystem::remove_all(folder);
  }

  std::shared_ptr<Job> accept(const std::string& id) {
    const JobRequest request = toy_request(ProofKind::kSnap, id, {1});
    return lifecycle->accept(request, {.id = id,
                                       .digest = payload_digest(request),
                                       .circuit = CircuitId::parse("snap-2k"),
                                       .prepared = {},
                                       .memory = {}});
  }

  std::filesystem::path folder;
  Signal changed;
  Metrics metrics;
  JobTable table{JobTable::Retention{}};
  std::unique_ptr<Journal> journal;
  std::unique_ptr<Lifecycle> lifecycle;
};

TEST_F(LifecycleTest, ResultsThatAFullDiskDidNotTakeAreWrittenLater) {
  const auto job = accept("a");
  {
    const FullDisk full;
    EXPECT_TRUE(lifecycle->fail(job, ErrorCode::kGpuFault, "because"));
    lifecycle->journal_results();
  }
  EXPECT_EQ(job->result.code, ErrorCode::kGpuFault) << "whoever waits is told";
  EXPECT_EQ(journal->unfinished().size(), 1U);
  lifecycle->journal_results();
  EXPECT_TRUE(journal->unfinished().empty());
  EXPECT_EQ(journal->find_job("a")->result.code, ErrorCode::kGpuFault);
  lifecycle->journal_results();
}

TEST_F(LifecycleTest, AResumedJobKeepsItsAge) {
  Journal::UnfinishedJob unfinished;
  unfinished.job_id = "old";
  unfinished.request = toy_request(ProofKind::kWinningPost, "old", {1});
  unfinished.accepted = std::chrono::system_clock::now() - std::chrono::seconds(10);
  const CircuitId circuit = CircuitId::parse("winning-2k");
  const Clock::time_point before = Clock::now();
  const auto old = lifecycle->resume(unfinished, circuit);
  EXPECT_LE(old->accepted, Clock::now() - std::chrono::seconds(10));
  EXPECT_GT(old->accepted, before - std::chrono::seconds(15));
  EXPECT_EQ(old->deadline, old->accepted + std::chrono::seconds(30));
  EXPECT_GE(old->last_progress, before);

  unfinished.job_id = "of-tomorrow";
  unfinished.accepted = std::chrono::system_clock::now() + std::chrono::hours(24);
  const auto of_tomorrow = lifecycle->resume(unfinished, circuit);
  EXPECT_GE(of_tomorrow->accepted, before);
  EXPECT_LE(of_tomorrow->accepted, Clock::now());
}

TEST_F(LifecycleTest, AnIdWhoseResultIsNotWrittenYetMayBeUsedAgain) {
  const auto job = accept("a");
  {
    const FullDisk full;
    lifecycle->fail(job, ErrorCode::kGpuFault, "because");
    EXPECT_THROW(accept("a"), base::ResourceExhausted);
  }
  EXPECT_EQ(accept("a")->id, "a");
  EXPECT_EQ(journal->find_job("a")->result.code, ErrorCode::kGpuFault);
  EXPECT_EQ(journal->unfinished().size(), 1U);
}

}  // namespace
}  // namespace cuzk::engine
