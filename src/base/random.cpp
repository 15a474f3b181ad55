#include "base/random.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/random.h>

namespace cuzk::base {

void random_bytes(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t count = ::getrandom(out.data(), out.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      fail<ResourceExhausted>("the operating system gives no random bytes: {}",
                              std::strerror(errno));
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace cuzk::base
