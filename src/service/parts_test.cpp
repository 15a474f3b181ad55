// The small parts of the service: addresses, tokens, status texts, pools, waits.
#include "base/error.hpp"
#include "service/client.hpp"
#include "service/errors.hpp"
#include "service/job_waits.hpp"
#include "service/listen_address.hpp"
#include "service/worker_pool.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <mutex>
#include <new>
#include <thread>

namespace cuzk::service {

namespace {

using engine::ErrorCode;
using ::testing::HasSubstr;

TEST(ListenAddress, ReadsEveryForm) {
  EXPECT_EQ(parse_listen_address("unix:///run/c.sock", "x").path, "/run/c.sock");
  EXPECT_EQ(parse_listen_address("unix:rel.sock", "x").grpc_target(), "unix:rel.sock");
  const ListenAddress v4 = parse_listen_address("127.0.0.1:9820", "x");
  EXPECT_EQ(v4.host, "127.0.0.1");
  EXPECT_EQ(v4.port, 9820);
  EXPECT_EQ(v4.grpc_target(), "127.0.0.1:9820");
  const ListenAddress v6 = parse_listen_address("[fe80::1]:1", "x");
  EXPECT_EQ(v6.host, "fe80::1");
  EXPECT_EQ(v6.grpc_target(), "[fe80::1]:1");
  EXPECT_EQ(parse_listen_address("http://prover:80", "x").host, "prover");
}

TEST(ListenAddress, NamesWhatIsWrong) {
  for (const char* text : {"", ":9820", "host", "host:", "host:65536", "host:-1", "host:1x",
                           "::1:9820", "[]:1", "ftp://host:1", "unix:", "unix://"}) {
    try {
      parse_listen_address(text, "daemon.listen");
      ADD_FAILURE() << text;
    } catch (const base::InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr("daemon.listen")) << text;
    }
  }
  EXPECT_NO_THROW(parse_listen_address("unix:/" + std::string(106, 'x'), "x"));
  EXPECT_THROW(parse_listen_address("unix:/" + std::string(107, 'x'), "x"), base::InvalidInput);
}

TEST(ListenAddress, KnowsWhatIsLocal) {
  for (const char* text : {"unix:/x", "127.0.0.1:1", "127.8.9.1:1", "[::1]:1", "localhost:1"})
    EXPECT_TRUE(parse_listen_address(text, "x").is_local()) << text;
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "prover:1", "128.0.0.1:1"})
    EXPECT_FALSE(parse_listen_address(text, "x").is_local()) << text;
}

TEST(StatusText, IsCutToFitAndNeverInsideACharacter) {
  EXPECT_EQ(fit_status_text("short", 100), "short");
  EXPECT_EQ(fit_status_text(std::string(100, 'a'), 100), std::string(100, 'a'));
  const std::string cut = fit_status_text(std::string(300, 'a'), 200);
  EXPECT_EQ(cut, std::string(140, 'a') + "... (160 bytes more in the daemon's log)");
  // A character of two bytes takes six: 23 of them fit into 140.
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\u00e4";
  EXPECT_TRUE(fit_status_text(umlauts, 200).starts_with(umlauts.substr(0, 46) + "..."));
}

TEST(ToEngineError, KnowsTheProgramsExceptions) {
  const auto code = [](auto error) {
    return to_engine_error(std::make_exception_ptr(error)).code();
  };
  EXPECT_EQ(code(engine::EngineError(ErrorCode::kStalled, "x")), ErrorCode::kStalled);
  EXPECT_EQ(code(base::InvalidInput("x")), ErrorCode::kBadInput);
  EXPECT_EQ(code(base::CorruptData("x")), ErrorCode::kParamsCorrupt);
  EXPECT_EQ(code(base::ResourceExhausted("x")), ErrorCode::kHostMemory);
  EXPECT_EQ(code(std::bad_alloc()), ErrorCode::kHostMemory);
  EXPECT_EQ(code(std::logic_error("x")), ErrorCode::kInternal);
  EXPECT_EQ(code(42), ErrorCode::kInternal);
}

TEST(WorkerPool, TakesTheMostUrgentFirstAndEqualsInOrder) {
  std::promise<void> go;
  std::vector<int> order;
  {
    WorkerPool pool(1);
    std::promise<void> begun;
    pool.post(0, [&] {
      begun.set_value();
      go.get_future().wait();
    });
    begun.get_future().wait();
    for (const int urgency : {1, 4, 2, 4, 1}) {
      pool.post(urgency, [&order, urgency] { order.push_back(urgency); });
    }
    go.set_value();
  }
  EXPECT_EQ(order, (std::vector<int>{4, 4, 2, 1, 1}));
}

