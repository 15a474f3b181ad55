#include "engine/job_table.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using enum PartitionState;

constexpr PartitionState kAll[] = {kPending, kWitness, kWitnessDone, kDevice,
                                   kVerify,  kDone,    kFailed};

TEST(PartitionStates, OnlyTheWayForwardBackAndOut) {
  for (const PartitionState from : kAll) {
    for (const PartitionState to : kAll) {
      const bool unfinished = from < kDone;
      const bool next = to <= kDone && static_cast<int>(to) == static_cast<int>(from) + 1;
      const bool again = to == kPending && from != kPending;
      const bool expected = unfinished && (next || again || to == kFailed);
      EXPECT_EQ(is_transition(from, to), expected) << to_string(from) << " " << to_string(to);
      Partition partition;
      partition.state = from;
      if (expected) {
        partition.enter(to, Clock::now());
        EXPECT_EQ(partition.state, to);
      } else {
        EXPECT_THROW(partition.enter(to, Clock::now()), std::logic_error);
      }
    }
  }
}

class JobTableTest : public ::testing::Test {
 protected:
  std::shared_ptr<Job> add(std::string id, Priority priority,
                           Clock::time_point deadline = Clock::time_point::max()) {
    auto job = std::make_shared<Job>(CircuitId::parse("porep-2k"));
    job->id = std::move(id);
    job->request_id = "request-" + job->id;
    job->priority = priority;
    job->deadline = deadline;
    const JobTable::Lock lock = table.lock();
    table.set_partitions(lock, *job, std::vector<Partition>(2));
    table.add(lock, job);
    return job;
  }
  std::string order() {
    std::string out;
    table.for_each_in_order(table.lock(), [&](const std::shared_ptr<Job>& job) {
      out += job->id;
      return true;
    });
    return out;
  }
  void end(const std::shared_ptr<Job>& job) {
    ASSERT_TRUE(table.begin_end(table.lock(), job));
    JobResult result;
    result.state = JobState::kCompleted;
    table.end(table.lock(), job, result);
  }

  JobTable table{{.keep = std::chrono::hours(1), .count = 3}};
};

TEST_F(JobTableTest, OrdersByPriorityDeadlineAndAge) {
  add("a", Priority::kNormal);
  add("b", Priority::kLow);
  add("c", Priority::kHigh);
  add("d", Priority::kNormal);
  add("e", Priority::kHigh, Clock::now() + 1h);
  add("f", Priority::kHigh, Clock::now() + 1min);
  const auto g = add("g", Priority::kCritical);
  EXPECT_EQ(order(), "gfecadb");
  EXPECT_EQ(table.position(table.lock(), *g), 0U);
  EXPECT_EQ(table.unfinished(table.lock()), 7U);
}

TEST_F(JobTableTest, VisitingStopsWhenTold) {
  add("a", Priority::kNormal);
  add("b", Priority::kNormal);
  int visits = 0;
  table.for_each_in_order(table.lock(), [&](const auto&) { return ++visits < 1; });
  EXPECT_EQ(visits, 1);
}

TEST_F(JobTableTest, AJobIsOvertakenOnlySoOften) {
  const auto a = add("a", Priority::kNormal);
  const auto l = add("l", Priority::kLow);
  const auto b = add("b", Priority::kHigh);
  for (unsigned i = 0; i < JobTable::kOvertakenLimit; ++i) {
    EXPECT_EQ(order(), "bal") << i;
    table.count_overtaking(table.lock(), b);
  }
  EXPECT_EQ(order(), "abl") << "now it goes first";
  const auto c = add("c", Priority::kCritical);
  EXPECT_EQ(order(), "cabl") << "but not before critical ones";
  table.count_overtaking(table.lock(), a);
  EXPECT_EQ(order(), "cbal") << "once";
  EXPECT_EQ(l->overtaken, 0U) << "low priority waits until nothing else does";
  // Older ones of its own priority do not overtake, nor does it count what has no work waiting.
  for (Partition& partition : a->partitions) {
    for (const PartitionState state : {kWitness, kWitnessDone, kDevice})
      table.enter(table.lock(), a, partition, state);
  }
  table.count_overtaking(table.lock(), b);
  EXPECT_EQ(a->overtaken, 0U);
}

