#include "service/http_connection.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace cuzk::service {

namespace {

/// Whether the socket is ready for `events`, or broken, before `end`.
bool wait_until(int socket, short events, std::chrono::steady_clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(end - std::chrono::steady_clock::now(), std::chrono::nanoseconds::zero()));
    pollfd entry{socket, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

bool is_worth_another_try() { return errno == EINTR || errno == EAGAIN; }

}  // namespace

HttpConnection::HttpConnection(int socket, const Limits& limits)
    : socket_(socket),
      request_end_(Clock::now() + limits.request),
      answer_end_(Clock::now() + limits.answer),
      left_(limits.request_bytes) {}

void HttpConnection::finish() {
  ::shutdown(socket_, SHUT_WR);
  begin_ = end_ = 0;
  while (receive() > 0) continue;
}

bool HttpConnection::is_readable() const {
  return begin_ < end_ || wait_until(socket_, POLLIN, request_end_);
}

bool HttpConnection::is_writable() const { return wait_until(socket_, POLLOUT, answer_end_); }

ssize_t HttpConnection::receive() {
  while (wait_until(socket_, POLLIN, request_end_)) {
    const ssize_t size = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size >= 0 || !is_worth_another_try()) return size;
  }
  return -1;
}

ssize_t HttpConnection::read(char* to, std::size_t size) {
  if (begin_ == end_) {
    const ssize_t received = receive();
    if (received <= 0) return received;
    begin_ = 0;
    end_ = static_cast<std::size_t>(received);
  }
  const std::size_t count = std::min({size, end_ - begin_, left_});
  if (count == 0 && size > 0) return -1;
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t HttpConnection::write(const char* from, std::size_t size) {
  while (wait_until(socket_, POLLOUT, answer_end_)) {
    const ssize_t sent = ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || !is_worth_another_try()) return sent;
  }
  return -1;
}

// Nothing here asks who the client is.
void HttpConnection::get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const {}
void HttpConnection::get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const {}

}  // namespace cuzk::service
