#include "engine/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>

namespace cuzk::engine {
namespace {

using base::Bytes;

JobRequest window_request() {
  JobRequest request;
  request.kind = ProofKind::kWindowPost;
  request.sector_size = 34'359'738'368;
  request.registered_proof = 13;
  request.vanilla_proofs = {{1, 2}, {3}};
  request.sector_number = 42;
  request.miner_id = 1000;
  request.randomness.resize(32);
  std::iota(request.randomness.begin(), request.randomness.end(), std::uint8_t{0});
  request.partition_index = 1;
  return request;
}

// The digests are those of Python's hashlib over the serialisation of the header: the text
// "cuzk.v1 job", then every field in the order of JobRequest; numbers as eight bytes little-endian,
// byte strings and lists after their count.
TEST(PayloadDigest, IsTheOneComputedElsewhere) {
  EXPECT_EQ(payload_digest(JobRequest{}),
            "b7a9dce74b729f8b0e4ff930b027b7ea5773394283daea14e14c704d7b05e9a2");
  EXPECT_EQ(payload_digest(window_request()),
            "79d52be7d32b88f0314b2ae0f3de4daed247f3ee31f3fc5a15f1a8936704c688");
  JobRequest snap;
  snap.kind = ProofKind::kSnap;
  snap.sector_size = 2048;
  snap.vanilla_proofs = {{'a', 'b', 'c'}};
  snap.sector_number = 7;
  snap.miner_id = UINT64_MAX;
  snap.comm_r_old.assign(32, 0xaa);
  snap.comm_r_new.assign(32, 0xbb);
  snap.comm_d_new.assign(32, 0xcc);
  EXPECT_EQ(payload_digest(snap),
            "f14b486d960c5615196007cec3bb77edaf84f79daaecadd28387505a7f017ceb");
}

TEST(PayloadDigest, LeavesOutIdAndPriorityAlone) {
  JobRequest request = window_request();
  const std::string digest = payload_digest(request);
  request.request_id = "wdpost-1000-0-[1 2]";
  request.priority = Priority::kLow;
  EXPECT_EQ(payload_digest(request), digest);
}

TEST(PayloadDigest, EveryOtherFieldChangesIt) {
  const std::vector<std::function<void(JobRequest&)>> changes = {
      [](JobRequest&) {},
      [](JobRequest& r) { r.kind = ProofKind::kWinningPost; },
      [](JobRequest& r) { r.sector_size = 0; },
      [](JobRequest& r) { ++r.registered_proof; },
      [](JobRequest& r) { r.vanilla_proof = {1}; },
      [](JobRequest& r) {
        r.vanilla_proofs = {{1}, {2, 3}};
      },  // the same bytes, cut elsewhere
      [](JobRequest& r) {
        r.vanilla_proofs = {{1, 2, 3}};
      },
      [](JobRequest& r) { r.vanilla_proofs.push_back({}); },
      [](JobRequest& r) { ++r.sector_number; },
      [](JobRequest& r) { ++r.miner_id; },
      [](JobRequest& r) { r.randomness[31] ^= 1; },
      [](JobRequest& r) { ++r.partition_index; },
      [](JobRequest& r) { r.comm_r_old = {9}; },
      [](JobRequest& r) { r.comm_r_new = {9}; },
      [](JobRequest& r) { r.comm_d_new = {9}; },
  };
  std::set<std::string> digests;
  for (const auto& change : changes) {
    JobRequest request = window_request();
    change(request);
    digests.insert(payload_digest(request));
  }
  EXPECT_EQ(digests.size(), changes.size());
}

TEST(JobPriority, DefaultsFollowTheKind) {
  EXPECT_EQ(effective_priority(ProofKind::kWinningPost, Priority::kDefault), Priority::kCritical);
  EXPECT_EQ(effective_priority(ProofKind::kWindowPost, Priority::kDefault), Priority::kHigh);
  EXPECT_EQ(effective_priority(ProofKind::kPorep, Priority::kDefault), Priority::kNormal);
  EXPECT_EQ(effective_priority(ProofKind::kSnap, Priority::kDefault), Priority::kNormal);
  EXPECT_EQ(effective_priority(ProofKind::kWinningPost, Priority::kLow), Priority::kLow);
  EXPECT_EQ(effective_priority(ProofKind::kPorep, Priority::kCritical), Priority::kCritical);
  // A number that the wire does not know counts as normal.
  EXPECT_EQ(effective_priority(ProofKind::kWinningPost, static_cast<Priority>(9)),
            Priority::kNormal);
}

// The texts are an interface: operators search logs for them, clients compare them.
TEST(ErrorCodes, TextsAreStableAndDistinct) {
  const std::vector<std::string_view> expected = {
      "NONE",           "BAD-INPUT",      "BAD-VANILLA",       "UNSUPPORTED",
      "PARAMS-MISSING", "PARAMS-CORRUPT", "HOST-MEM",          "GPU-OOM",
      "NO-GPU",         "GPU-FAULT",      "SELF-CHECK-FAILED", "STALL",
      "QUEUE-FULL",     "REFUSED",        "CANCELLED",         "JOB-SUPERSEDED",
      "SHUTTING-DOWN",  "NOT-FOUND",      "INTERNAL"};
  std::vector<std::string_view> found;
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i)
    found.push_back(to_string(static_cast<ErrorCode>(i)));
  EXPECT_EQ(found, expected);
}

TEST(ErrorCodes, OnlyWhatPassesByItselfIsRetryable) {
  std::vector<std::string_view> retryable;
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    if (is_retryable(static_cast<ErrorCode>(i)))
      retryable.push_back(to_string(static_cast<ErrorCode>(i)));
  }
  EXPECT_THAT(retryable,
              ::testing::ElementsAre("GPU-OOM", "GPU-FAULT", "SELF-CHECK-FAILED", "STALL",
                                     "QUEUE-FULL", "CANCELLED", "SHUTTING-DOWN"));
}

TEST(ErrorCodes, AnErrorStartsWithItsCode) {
  const EngineError error(ErrorCode::kParamsMissing, "porep-32g: no file");
  EXPECT_STREQ(error.what(), "PARAMS-MISSING: porep-32g: no file");
  EXPECT_EQ(error.code(), ErrorCode::kParamsMissing);
}

TEST(JobLabels, AreThoseOfStatusAndMetrics) {
  EXPECT_EQ(label(ProofKind::kPorep), "porep-c2");
  EXPECT_EQ(label(ProofKind::kSnap), "snap-update");
  EXPECT_EQ(label(ProofKind::kWindowPost), "window-post");
  EXPECT_EQ(label(ProofKind::kWinningPost), "winning-post");
  EXPECT_EQ(to_string(JobState::kQueued), "queued");
  EXPECT_EQ(to_string(JobState::kRunning), "running");
  EXPECT_EQ(to_string(JobState::kCompleted), "completed");
  EXPECT_EQ(to_string(JobState::kFailed), "failed");
  EXPECT_EQ(to_string(JobState::kCancelled), "cancelled");
  EXPECT_EQ(to_string(Priority::kLow), "low");
  EXPECT_EQ(to_string(Priority::kCritical), "critical");
}

}  // namespace
}  // namespace cuzk::engine
