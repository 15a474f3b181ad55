#pragma once

#include <string>
#include <string_view>

namespace cuzk::service {

/// The service manager that started the process, if one asks to be told: datagrams to the socket
/// named in NOTIFY_SOCKET. [sd_notify(3)]
class ServiceManager {
 public:
  /// Reads NOTIFY_SOCKET.
  ServiceManager();
  /// `state`: lines such as "READY=1". Does nothing where nobody listens.
  void tell(std::string_view state) const;

 private:
  std::string socket_;  // a leading '@' stands for the abstract namespace
};

}  // namespace cuzk::service
