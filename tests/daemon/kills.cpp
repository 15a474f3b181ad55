#include "daemon/kills.hpp"

#include "daemon/server_process.hpp"
#include "engine/journal.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

namespace cuzk::daemon_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using v1::AwaitProofResponse;

constexpr std::size_t kMostUnfinished = 24;

struct KnownJob {
  engine::JobRequest request;
  std::string id;
  std::optional<AwaitProofResponse> result;
};

/// What clients were told: jobs accepted, and results. Any thread may call.
class Ledger {
 public:
  std::optional<engine::JobRequest> next() {
    const std::lock_guard lock(mutex_);
    if (unfinished_ >= kMostUnfinished) return std::nullopt;
    const std::uint64_t number = next_++;
    const auto kind = number % 5 == 0   ? engine::ProofKind::kWinningPost
                      : number % 5 == 1 ? engine::ProofKind::kSnap
                                        : engine::ProofKind::kPorep;
    return toy_job(kind, number, kind == engine::ProofKind::kPorep ? 2 : 1);
  }
  void accepted(engine::JobRequest request, std::string id) {
    const std::lock_guard lock(mutex_);
    ++unfinished_;
    jobs_.push_back({std::move(request), std::move(id), {}});
  }
  /// An unfinished job, another one each time.
  std::optional<std::pair<std::size_t, std::string>> unfinished(std::uint64_t turn) {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!jobs_[i].result) open.push_back(i);
    }
    if (open.empty()) return std::nullopt;
    const std::size_t index = open[turn % open.size()];
    return std::pair{index, jobs_[index].id};
  }
  void finished(std::size_t index, const AwaitProofResponse& result) {
    const std::lock_guard lock(mutex_);
    KnownJob& job = jobs_[index];
    if (job.result) {
      EXPECT_EQ(job.result->SerializeAsString(), result.SerializeAsString()) << job.id;
      return;
    }
    job.result = result;
    --unfinished_;
  }
  const std::vector<KnownJob>& jobs() const { return jobs_; }  ///< once nobody else calls

 private:
  std::mutex mutex_;
  std::vector<KnownJob> jobs_;
  std::uint64_t next_ = 0;
  std::size_t unfinished_ = 0;
};

bool is_final(const AwaitProofResponse& result) {
  return result.status() == AwaitProofResponse::COMPLETED ||
         result.status() == AwaitProofResponse::FAILED ||
         result.status() == AwaitProofResponse::CANCELLED;
}

/// Clients that submit and await until they are stopped, whether or not a server is there.
class Clients {
 public:
  Clients(const ServerFolder& folder, Ledger& ledger) : folder_(folder), ledger_(ledger) {
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { submit(); });
    threads_.emplace_back([this] { await(); });
  }
  ~Clients() { stop_ = true; }

 private:
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
  void submit() {
    ServerClient client(folder_);
    while (!stop_) {
      auto request = ledger_.next();
      std::string id;
      // A request without an answer is sent again, until it has one.
      while (request && !stop_) {
        if (client.submit(*request, id).ok()) {
          ledger_.accepted(std::move(*request), id);
          break;
        }
      }
      pause();
    }
  }
  void await() {
    ServerClient client(folder_);
    for (std::uint64_t turn = 0; !stop_; ++turn) {
      if (const auto job = ledger_.unfinished(turn)) {
        AwaitProofResponse result;
        const auto status = client.await(job->second, std::chrono::milliseconds(10), result);
        EXPECT_NE(status.error_code(), grpc::StatusCode::NOT_FOUND) << job->second << " is lost";
        if (status.ok() && is_final(result)) ledger_.finished(job->first, result);
      }
      pause();
    }
  }

  const ServerFolder& folder_;
  Ledger& ledger_;
  std::atomic<bool> stop_ = false;
  std::vector<std::jthread> threads_;
};

/// Kills servers at random moments, in half of the rounds already while they start.
void kill_often(const ServerFolder& folder, const std::vector<std::string>& arguments, int kills) {
  std::mt19937_64 random(11);
  ServerClient client(folder);
  for (int round = 0; round < kills; ++round) {
    ServerProcess server(folder, arguments);
    if (round % 2 == 0) {
      ASSERT_TRUE(client.until_ready()) << folder.log();
    }
    const std::chrono::microseconds moment(random() % 150'000);
    const auto early =
        server.exit_within(std::chrono::duration_cast<std::chrono::milliseconds>(moment));
    ASSERT_FALSE(early.has_value()) << "ended by itself: " << *early << "\n" << folder.log();
    server.kill();
  }
}

}  // namespace

void expect_jobs_outlive_kills(int kills) {
  const ServerFolder folder;
  folder.configure("[memory]\ntotal_budget = \"1GiB\"\n");
  const std::vector<std::string> arguments{"--workers", "2"};
  Ledger ledger;
  std::optional<ServerProcess> server;
  {
    const Clients clients(folder, ledger);
    kill_often(folder, arguments, kills);
    server.emplace(folder, arguments);  // the clients' last calls have an answer
  }
  auto client = std::make_optional<ServerClient>(folder);
  ASSERT_TRUE(client->until_ready()) << folder.log();
  std::size_t proved = 0, refused = 0;
  for (const KnownJob& job : ledger.jobs()) {
    AwaitProofResponse result;
    const auto status = client->await(job.id, std::chrono::seconds(60), result);
    ASSERT_TRUE(status.ok()) << job.id << ": " << status.error_message();
    if (job.result) {
      EXPECT_EQ(result.SerializeAsString(), job.result->SerializeAsString()) << job.id;
    }
    if (result.status() == AwaitProofResponse::COMPLETED) {
      EXPECT_TRUE(toy_verifies(job.request, result.proof())) << job.id;
      ++proved;
      AwaitProofResponse again;
      EXPECT_TRUE(client->prove(job.request, again).ok());
      EXPECT_EQ(again.proof(), result.proof()) << job.id;
    } else {
      EXPECT_EQ(result.error_code(), "REFUSED") << job.id << ": " << result.error_message();
      ++refused;
    }
  }
  ::testing::Test::RecordProperty("jobs", static_cast<int>(ledger.jobs().size()));
  ::testing::Test::RecordProperty("refused", static_cast<int>(refused));
  EXPECT_GE(proved, static_cast<std::size_t>(kills));
  EXPECT_LE(refused, static_cast<std::size_t>(kills / 4));

  client.reset();
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_within(std::chrono::seconds(60)), 0) << folder.log();
  engine::Journal journal(folder.journal(), {});
  EXPECT_EQ(journal.recovered(), "");
  EXPECT_THAT(journal.unfinished(), ::testing::IsEmpty());
  EXPECT_THAT(folder.log(), Not(HasSubstr("damaged")));
}

}  // namespace cuzk::daemon_test
