#pragma once

#include <filesystem>

namespace cuzk::service {

/// The right to serve on a unix socket path, against every other daemon: a lock that the kernel
/// frees when the process dies, on "<path>.lock", which holds the owner's pid. Claiming removes the
/// socket file that a dead daemon left behind; a living one's, ours or foreign, is left alone, and
/// so is one of which that cannot be told.
class SocketClaim {
 public:
  /// Throws base::InvalidInput: "ALREADY-RUNNING: pid N ..." if somebody answers on the socket or
  /// holds the lock; if that cannot be told, as of a socket that this user may not open; if the
  /// path is something else than a socket; if its folder is not there.
  explicit SocketClaim(const std::filesystem::path& path);
  /// Removes the socket and gives the lock back.
  ~SocketClaim();
  SocketClaim(const SocketClaim&) = delete;
  SocketClaim& operator=(const SocketClaim&) = delete;

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace cuzk::service
