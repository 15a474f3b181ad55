#include "service/socket_claim.hpp"

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace cuzk::service {

namespace {

[[noreturn]] void fail_unknown(const std::filesystem::path& path, int error) {
  base::fail<base::InvalidInput>(
      "daemon.listen: cannot tell whether somebody serves on {}: {}; stop that program, or remove "
      "the file if there is none",
      path.native(), std::strerror(error));
}

/// The process that listens on the socket, if any does. Throws base::InvalidInput if that cannot be
/// told.
std::optional<pid_t> listener_of(const std::filesystem::path& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) fail_unknown(path, errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.native().copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
  const bool connected =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  const int error = connected ? 0 : errno;
  std::optional<pid_t> pid;
  // A listener whose queue is full answers EAGAIN.
  if (connected || error == EAGAIN) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    const bool known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    pid = known ? peer.pid : 0;
  }
  ::close(fd);
  // Refused: the file is left of one that is dead. Any other error says nothing of that.
  if (!pid && error != ECONNREFUSED && error != ENOENT) fail_unknown(path, error);
  return pid;
}

std::string owner_in(int lock) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(lock, text.data(), text.size(), 0);
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return pid.substr(0, pid.find('\n'));
}

[[noreturn]] void fail_already_running(std::string_view pid, const std::filesystem::path& path) {
  base::fail<base::InvalidInput>(
      "ALREADY-RUNNING: pid {} serves on {}; stop it first, or set another daemon.listen", pid,
      path.native());
}

}  // namespace

SocketClaim::SocketClaim(const std::filesystem::path& path) : path_(path) {
  const std::string lock_path = path.native() + ".lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  base::require(lock >= 0,
                "daemon.listen: cannot make {}: {}; the socket's folder must exist and be writable",
                lock_path, std::strerror(errno));
  try {
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) fail_already_running(owner_in(lock), path);
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0) {
      base::require(S_ISSOCK(info.st_mode),
                    "daemon.listen: {} exists and is no socket; remove it or choose another path",
                    path.native());
      // Some other program, which does not know the lock.
      if (const auto pid = listener_of(path)) fail_already_running(std::to_string(*pid), path);
      base::require(::unlink(path.c_str()) == 0 || errno == ENOENT,
                    "daemon.listen: cannot remove the stale socket {}: {}", path.native(),
                    std::strerror(errno));
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, pid.data(), pid.size(), 0) < 0) {
      base::fail<base::ResourceExhausted>("daemon.listen: cannot write {}: {}", lock_path,
                                          std::strerror(errno));
    }
  } catch (...) {
    ::close(lock);
    throw;
  }
  lock_ = lock;
}

SocketClaim::~SocketClaim() {
  ::unlink(path_.c_str());
  // The lock file stays: removing it could take a newer owner's from under it.
  ::close(lock_);
}

}  // namespace cuzk::service