TEST_F(JobTableTest, CountsPartitionsByStateAndLane) {
  const auto a = add("a", Priority::kNormal);
  const auto b = add("b", Priority::kNormal);
  const auto count = [&](PartitionState state) { return table.count(table.lock(), state); };
  EXPECT_EQ(count(kPending), 4U);
  table.enter(table.lock(), a, a->partitions[0], kWitness);
  EXPECT_EQ(a->state, JobState::kRunning);
  EXPECT_EQ(b->state, JobState::kQueued);
  EXPECT_EQ(count(kPending), 3U);
  EXPECT_EQ(count(kWitness), 1U);
  EXPECT_EQ(table.count(table.lock(), kWitness, Lane::kUrgent), 0U);
  EXPECT_EQ(a->count(kPending), 1U);
  int running = 0;
  table.for_each_running(table.lock(), [&](const auto& job) {
    EXPECT_EQ(job, a);
    return ++running != 0;
  });
  EXPECT_EQ(running, 1);
  EXPECT_THROW(table.enter(table.lock(), a, a->partitions[0], kDone), std::logic_error);
  EXPECT_EQ(count(kWitness), 1U) << "what is refused changes nothing";
  end(a);
  EXPECT_EQ(count(kPending), 2U);
  EXPECT_EQ(count(kWitness), 0U);
}

TEST_F(JobTableTest, FindsByJobAndRequest) {
  const auto a = add("a", Priority::kNormal);
  auto again = std::make_shared<Job>(CircuitId::parse("porep-2k"));
  again->id = "a2";
  again->request_id = a->request_id;
  table.add(table.lock(), again);
  EXPECT_EQ(table.find(table.lock(), "a"), a);
  EXPECT_EQ(table.find(table.lock(), "request-a"), nullptr) << "an id may be another's request id";
  EXPECT_EQ(table.find_request(table.lock(), "request-a"), again) << "the latest";
  EXPECT_EQ(table.find(table.lock(), "b"), nullptr);
  EXPECT_EQ(table.find(table.lock(), "a2"), again);
  EXPECT_TRUE(table.precedes(table.lock(), a, again));
  EXPECT_FALSE(table.precedes(table.lock(), again, a));
}

TEST_F(JobTableTest, AJobEndsOnceAndIsForgottenInTime) {
  std::vector<std::shared_ptr<Job>> jobs;
  for (const char* id : {"a", "b", "c", "d", "e"}) jobs.push_back(add(id, Priority::kNormal));
  ASSERT_TRUE(table.begin_end(table.lock(), jobs[0]));
  EXPECT_FALSE(table.begin_end(table.lock(), jobs[0]));
  EXPECT_EQ(order(), "bcde");
  EXPECT_EQ(table.snapshot(table.lock(), 0).size(), 5U) << "it is still shown";
  table.end(table.lock(), jobs[0], {});
  for (int i = 1; i < 5; ++i) end(jobs[i]);
  EXPECT_EQ(order(), "");
  EXPECT_EQ(table.find(table.lock(), "a"), nullptr) << "three are kept";
  EXPECT_EQ(table.find(table.lock(), "request-b"), nullptr);
  EXPECT_EQ(table.find(table.lock(), "c"), jobs[2]);
  const auto shown = table.snapshot(table.lock(), 2);
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0].job_id, "e");
  EXPECT_EQ(shown[1].job_id, "d");
  table.set_retention(table.lock(), {.keep = std::chrono::hours(0), .count = 3});
  end(add("f", Priority::kNormal));
  EXPECT_EQ(table.find(table.lock(), "e"), nullptr);
}

TEST(WaitReasons, SayWhatIsMissing) {
  const CircuitId circuit = CircuitId::parse("porep-32g");
  using Kind = WaitReason::Kind;
  EXPECT_EQ((WaitReason{Kind::kNone, 0, 0}.to_string(circuit)), "");
  EXPECT_EQ((WaitReason{Kind::kHostMemory, std::uint64_t{3} << 30, 512 << 20}.to_string(circuit)),
            "host memory: needs 3.0 GiB, 512.0 MiB free");
  EXPECT_EQ((WaitReason{Kind::kKeyLoading, 0, 0}.to_string(circuit)), "key porep-32g is loading");
  EXPECT_EQ((WaitReason{Kind::kKeyCheck, 0, 0}.to_string(circuit)),
            "the check of the files of porep-32g");
}

}  // namespace
}  // namespace cuzk::engine
