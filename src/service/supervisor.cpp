#include "service/supervisor.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

namespace cuzk::service {

ServiceManager::ServiceManager() {
  if (const char* socket = std::getenv("NOTIFY_SOCKET")) socket_ = socket;
}

void ServiceManager::tell(std::string_view state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  address.sun_family = AF_UNIX;
  socket_.copy(static_cast<char*>(address.sun_path), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Nothing can be done about a manager that does not listen.
  [[maybe_unused]] const ssize_t sent = ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                                                 reinterpret_cast<const sockaddr*>(&address), size);
  ::close(fd);
}

}  // namespace cuzk::service
