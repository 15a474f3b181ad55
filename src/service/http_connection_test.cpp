#include "service/http_connection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace cuzk::service {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class HttpConnectionTest : public ::testing::Test {
 protected:
  HttpConnectionTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_.data()), 0); }
  ~HttpConnectionTest() override {
    for (const int socket : sockets_) ::close(socket);
  }
  int server() const { return sockets_[0]; }
  void send(std::string_view text) const {
    EXPECT_EQ(::send(sockets_[1], text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  /// Reads to the end, or to the first failure.
  static std::string read_all(HttpConnection& connection, ssize_t& last) {
    std::string text;
    std::array<char, 3> part{};
    while ((last = connection.read(part.data(), part.size())) > 0)
      text.append(part.data(), static_cast<std::size_t>(last));
    return text;
  }

  std::array<int, 2> sockets_{};
};

TEST_F(HttpConnectionTest, ReadsWhatIsSentUntilItsEnd) {
  HttpConnection connection(server(), {});
  send("GET / HTTP/1.1\r\n\r\n");
  ::shutdown(sockets_[1], SHUT_WR);
  ssize_t last = 1;
  EXPECT_EQ(read_all(connection, last), "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(last, 0);
}

TEST_F(HttpConnectionTest, ARequestHasSoManyBytes) {
  HttpConnection connection(server(), {.request_bytes = 10});
  send("0123456789abc");
  ssize_t last = 1;
  EXPECT_EQ(read_all(connection, last), "0123456789");
  EXPECT_EQ(last, -1);
}

TEST_F(HttpConnectionTest, ARequestIsThereInTimeHoweverManyPartsItHas) {
  const auto begin = Clock::now();
  HttpConnection connection(server(), {.request = milliseconds(300)});
  std::jthread client([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      send("x");
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  ssize_t last = 1;
  EXPECT_NE(read_all(connection, last), "");
  EXPECT_EQ(last, -1);
  EXPECT_GE(Clock::now() - begin, milliseconds(300));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(HttpConnectionTest, AnAnswerThatNobodyTakesIsGivenUp) {
  HttpConnection connection(server(), {.answer = milliseconds(200)});
  const std::string part(1 << 20, 'x');
  ssize_t last = 1;
  for (int i = 0; i < 1000 && last > 0; ++i) last = connection.write(part.data(), part.size());
  EXPECT_EQ(last, -1);
}

// Closed with something unread, a socket resets the connection, and the answer may be lost.
TEST_F(HttpConnectionTest, TheAnswerOutlivesWhatTheClientStillSends) {
  {
    HttpConnection connection(server(), {});
    std::jthread client([this] {
      for (int i = 0; i < 1000; ++i) send(std::string(1000, 'x'));
      ::shutdown(sockets_[1], SHUT_WR);
    });
    EXPECT_EQ(connection.write("answer", 6), 6);
    connection.finish();
  }
  std::array<char, 10> answer{};
  EXPECT_EQ(::recv(sockets_[1], answer.data(), answer.size(), 0), 6);
  EXPECT_EQ(::recv(sockets_[1], answer.data(), answer.size(), 0), 0);
}

}  // namespace

}  // namespace cuzk::service
