#include "service/daemon.hpp"

#include "base/log.hpp"
#include "service/testing/test_server.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <future>
#include <mutex>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace cuzk::service {

namespace {

using ::testing::HasSubstr;

/// A daemon over the fake engine, in a thread that takes the signals.
class DaemonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base::LogOptions options;
    options.sink = [this](std::string_view line) {
      const std::lock_guard lock(log_mutex_);
      log_ += line;
    };
    base::process_log().configure(options);
    config_.daemon.listen = "unix://" + (folder_ / "cuzk.sock").string();
    config_.daemon.status_listen = "127.0.0.1:0";
    engine_.picture = testing::sample_status();
  }
  void TearDown() override {
    ::unsetenv("NOTIFY_SOCKET");
    base::process_log().configure({});
  }

  void start(Daemon::Options options = {}) {
    daemon_ = std::make_unique<Daemon>(engine_, config_, std::move(options));
    stub_ = v1::ProvingEngine::NewStub(testing::connect(daemon_->server().address().grpc_target()));
    std::promise<pthread_t> runner;
    ended_ = std::async(std::launch::async, [this, &runner] {
      Daemon::block_signals();
      runner.set_value(::pthread_self());
      restart_because_ = daemon_->run();
    });
    runner_ = runner.get_future().get();
  }
  // To the daemon's thread alone: the rest of the test program does not block signals.
  void send(int signal) const { ::pthread_kill(runner_, signal); }
  bool ends_within(std::chrono::milliseconds limit) {
    return ended_.wait_for(limit) == std::future_status::ready;
  }
  std::future<grpc::Status> prove(const std::string& id) {
    return std::async(std::launch::async, [this, id] {
      grpc::ClientContext call;
      call.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
      v1::ProveRequest request;
      request.mutable_submit()->set_request_id(id);
      request.mutable_submit()->set_proof_kind(v1::WINNING_POST);
      v1::ProveResponse response;
      return stub_->Prove(&call, request, &response);
    });
  }
  std::string log() {
    const std::lock_guard lock(log_mutex_);
    return log_;
  }

  testing::TempFolder folder_;
  testing::FakeEngine engine_;
  engine::Config config_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<v1::ProvingEngine::Stub> stub_;
  std::future<void> ended_;
  std::string restart_because_;  // set when it has ended
  pthread_t runner_{};
  std::mutex log_mutex_;
  std::string log_;
};

TEST_F(DaemonTest, DrainsOnTheFirstSignal) {
  start();
  auto answer = prove("a");
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  send(SIGTERM);
  ASSERT_TRUE(engine_.until_draining());
  EXPECT_FALSE(ends_within(std::chrono::milliseconds(200)));
  engine_.finish("a", testing::FakeEngine::completed());
  EXPECT_TRUE(answer.get().ok());
  EXPECT_TRUE(ends_within(std::chrono::seconds(10)));
  EXPECT_THAT(log(), HasSubstr("draining"));
}

TEST_F(DaemonTest, StopsOnTheSecondSignalAndAnswersWhoWaits) {
  start();
  auto answer = prove("a");
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  send(SIGINT);
  ASSERT_TRUE(engine_.until_draining());
  send(SIGTERM);
  EXPECT_TRUE(ends_within(std::chrono::seconds(10)));
  EXPECT_EQ(answer.get().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(engine_.result("a").has_value());  // not cancelled: it stays in the journal
}

TEST_F(DaemonTest, EndsForAnotherProcessWhenItsDevicesAreLost) {
  start();
  auto answer = prove("a");
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  EXPECT_FALSE(ends_within(std::chrono::milliseconds(200)));
  engine_.want_restart("cuda:0: lost: illegal address");
  ASSERT_TRUE(ends_within(std::chrono::seconds(10)));
  EXPECT_EQ(restart_because_, "cuda:0: lost: illegal address");
  EXPECT_EQ(answer.get().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(engine_.result("a").has_value());  // not cancelled: it stays in the journal
  EXPECT_THAT(log(), HasSubstr("GPU-LOST"));
}

TEST_F(DaemonTest, TheDrainIsBounded) {
  config_.daemon.drain_timeout = std::chrono::seconds(1);
  start();
  auto answer = prove("a");
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  send(SIGTERM);
  EXPECT_TRUE(ends_within(std::chrono::seconds(10)));
  EXPECT_EQ(answer.get().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(DaemonTest, ReloadsOnHangUpAndSurvivesABadFile) {
  std::promise<void> first, second;
  int calls = 0;
  start({.reload =
             [&](Daemon&) {
               if (++calls == 1) {
                 first.set_value();
                 throw std::runtime_error("line 3: unknown key");
               }
               second.set_value();
             },
         .health_interval = std::chrono::minutes(60)});
  send(SIGHUP);
  ASSERT_EQ(first.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  send(SIGHUP);
  ASSERT_EQ(second.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  send(SIGTERM);
  EXPECT_TRUE(ends_within(std::chrono::seconds(10)));
  EXPECT_THAT(log(), HasSubstr("line 3: unknown key"));
}

TEST_F(DaemonTest, TheTimeToDrainCanChangeWhileRunning) {
  config_.daemon.drain_timeout = std::chrono::hours(1);
  std::promise<void> reloaded;
  start({.reload =
             [&](Daemon& daemon) {
               engine::Config changed = config_;
               changed.daemon.drain_timeout = std::chrono::seconds(1);
               daemon.reconfigure(changed);
               reloaded.set_value();
             },
         .health_interval = std::chrono::minutes(60)});
  auto answer = prove("a");
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  send(SIGHUP);
  ASSERT_EQ(reloaded.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  send(SIGTERM);
  EXPECT_TRUE(ends_within(std::chrono::seconds(10)));
  EXPECT_EQ(answer.get().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(DaemonTest, TellsTheServiceManager) {
  const std::string path = (folder_ / "notify").string();
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  start();
  send(SIGTERM);
  EXPECT_TRUE(ends_within(std::chrono::seconds(10)));
  std::string told;
  char buffer[256];
  for (ssize_t size = 0; (size = ::recv(socket, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0;)
    told.append(buffer, static_cast<std::size_t>(size)).append("|");
  ::close(socket);
  EXPECT_THAT(told, ::testing::StartsWith("READY=1|STATUS=ready|WATCHDOG=1|"));
  EXPECT_THAT(told, HasSubstr("STOPPING=1"));
}

TEST_F(DaemonTest, LogsWhereItServesAndWhichCircuitsItHas) {
  start({.reload = {}, .health_interval = std::chrono::minutes(0)});
  send(SIGTERM);
  EXPECT_TRUE(ends_within(std::chrono::seconds(10)));
  EXPECT_THAT(log(), HasSubstr("gRPC on unix:" + (folder_ / "cuzk.sock").string()));
  EXPECT_THAT(log(), HasSubstr("status page on http://127.0.0.1:"));
  EXPECT_THAT(log(), HasSubstr("circuit porep-32g: READY"));
  EXPECT_THAT(log(), HasSubstr("circuit snap-32g: MISSING: PARAMS-MISSING"));
  EXPECT_THAT(log(), HasSubstr("HEALTH: up 0.0 h, 20 proofs, 4 failed, 1 invalid and dropped"));
}

}  // namespace

}  // namespace cuzk::service
