#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace cuzk::base {

/// Whether to ask for pages of 2 MiB. They make random access cheaper. Where the machine is a guest
/// that hands free memory back to its host, each costs more than 512 small ones, which come from
/// memory that was in use just before: measured, some milliseconds a page.
enum class LargePages { kNo, kYes };

namespace large_array {

/// Zeroed memory. Not touched: whoever writes a page first, makes it. Throws ResourceExhausted.
void* map(std::size_t bytes, LargePages pages);
void unmap(void* p, std::size_t bytes) noexcept;

}  // namespace large_array

/// Owner of `size` objects of a plain type whose bytes are all zero at first: an array of gigabytes
/// that many threads fill. A std::vector would write it once before, on one thread and page by
/// page. Moves, never copies.
template <class T>
class LargeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  LargeArray() = default;
  explicit LargeArray(std::size_t size, LargePages pages = LargePages::kYes)
      : data_(size == 0 ? nullptr : static_cast<T*>(large_array::map(size * sizeof(T), pages))),
        size_(size) {}
  ~LargeArray() {
    if (data_ != nullptr) large_array::unmap(data_, size_ * sizeof(T));
  }
  LargeArray(LargeArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  LargeArray& operator=(LargeArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// For a std::vector of gigabytes that many threads fill: elements that resize() adds are not
/// written, and have any value until somebody writes them. Large ones are mapped, without large
/// pages.
template <class T>
class LargeAllocator {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;

  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n < kLeastMapped) return std::allocator<T>().allocate(n);
    return static_cast<T*>(large_array::map(n * sizeof(T), LargePages::kNo));
  }
  void deallocate(T* p, std::size_t n) noexcept {
    if (n < kLeastMapped) {
      std::allocator<T>().deallocate(p, n);
    } else {
      large_array::unmap(p, n * sizeof(T));
    }
  }
  template <class U>
  void construct(U*) {}
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }

 private:
  static constexpr std::size_t kLeastMapped = (std::size_t{1} << 20) / sizeof(T) + 1;
};

}  // namespace cuzk::base