// ---- JobWaits
// --------------------------------------------------------------------------------------

/// A blocking wait that the test ends.
class JobWaitsTest : public ::testing::Test {
 protected:
  JobWaits::Await await() {
    return [this](const std::string& job_id, const std::function<bool()>& abandoned) {
      ++awaits_;
      while (!ended_) {
        if (abandoned()) {
          ++abandoned_;
          return std::optional<engine::JobResult>();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (fails_) throw engine::EngineError(ErrorCode::kNotFound, job_id);
      engine::JobResult result;
      result.job_id = job_id;
      return std::optional(result);
    };
  }
  static std::string text(const EngineApi::WaitEnd& end) {
    return std::visit(
        [](const auto& value) -> std::string {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, engine::JobResult>)
            return value.job_id;
          else
            return value.what();
        },
        end);
  }

  std::atomic<int> awaits_ = 0, abandoned_ = 0;
  std::atomic<bool> ended_ = false, fails_ = false;
};

TEST_F(JobWaitsTest, ManyWaitersOfAJobShareOneWait) {
  constexpr int kWaiters = 50;
  std::atomic<int> called = 0;
  {
    JobWaits waits(await());
    std::vector<std::unique_ptr<EngineApi::Waiter>> waiters;
    for (int i = 0; i < kWaiters; ++i) {
      waiters.push_back(waits.wait("a", [&](const EngineApi::WaitEnd& end) {
        EXPECT_EQ(text(end), "a");
        ++called;
      }));
    }
    ended_ = true;
    while (called < kWaiters) std::this_thread::yield();
  }
  EXPECT_EQ(called, kWaiters);
  EXPECT_EQ(awaits_, 1);
}

TEST_F(JobWaitsTest, TheWaitIsGivenUpWhenTheLastHasGone) {
  std::atomic<int> called = 0;
  {
    JobWaits waits(await());
    auto first = waits.wait("a", [&](const EngineApi::WaitEnd&) { ++called; });
    auto second = waits.wait("a", [&](const EngineApi::WaitEnd&) { ++called; });
    first.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(abandoned_, 0);
    second.reset();
  }
  EXPECT_EQ(abandoned_, 1);
  EXPECT_EQ(called, 0);
}

TEST_F(JobWaitsTest, ErrorsReachTheWaiters) {
  ended_ = fails_ = true;
  std::promise<std::string> end;
  JobWaits waits(await());
  const auto waiter =
      waits.wait("b", [&](const EngineApi::WaitEnd& value) { end.set_value(text(value)); });
  EXPECT_EQ(end.get_future().get(), "NOT-FOUND: b");
}

TEST_F(JobWaitsTest, AWaiterMayGoFromItsOwnCallback) {
  std::promise<void> done;
  JobWaits waits(await());
  std::mutex mutex;
  std::unique_ptr<EngineApi::Waiter> waiter;
  {
    const std::lock_guard lock(mutex);
    waiter = waits.wait("a", [&](const EngineApi::WaitEnd&) {
      const std::lock_guard inner(mutex);
      waiter.reset();
      done.set_value();
    });
  }
  ended_ = true;
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

std::string complaint(const grpc::Status& status, std::chrono::seconds timeout = {}) {
  try {
    require_ok(status, "a", timeout);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// ---- what a client says
// ------------------------------------------------------------------------

TEST(ClientErrors, SayWhatToLookAt) {
  using Code = grpc::StatusCode;
  EXPECT_EQ(complaint(grpc::Status::OK), "");
  EXPECT_THAT(complaint({Code::UNAVAILABLE, "failed to connect"}),
              ::testing::StartsWith("a: failed to connect; does the daemon run (systemctl"));
  EXPECT_EQ(complaint({Code::UNAVAILABLE, "NO-GPU: none"}), "a: NO-GPU: none");
  EXPECT_EQ(complaint({Code::DEADLINE_EXCEEDED, "Deadline Exceeded"}, std::chrono::seconds(7)),
            "a: no answer within --timeout 7 s");
  EXPECT_EQ(complaint({Code::DEADLINE_EXCEEDED, "STALL: x"}, std::chrono::seconds(7)),
            "a: STALL: x");
  EXPECT_EQ(complaint({Code::PERMISSION_DENIED, ""}), "a: PERMISSION_DENIED");
  EXPECT_EQ(complaint({Code::UNAUTHENTICATED, ""}), "a: UNAUTHENTICATED");
}

}  // namespace

}  // namespace cuzk::service
