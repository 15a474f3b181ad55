#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuzk::service {

/// Where a server listens, or a client connects: a unix socket or a TCP address.
struct ListenAddress {
  bool is_unix = false;
  std::string path;        ///< unix: the socket file
  std::string host;        ///< TCP: name or number, IPv6 without brackets
  std::uint16_t port = 0;  ///< TCP; 0: one that is free

  /// Whether only this machine reaches it: a unix socket, 127.0.0.0/8, ::1, "localhost".
  bool is_local() const;
  /// As gRPC takes it: "unix:/run/cuzk.sock", "127.0.0.1:9820", "[::1]:9820".
  std::string grpc_target() const;
};

/// Reads "unix:///path", "unix:path", "host:port", "[v6]:port", each also behind "tcp://" or
/// "http://". `setting` names the input in errors. Throws base::InvalidInput, also for a socket
/// path longer than the system allows.
ListenAddress parse_listen_address(std::string_view text, std::string_view setting);

}  // namespace cuzk::service
