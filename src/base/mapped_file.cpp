#include "base/mapped_file.hpp"

#include "base/error.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
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

/// One mapping, as the handler of SIGBUS reads it. Ranges are never freed: those of mappings that
/// are gone are used again.
class MappedRange {
 public:
  /// Publishes a mapping; the handler is there from the first on.
  static MappedRange* add(const void* data, std::size_t size);
  void remove();

  /// Where the first read failed; kNone if none did.
  std::size_t fault() const { return fault_.load(); }
  static constexpr std::size_t kNone = ~std::size_t{0};

 private:
  static void install();
  static void handle(int signal, siginfo_t* info, void* context);
  static bool absorb(std::uintptr_t address);

  static std::mutex mutex_;  ///< held while a range is added or removed
  static std::atomic<MappedRange*> first_;
  static struct sigaction previous_;

  std::atomic<std::uintptr_t> begin_ = 0;  ///< 0: not in use
  std::atomic<std::size_t> size_ = 0;
  std::atomic<std::size_t> fault_ = kNone;
  MappedRange* next_ = nullptr;  ///< constant once published
};

// The process has one handler of a signal, so what it reads is the process's, too.
std::mutex MappedRange::mutex_;
std::atomic<MappedRange*> MappedRange::first_ = nullptr;
struct sigaction MappedRange::previous_ {};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

MappedRange* MappedRange::add(const void* data, std::size_t size) {
  static std::once_flag once;
  std::call_once(once, install);
  const std::lock_guard lock(mutex_);
  MappedRange* range = first_;
  while (range != nullptr && range->begin_ != 0) range = range->next_;
  const bool is_new = range == nullptr;
  if (is_new) range = new MappedRange;
  range->fault_ = kNone;
  range->size_ = size;
  range->begin_ = reinterpret_cast<std::uintptr_t>(data);
  if (is_new) {
    range->next_ = first_;
    first_ = range;
  }
  return range;
}

void MappedRange::remove() {
  const std::lock_guard lock(mutex_);
  begin_ = 0;
}

void MappedRange::install() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &previous_);
}

// Only what a signal handler may do: lock-free atomics and system calls.
void MappedRange::handle(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const bool is_fault = info->si_code > 0;  // else sent by a process
  if (!is_fault || !absorb(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
    ::sigaction(signal, &previous_, nullptr);
    ::raise(signal);  // once this returns
  }
  errno = error;
}

// Puts a page of zeros where `address` is, if it is in a mapping. The fault is noted first, so that
// no thread sees zeros and no fault.
bool MappedRange::absorb(std::uintptr_t address) {
  for (MappedRange* range = first_; range != nullptr; range = range->next_) {
    const std::uintptr_t begin = range->begin_;
    const std::size_t size = range->size_;
    // Another thread may be using a range again: then its size is not this begin's.
    if (begin == 0 || address < begin || address - begin >= size || range->begin_ != begin)
      continue;
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t start = address / page * page;
    std::size_t none = kNone;
    range->fault_.compare_exchange_strong(none, start - begin);
    return ::mmap(reinterpret_cast<void*>(start), page, PROT_READ,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

FileVersion file_version(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    fail<CorruptData>("{}: cannot be examined: {}", path.string(), std::strerror(errno));
  }
  return version_of(status);
}

MappedFile::MappedFile(const std::filesystem::path& path, ReadFault fault) : path_(path) {
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
  if (data_ != nullptr && fault == ReadFault::kZeros) range_ = MappedRange::add(data_, size_);
}

MappedFile::~MappedFile() {
  if (range_ != nullptr) range_->remove();
  if (data_ != nullptr) ::munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      version_(other.version_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      range_(std::exchange(other.range_, nullptr)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(version_, other.version_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(range_, other.range_);
  return *this;
}

void MappedFile::require_readable() const {
  const std::size_t fault = range_ == nullptr ? MappedRange::kNone : range_->fault();
  if (fault == MappedRange::kNone) return;
  fail<CorruptData>(
      "{}: cannot be read at byte {}: the disk failed, or the file was cut meanwhile. Look at "
      "dmesg, then fetch it again",
      path_.string(), fault);
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
