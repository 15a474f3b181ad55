#include "cli/load/metrics_text.hpp"
#include "daemon/server_process.hpp"
#include "engine/job.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <optional>
#include <thread>

namespace cuzk::daemon_test {
namespace {

using cli::load::MetricsText;
using engine::ProofKind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using v1::AwaitProofResponse;
using Clock = std::chrono::steady_clock;

/// A line of /proc/PID/status in bytes; 0 if it is not there.
std::uint64_t memory_of(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) << 10;
  return 0;
}

class ServerTest : public ::testing::Test {
 protected:
  void configure(const std::string& of_daemon) {
    folder_.configure(of_daemon + "[memory]\ntotal_budget = \"1GiB\"\n");
  }
  /// One worker; each partition takes so long.
  std::unique_ptr<ServerProcess> start(milliseconds partition, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--partition-us", std::to_string(partition.count() * 1000)});
    auto server = std::make_unique<ServerProcess>(folder_, more);
    client_.emplace(folder_);
    EXPECT_TRUE(client_->until_ready()) << folder_.log();
    return server;
  }
  std::string submit(const engine::JobRequest& request) {
    std::string id;
    const grpc::Status status = client_->submit(request, id);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return id;
  }
  void until_running(ProofKind kind, double jobs = 1) {
    const std::string label = engine::metrics_label(kind);
    const auto end = Clock::now() + seconds(60);
    while (MetricsText(client_->metrics()).sum("cuzk_jobs_in_progress", {{"proof_kind", label}}) <
           jobs) {
      ASSERT_LT(Clock::now(), end);
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  void until_awaited(const std::string& id) {
    const auto end = Clock::now() + seconds(60);
    for (;;) {
      v1::GetStatusResponse status;
      ASSERT_TRUE(client_->status(status).ok());
      for (const auto& job : status.jobs()) {
        if (job.job_id() == id && job.waiters() > 0) return;
      }
      ASSERT_LT(Clock::now(), end);
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  void expect_proved(const engine::JobRequest& request, const std::string& id) {
    AwaitProofResponse result;
    ASSERT_TRUE(client_->await(id, seconds(60), result).ok()) << id;
    EXPECT_EQ(result.status(), AwaitProofResponse::COMPLETED) << id << result.error_message();
    EXPECT_TRUE(toy_verifies(request, result.proof())) << id;
  }

  ServerFolder folder_;
  std::optional<ServerClient> client_;  ///< since start()
};

// An urgent job waits for the partition that is on the device, and for no other.
TEST_F(ServerTest, WinningPostPassesFiftyQueuedPoreps) {
  configure("");
  const auto server = start(milliseconds(20));
  for (std::uint64_t i = 0; i < 50; ++i) submit(toy_job(ProofKind::kPorep, i, 10));
  until_running(ProofKind::kPorep);
  const auto proved = [&] {
    return MetricsText(client_->metrics())
        .sum("cuzk_stage_seconds_count", {{"proof_kind", "porep_c2"}, {"stage", "device"}});
  };
  for (std::uint64_t i = 0; i < 8; ++i) {
    const engine::JobRequest request = toy_job(ProofKind::kWinningPost, i, 1);
    AwaitProofResponse result;
    const double before = proved();
    ASSERT_TRUE(client_->prove(request, result).ok());
    const double passed_by = proved() - before;
    EXPECT_EQ(result.status(), AwaitProofResponse::COMPLETED) << result.error_message();
    EXPECT_TRUE(toy_verifies(request, result.proof()));
    // One was on the device when it came; the next may be before its answer is counted here.
    EXPECT_LE(passed_by, 2) << "round " << i;
  }
  EXPECT_GE(MetricsText(client_->metrics()).sum("cuzk_jobs_pending", {{"proof_kind", "porep_c2"}}),
            30);
}

// The next process can use the device: jobs are not failed for want of one.
TEST_F(ServerTest, EndsForTheNextProcessWhenItsOnlyDeviceIsLost) {
  configure("");
  auto server = start(milliseconds(20), {"--lost-at", "7"});
  std::vector<engine::JobRequest> requests;
  std::vector<std::string> ids;
  for (std::uint64_t i = 0; i < 4; ++i) {
    requests.push_back(toy_job(ProofKind::kPorep, i, 5));
    ids.push_back(submit(requests.back()));
  }
  client_.reset();
  EXPECT_EQ(server->exit_within(seconds(60)), 1) << folder_.log();
  EXPECT_THAT(folder_.log(), HasSubstr("GPU-LOST"));
  server = start(milliseconds(1));
  for (std::size_t i = 0; i < ids.size(); ++i) expect_proved(requests[i], ids[i]);
}

TEST_F(ServerTest, DrainsOnSigtermAndKeepsTheRest) {
  configure("drain_timeout = \"30s\"\n");
  auto server = start(milliseconds(100));
  std::vector<engine::JobRequest> requests;
  std::vector<std::string> ids;
  for (std::uint64_t i = 0; i < 5; ++i) {
    requests.push_back(toy_job(ProofKind::kPorep, i, 3));
    ids.push_back(submit(requests.back()));
  }
  until_running(ProofKind::kPorep);
  auto waiting = std::async(std::launch::async, [&] {
    AwaitProofResponse result;
    ServerClient other(folder_);
    EXPECT_TRUE(other.await(ids[0], seconds(60), result).ok());
    return result;
  });
  until_awaited(ids[0]);
  server->signal(SIGTERM);
  std::string id;
  grpc::Status refused;
  for (int i = 0; i < 100 && refused.ok(); ++i) {
    refused = client_->submit(toy_job(ProofKind::kSnap, 100 + i, 1), id);
    if (refused.ok()) {
      requests.push_back(toy_job(ProofKind::kSnap, 100 + i, 1));
      ids.push_back(id);
    }
  }
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  // The job that ran is answered, the daemon ends well.
  EXPECT_TRUE(toy_verifies(requests[0], waiting.get().proof()));
  client_.reset();
  EXPECT_EQ(server->exit_within(seconds(40)), 0) << folder_.log();
  server = start(milliseconds(1));
  for (std::size_t i = 0; i < requests.size(); ++i) expect_proved(requests[i], ids[i]);
}

TEST_F(ServerTest, ASecondSignalStopsAtOnceAndLosesNothing) {
  configure("drain_timeout = \"300s\"\n");
  auto server = start(milliseconds(100));
  const engine::JobRequest request = toy_job(ProofKind::kPorep, 1, 90);
  const std::string id = submit(request);
  until_running(ProofKind::kPorep);
  const auto begin = Clock::now();
  server->signal(SIGTERM);
  client_.reset();
  std::this_thread::sleep_for(milliseconds(100));
  server->signal(SIGINT);
  EXPECT_EQ(server->exit_within(seconds(10)), 0) << folder_.log();
  EXPECT_LT(Clock::now() - begin, seconds(6));  // all partitions would take nine
  server = start(milliseconds(0));
  expect_proved(request, id);
}

// A partition on the device cannot be interrupted, and whoever sends a third signal does not want
// to wait for it.
TEST_F(ServerTest, AThirdSignalDoesNotWaitForThePartition) {
  configure("drain_timeout = \"300s\"\n");
  auto server = start(seconds(25));
  const engine::JobRequest request = toy_job(ProofKind::kPorep, 1, 2);
  const std::string id = submit(request);
  until_running(ProofKind::kPorep);
  client_.reset();
  for (const char* said : {"draining", "stopping now"}) {
    server->signal(SIGTERM);
    const auto end = Clock::now() + seconds(10);
    while (folder_.log().find(said) == std::string::npos) {
      ASSERT_LT(Clock::now(), end) << folder_.log();
      std::this_thread::sleep_for(milliseconds(5));
    }
  }
  EXPECT_EQ(server->exit_within(milliseconds(200)), std::nullopt);
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_within(seconds(5)), 128 + SIGTERM) << folder_.log();
  EXPECT_THAT(folder_.log(), HasSubstr("ending at once"));
  server = start(milliseconds(1));
  expect_proved(request, id);
}

// The check of large parameter files takes minutes: meanwhile jobs are taken, the state is said as
// it is, and a stop does not wait.
TEST_F(ServerTest, WhileFilesAreCheckedItAnswersAndCanBeStopped) {
  configure("");
  auto server =
      std::make_unique<ServerProcess>(folder_, std::vector<std::string>{"--check-s", "600"});
  client_.emplace(folder_);
  const engine::JobRequest request = toy_job(ProofKind::kPorep, 1, 2);
  const std::string id = submit(request);
  v1::GetStatusResponse status;
  const auto end = Clock::now() + seconds(20);
  do {
    ASSERT_TRUE(client_->status(status).ok());
    ASSERT_LT(Clock::now(), end);
  } while (status.jobs_size() != 1 ||
           status.jobs(0).waiting_for() != "the check of the files of porep-2k");
  EXPECT_FALSE(status.ready());
  const engine::JobRequest other = toy_job(ProofKind::kSnap, 2, 1);
  expect_proved(other, submit(other));
  client_.reset();
  const auto begin = Clock::now();
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_within(seconds(30)), 0) << folder_.log();
  EXPECT_LT(Clock::now() - begin, seconds(10));
  EXPECT_THAT(folder_.log(), HasSubstr("not ready: starting: checking the files of porep-2k"));
  server = start(milliseconds(0));
  expect_proved(request, id);
}

TEST_F(ServerTest, ASecondDaemonLeavesTheFirstOneAlone) {
  configure("");
  const auto server = start(milliseconds(1));
  // The same socket.
  ServerProcess second(folder_);
  EXPECT_EQ(second.exit_within(seconds(20)), 1);
  EXPECT_THAT(folder_.log(), HasSubstr("ALREADY-RUNNING: pid " + std::to_string(server->pid())));
  const engine::JobRequest request = toy_job(ProofKind::kPorep, 1, 2);
  expect_proved(request, submit(request));
}

TEST_F(ServerTest, TheJobOfAVanishedClientIsCancelled) {
  configure("");
  const auto server = start(milliseconds(50));
  auto gone = std::async(std::launch::async, [&] {
    ServerClient other(folder_);
    return other.prove_for(toy_job(ProofKind::kPorep, 1, 50), milliseconds(150)).error_code();
  });
  EXPECT_EQ(gone.get(), grpc::StatusCode::DEADLINE_EXCEEDED);
  const auto end = Clock::now() + seconds(20);
  while (MetricsText(client_->metrics()).sum("cuzk_jobs_cancelled_total") < 1) {
    ASSERT_LT(Clock::now(), end);
    std::this_thread::sleep_for(milliseconds(5));
  }
  const engine::JobRequest request = toy_job(ProofKind::kSnap, 2, 1);
  const auto begin = Clock::now();
  expect_proved(request, submit(request));
  EXPECT_LT(Clock::now() - begin, milliseconds(1500));  // fifty partitions take longer
}

TEST_F(ServerTest, MessagesBeyondTheLimitAreRefusedByName) {
  configure("max_message_bytes = \"4MiB\"\n");
  const auto server = start(milliseconds(1));
  engine::JobRequest request = toy_job(ProofKind::kPorep, 1, 1);
  request.vanilla_proof.resize((4 << 20) - 4096);
  expect_proved(request, submit(request));
  request.vanilla_proof.resize((4 << 20) + 4096);
  request.request_id += "-large";
  std::string id;
  const grpc::Status status = client_->submit(request, id);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr(std::to_string(4 << 20)));
}

// Unpacked it would be a thousand times as large.
TEST_F(ServerTest, ACompressedMessageIsRefusedAndNeverUnpacked) {
  configure("");
  const auto server = start(milliseconds(1));
  engine::JobRequest request = toy_job(ProofKind::kPorep, 1, 1);
  expect_proved(request, submit(request));
  request.request_id += "-compressed";
  request.vanilla_proof.resize(std::size_t{240} << 20);
  const std::uint64_t before = memory_of(server->pid(), "VmHWM");
  ASSERT_GT(before, 0U);
  for (const auto compression : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    std::string id;
    const grpc::Status status = client_->submit(request, id, compression);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
  }
  EXPECT_LE(memory_of(server->pid(), "VmHWM"), before + (std::uint64_t{64} << 20));
}

// Large requests that are refused leave the process as it was.
TEST_F(ServerTest, LargePayloadsAreLetGo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory that was given back";
#endif
  configure("");
  const auto server = start(milliseconds(1));
  engine::JobRequest request = toy_job(ProofKind::kPorep, 1, 1);
  expect_proved(request, submit(request));
  const auto resident = [&] { return memory_of(server->pid(), "VmRSS"); };
  const auto before = resident();
  ASSERT_GT(before, 0U);
  base::store_u64_le(666, request.vanilla_proofs[0].data());  // a vanilla proof that does not hold
  request.vanilla_proof.resize(std::size_t{100} << 20, ' ');
  for (int i = 0; i < 5; ++i) {
    request.request_id = "large-" + std::to_string(i);
    std::string id;
    EXPECT_EQ(client_->submit(request, id).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  const auto limit = before + before / 20 + (std::uint64_t{32} << 20);
  const auto end = Clock::now() + seconds(10);
  while (resident() > limit && Clock::now() < end) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_LE(resident(), limit);
}

}  // namespace
}  // namespace cuzk::daemon_test
