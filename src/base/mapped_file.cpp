#include "base/mapped_file.hpp"

#include "base/error.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace cuzk::base {

namespace {

FileVersion version_of(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec,
          status.st_ino, status.st_dev};
}

}  // namespace

FileVersion file_version(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    fail<CorruptData>("{}: cannot be examined: {}", path.string(), std::strerror(errno));
  }
  return version_of(status);
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    fail<CorruptData>("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  struct stat status {};
  const bool examined = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (examined) {
    version_ = version_of(status);
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  }
  const int error = errno;
  ::close(descriptor);
  if (!examined) fail<CorruptData>("{}: not a regular file", path.string());
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    fail<CorruptData>("{}: cannot be mapped: {}", path.string(), std::strerror(error));
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      version_(other.version_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(version_, other.version_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::discard(std::size_t offset, std::size_t count) const {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = (offset + page - 1) / page * page;
  const std::size_t last = (offset + count) / page * page;
  if (last > first && last <= size_)
    ::madvise(static_cast<std::uint8_t*>(data_) + first, last - first, MADV_DONTNEED);
}

FileWriter::FileWriter(const std::filesystem::path& path) : path_(path), temporary_(path) {
  // Of its own, so that two writers of one file do not meet.
  static std::atomic<unsigned> count = 0;
  temporary_ += fmt::format(".{}.{}.tmp", ::getpid(), count++);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    fail<ResourceExhausted>("{}: cannot be made: {}", temporary_.string(), std::strerror(errno));
  }
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void FileWriter::write(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      fail<ResourceExhausted>("{}: cannot be written: {}", temporary_.string(),
                              std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void FileWriter::commit() {
  const bool durable = ::fsync(descriptor_) == 0;
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!durable || !closed || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    fail<ResourceExhausted>("{}: cannot be written: {}", path_.string(), std::strerror(error));
  }
}

}  // namespace cuzk::base
