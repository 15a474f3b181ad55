#include "groth16/cuda/pass_queue.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::groth16::cuda {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PassQueueTest : public ::testing::Test {
 protected:
  void arrive(PassQueue& queue, std::size_t place, std::uint64_t job, bool urgent = false) {
    queue.announce(now);
    queue.add({place, job, urgent, now});
  }

  PassQueue::Clock::time_point now = PassQueue::Clock::time_point() + seconds(1000);
};

TEST_F(PassQueueTest, AFullPassBeginsAtOnce) {
  PassQueue queue({.places = 3, .jobs = 1, .wait = seconds(10)});
  arrive(queue, 0, 7);
  arrive(queue, 2, 7);
  EXPECT_FALSE(queue.is_due(now));
  arrive(queue, 1, 7);
  EXPECT_THAT(queue.take(now), ElementsAre(0, 2, 1));
  EXPECT_FALSE(queue.is_due(now + seconds(100)));
}

TEST_F(PassQueueTest, WithOneJobAPassNothingWaitsForOthers) {
  PassQueue queue({.places = 10, .jobs = 1, .wait = seconds(10)});
  arrive(queue, 0, 7);
  EXPECT_THAT(queue.take(now + PassQueue::kMoment - milliseconds(1)), IsEmpty());
  EXPECT_THAT(queue.take(now + PassQueue::kMoment), ElementsAre(0));
}

TEST_F(PassQueueTest, APassWaitsForWhatIsBeingStarted) {
  PassQueue queue({.places = 10, .jobs = 1, .wait = seconds(0)});
  arrive(queue, 0, 7);
  queue.announce(now);
  EXPECT_FALSE(queue.is_due(now + seconds(100)));
  queue.give_up();
  EXPECT_TRUE(queue.is_due(now + seconds(100)));
  queue.announce(now + seconds(100));
  now += seconds(101);
  queue.add({1, 7, false, now});
  EXPECT_FALSE(queue.is_due(now));
  EXPECT_THAT(queue.take(now + PassQueue::kMoment), ElementsAre(0, 1));
}

TEST_F(PassQueueTest, OtherJobsAreWaitedForAsLongAsAllowed) {
  PassQueue queue({.places = 10, .jobs = 2, .wait = seconds(10)});
  arrive(queue, 0, 7);
  EXPECT_FALSE(queue.is_due(now + milliseconds(9999)));
  EXPECT_TRUE(queue.is_due(now + seconds(10)));
  // Once no other may join, waiting has no more purpose.
  now += seconds(5);
  arrive(queue, 1, 8);
  EXPECT_THAT(queue.take(now + PassQueue::kMoment), ElementsAre(0, 1));
}

TEST_F(PassQueueTest, JobsBeyondTheLimitHaveThePassAfter) {
  PassQueue queue({.places = 10, .jobs = 2, .wait = seconds(10)});
  arrive(queue, 0, 7);
  arrive(queue, 1, 8);
  arrive(queue, 2, 9);
  arrive(queue, 3, 7);
  now += seconds(1);
  EXPECT_THAT(queue.take(now), ElementsAre(0, 1, 3));
  EXPECT_FALSE(queue.is_due(now));
  EXPECT_THAT(queue.take(now + seconds(10)), ElementsAre(2));
}

TEST_F(PassQueueTest, WhenAllPlacesAreTakenNobodyElseCanCome) {
  PassQueue queue({.places = 2, .jobs = 1, .wait = seconds(10)});
  arrive(queue, 0, 7);
  arrive(queue, 1, 8);
  EXPECT_THAT(queue.take(now), ElementsAre(0));
}

TEST_F(PassQueueTest, TheUrgentWaitForNobody) {
  PassQueue queue({.places = 10, .jobs = 4, .wait = seconds(10)});
  arrive(queue, 0, 7);
  EXPECT_FALSE(queue.is_due(now));
  arrive(queue, 1, 8, true);
  EXPECT_THAT(queue.take(now), ElementsAre(0, 1));
}

TEST_F(PassQueueTest, WhoLeavesIsNotWaitedFor) {
  PassQueue queue({.places = 10, .jobs = 1, .wait = seconds(0)});
  arrive(queue, 0, 7);
  queue.remove(0);
  EXPECT_FALSE(queue.is_due(now + seconds(100)));
  EXPECT_THROW(PassQueue({.places = 0}), base::InvalidInput);
  EXPECT_THROW(PassQueue({.places = 1, .jobs = 0}), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda
