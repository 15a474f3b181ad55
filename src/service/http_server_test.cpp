#include "service/http_server.hpp"

#include "base/error.hpp"
#include "service/page_files.hpp"
#include "service/testing/fake_engine.hpp"

#include <gmock/gmock.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <netinet/in.h>
#include <regex>
#include <set>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cuzk::service {

namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_.picture = testing::sample_status();
    server_ = std::make_unique<HttpServer>(engine_, "127.0.0.1:0");
    client_ = std::make_unique<httplib::Client>("127.0.0.1", server_->address().port);
  }
  httplib::Response get(const std::string& path) {
    const httplib::Result result = client_->Get(path);
    EXPECT_TRUE(result) << path;
    return result ? result.value() : httplib::Response();
  }

  testing::FakeEngine engine_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<httplib::Client> client_;
};

// Every field that the Rust daemon's status has, with its type.
TEST_F(HttpServerTest, StatusHasEveryOldField) {
  const httplib::Response response = get("/status");
  ASSERT_EQ(response.status, 200);
  EXPECT_EQ(response.get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(response.get_header_value("Access-Control-Allow-Origin"), "*");
  const json status = json::parse(response.body);
  struct Field {
    const char* where;
    json wanted;
  };
  const Field fields[] = {
      {"/uptime_secs", 61.5},
      {"/memory/total_bytes", 1000},
      {"/memory/used_bytes", 400},
      {"/memory/available_bytes", 600},
      {"/synthesis/max_concurrent", 4},
      {"/synthesis/active", 1},
      {"/pipelines/0/job_id", "wdpost-1000-3-[1 2 \"<b>\"]"},
      {"/pipelines/0/proof_kind", "porep-c2"},
      {"/pipelines/0/started_secs_ago", 12.5},
      {"/pipelines/0/total_partitions", 6},
      {"/pipelines/0/partitions_done", 1},
      {"/pipelines/0/partitions/0/index", 0},
      {"/pipelines/0/partitions/0/state", "done"},
      {"/pipelines/0/partitions/0/synth_ms", 300},
      {"/pipelines/0/partitions/0/gpu_ms", 900},
      {"/pipelines/0/partitions/1/state", "gpu"},
      {"/pipelines/0/partitions/2/state", "gpu"},
      {"/pipelines/0/partitions/2/gpu_ms", 450},
      {"/pipelines/0/partitions/3/state", "synth_done"},
      {"/pipelines/0/partitions/3/gpu_ms", nullptr},
      {"/pipelines/0/partitions/4/state", "synthesizing"},
      {"/pipelines/0/partitions/4/synth_ms", 120},
      {"/pipelines/0/partitions/5/state", "pending"},
      {"/pipelines/0/partitions/5/synth_ms", nullptr},
      {"/pipelines/2/partitions/0/state", "failed"},
      {"/gpu_workers/0/worker_id", 0},
      {"/gpu_workers/0/gpu_ordinal", 0},
      {"/gpu_workers/0/state", "proving"},
      {"/gpu_workers/0/current_job", "wdpost-1000-3-[1 2 \"<b>\"]"},
      {"/gpu_workers/0/current_partition", 2},
      {"/gpu_workers/0/busy_secs", 1.5},
      {"/gpu_workers/1/state", "idle"},
      {"/gpu_workers/1/current_job", nullptr},
      {"/gpu_workers/3/worker_id", 3},
      {"/gpu_workers/3/gpu_ordinal", 1},
      {"/allocations/srs/0/circuit_id", "porep-32g"},
      {"/allocations/srs/0/bytes", 777},
      {"/allocations/srs/0/last_used_secs_ago", 3.5},
      {"/allocations/srs/0/evictable", false},
      {"/allocations/pce", json::array()},
      {"/counters/total_completed", 20},
      {"/counters/total_failed", 4},
      {"/counters/completed_by_kind/winning-post", 5},
      {"/counters/failed_by_kind/snap-update", 1},
      {"/counters/queue_depth", 7},
      {"/buffers/synth_in_flight", 2},
      {"/buffers/provers_in_flight", 1},
      {"/buffers/aux_in_flight", 3},
      {"/buffers/shells_in_flight", 0},
      {"/buffers/pending_handles", 1},
  };
  for (const auto& [where, wanted] : fields) {
    const json::json_pointer pointer(where);
    ASSERT_TRUE(status.contains(pointer)) << where;
    EXPECT_EQ(status[pointer], wanted) << where;
  }
}

TEST_F(HttpServerTest, StatusHasOurFields) {
  const json status = json::parse(get("/status").body);
  EXPECT_EQ(status["pipelines"][0]["partitions"][1]["stage"], "verify");
  EXPECT_EQ(status["pipelines"][1]["waiting_for"], "host memory: needs 3.1 GiB, 0.4 GiB free");
  EXPECT_EQ(status["pipelines"][2]["error_code"], "GPU-FAULT");
  EXPECT_EQ(status["devices"][1]["quarantine_reason"], "3 bad proofs in a row");
  EXPECT_EQ(status["circuits"][1]["readiness"], "missing");
  EXPECT_EQ(status["memory"]["source"], "cgroup");
  EXPECT_EQ(status["stages"]["porep-c2"]["witness"]["count"], 5);
  EXPECT_DOUBLE_EQ(status["stages"]["porep-c2"]["witness"]["p50_ms_at_most"], 500);
  const json refused = {
      {"proof_kind", "porep-c2"}, {"code", "BAD-INPUT"}, {"count", 3}, {"accepted", false}};
  EXPECT_THAT(status["refusals"], ::testing::Contains(refused));
}

TEST_F(HttpServerTest, IdsThatAreNoTextDoNotBreakStatus) {
  engine_.picture.jobs[0].job_id = "\xff\xfe\x01";
  const httplib::Response response = get("/status");
  EXPECT_EQ(response.status, 200);
  EXPECT_NO_THROW(json::parse(response.body));
}

TEST_F(HttpServerTest, ReadinessTellsWhy) {
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_EQ(get("/readyz").body, "ready\n");
  engine_.picture.ready = false;
  engine_.picture.not_ready_because = "starting: checking the files of porep-32g";
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/readyz").body, "starting: checking the files of porep-32g\n");
  const json status = json::parse(get("/status").body);
  EXPECT_EQ(status["not_ready_because"], "starting: checking the files of porep-32g");
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(HttpServerTest, MetricsAndTrace) {
  const httplib::Response metrics = get("/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_EQ(metrics.get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(metrics.body, HasSubstr("# TYPE cuzk_proofs_completed_total counter\n"));
  const httplib::Response trace = get("/trace");
  EXPECT_EQ(trace.status, 200);
  EXPECT_TRUE(json::parse(trace.body).contains("traceEvents"));
}

TEST_F(HttpServerTest, FailuresAreJson) {
  const httplib::Response unknown = get("/nothing");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(json::parse(unknown.body)["error"], HasSubstr("/nothing"));
  engine_.refusal.emplace(engine::ErrorCode::kInternal, "broken");
  const httplib::Response broken = get("/status");
  EXPECT_EQ(broken.status, 500);
  EXPECT_EQ(json::parse(broken.body)["error"], "INTERNAL: broken");
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(HttpServerTest, OnlyGetAndHeadAreAnswered) {
  EXPECT_EQ(client_->Head("/status")->status, 200);
  const httplib::Response posted = client_->Post("/status").value();
  EXPECT_EQ(posted.status, 405);
  EXPECT_EQ(posted.get_header_value("Allow"), "GET, HEAD");
  EXPECT_EQ(json::parse(posted.body)["error"], "POST: only GET and HEAD are answered here");
  EXPECT_EQ(client_->Delete("/status")->status, 405);
}

/// A connection on which a test sends what no proper client would.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool send(const std::string& text) const {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  /// Until the server ends the connection.
  std::string receive() const {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = ::recv(socket_, part.data(), part.size(), 0)) > 0;)
      text.append(part.data(), static_cast<std::size_t>(size));
    return text;
  }

 private:
  int socket_;
};

// It would have no end.
TEST_F(HttpServerTest, ABodyIsNotWaitedFor) {
  const RawClient client(server_->address().port);
  ASSERT_TRUE(
      client.send("POST /status HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n" +
                  std::string(0x4000, 'x') + "\r\n"));
  EXPECT_THAT(client.receive(), ::testing::StartsWith("HTTP/1.1 405 "));
}

TEST_F(HttpServerTest, HeadersWithoutEndAreNotKept) {
  const RawClient client(server_->address().port);
  std::string sent = "GET /status HTTP/1.1\r\n";
  while (sent.size() < (256 << 10)) sent += "X: " + std::string(1000, 'x') + "\r\n";
  client.send(sent);
  EXPECT_THAT(client.receive(), ::testing::Not(HasSubstr(" 200 ")));
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(HttpServerTest, RangesDoNotMultiplyAnAnswer) {
  std::string ranges = "bytes=0-";
  for (int i = 0; i < 500; ++i) ranges += ",0-";
  const httplib::Result result = client_->Get("/page.js", {{"Range", ranges}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->body, get("/page.js").body);
}

TEST_F(HttpServerTest, OneTraceAtATimeIsMade) {
  std::promise<void> begun, go_on;
  std::atomic<bool> is_first = true;
  engine_.on_trace = [&] {
    if (!is_first.exchange(false)) return;
    begun.set_value();
    go_on.get_future().wait();
  };
  const RawClient first(server_->address().port);
  ASSERT_TRUE(first.send("GET /trace HTTP/1.1\r\nHost: x\r\n\r\n"));
  begun.get_future().wait();
  const httplib::Response second = get("/trace");
  EXPECT_EQ(second.status, 503);
  EXPECT_EQ(second.get_header_value("Retry-After"), "1");
  go_on.set_value();
  EXPECT_THAT(first.receive(), ::testing::StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(get("/trace").status, 200);
}

// More clients than threads, each of which sends too little to be answered and too often to be
// idle.
TEST_F(HttpServerTest, SlowClientsDoNotHoldUpTheEnd) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->address().port));
    ASSERT_TRUE(clients.back()->send("GET /"));
  }
  std::jthread dripping([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const auto& client : clients) client->send("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

// The page works on a machine without a way out: whatever it refers to is served here.
TEST_F(HttpServerTest, ThePageRefersOnlyToWhatIsServed) {
  ASSERT_EQ(page_files().size(), 3u);
  const std::regex reference(R"re((?:src|href)="([^"]*)"|fetch\("([^"]*)")re");
  std::set<std::string> seen;
  for (const PageFile& file : page_files()) {
    const httplib::Response response = get(std::string(file.path));
    ASSERT_EQ(response.status, 200) << file.path;
    EXPECT_EQ(response.get_header_value("Content-Type"), file.content_type);
    EXPECT_THAT(response.get_header_value("Content-Security-Policy"),
                HasSubstr("default-src 'none'"));
    EXPECT_EQ(response.body, file.content);
    EXPECT_EQ(response.body.find("://"), std::string::npos) << file.path;
    EXPECT_EQ(response.body.find("innerHTML"), std::string::npos) << file.path;
    for (std::sregex_iterator it(response.body.begin(), response.body.end(), reference), end;
         it != end; ++it) {
      const std::string target = (*it)[1].matched ? (*it)[1] : (*it)[2];
      if (target.starts_with("data:")) continue;
      EXPECT_EQ(get("/" + target).status, 200) << target;
      seen.insert(target);
    }
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"page.css", "page.js", "status", "metrics", "trace"}));
}

TEST(HttpServer, AddressesThatAreTakenOrNoTcp) {
  testing::FakeEngine engine;
  const HttpServer first(engine, "[::1]:0");
  const std::string taken = "[::1]:" + std::to_string(first.address().port);
  EXPECT_THROW(HttpServer(engine, taken), base::InvalidInput);
  EXPECT_THROW(HttpServer(engine, "unix:///tmp/x.sock"), base::InvalidInput);
}

}  // namespace

}  // namespace cuzk::service
