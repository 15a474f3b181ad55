#include "engine/file_lock.hpp"

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace cuzk::engine {

namespace {

std::string read_holder(int descriptor) {
  std::array<char, 16> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  std::int64_t pid = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, pid);
  return pid > 0 ? std::to_string(pid) : "(unknown)";
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    base::fail<base::ResourceExhausted>("{}: cannot be made: {}", path.string(),
                                        std::strerror(errno));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string holder = read_holder(descriptor_);
    ::close(descriptor_);
    if (error == EWOULDBLOCK) {
      base::fail<base::InvalidInput>(
          "ALREADY-RUNNING: pid {} holds {}: stop that daemon, or give this one another "
          "daemon.state_dir",
          holder, path.string());
    }
    base::fail<base::ResourceExhausted>("{}: cannot be locked: {}", path.string(),
                                        std::strerror(error));
  }
  // What stands in the file is for messages only: nothing depends on its being written.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor_, 0) == 0) [[maybe_unused]]
    const ssize_t written = ::pwrite(descriptor_, pid.data(), pid.size(), 0);
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace cuzk::engine
