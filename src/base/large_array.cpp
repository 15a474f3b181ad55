#include "base/large_array.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace cuzk::base::large_array {

void* map(std::size_t bytes, LargePages pages) {
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    fail<ResourceExhausted>("{} bytes of memory are not to be had: {}", bytes,
                            std::strerror(errno));
  }
  // Advice that the system may ignore.
  constexpr std::size_t kLargePage = std::size_t{1} << 21;
  if (pages == LargePages::kYes && bytes >= kLargePage)
    static_cast<void>(::madvise(p, bytes, MADV_HUGEPAGE));
  return p;
}

void unmap(void* p, std::size_t bytes) noexcept { static_cast<void>(::munmap(p, bytes)); }

}  // namespace cuzk::base::large_array
