#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

namespace cuzk::service {

/// One request and its answer over a socket, none of which lasts or grows without end: a client
/// that sends a byte now and then, or takes its answer as slowly, is given up. Of one thread.
class HttpConnection final : public httplib::Stream {
 public:
  struct Limits {
    std::chrono::milliseconds request{10'000};  ///< since the begin, for the whole request
    std::chrono::milliseconds answer{120'000};  ///< since the begin, until the answer is sent
    std::size_t request_bytes = 64 << 10;
  };

  /// The socket stays the caller's.
  HttpConnection(int socket, const Limits& limits);
  /// After the answer. What the client still sends is let go for as long as the request has time:
  /// closed before, the socket would take the answer back.
  void finish();

  bool is_readable() const override;
  bool is_writable() const override;
  /// Number of bytes; 0: the client sends no more; -1: beyond a limit, or an error.
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  int socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  ssize_t receive();

  const int socket_;
  const Clock::time_point request_end_, answer_end_;
  std::size_t left_;  ///< of the request's bytes
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0, end_ = 0;  ///< in buffer_: received and not read yet
};

}  // namespace cuzk::service
