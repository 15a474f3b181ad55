#pragma once

#include <sqlite3.h>

#include <atomic>
#include <stdexcept>

namespace cuzk::engine::testing {

/// While it lives, the first `faults` reads of a database behind its first page fail, in files that
/// SQLite opens meanwhile, as on a disk that goes bad. One at a time.
class FaultyDisk {
 public:
  explicit FaultyDisk(int faults) {
    real_ = sqlite3_vfs_find(nullptr);
    faults_ = faults;
    vfs_ = *real_;
    vfs_.zName = "faulty";
    vfs_.xOpen = open;
    if (sqlite3_vfs_register(&vfs_, 1) != SQLITE_OK)
      throw std::runtime_error("sqlite3_vfs_register");
  }
  ~FaultyDisk() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
    faults_ = 0;
  }
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  /// Those to come.
  static int faults() { return faults_; }

 private:
  static constexpr sqlite3_int64 kFirstPage = 16'384;

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    const int result = real_->xOpen(real_, name, file, flags, out);
    if (result != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0) return result;
    read_ = file->pMethods->xRead;
    methods_ = *file->pMethods;
    methods_.xRead = read;
    file->pMethods = &methods_;
    return result;
  }
  static int read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
    if (offset + size > kFirstPage && faults_ > 0) {
      --faults_;
      return SQLITE_IOERR_READ;
    }
    return read_(file, bytes, size, offset);
  }

  static inline sqlite3_vfs* real_ = nullptr;
  static inline sqlite3_vfs vfs_{};
  static inline sqlite3_io_methods methods_{};
  static inline int (*read_)(sqlite3_file*, void*, int, sqlite3_int64) = nullptr;
  static inline std::atomic<int> faults_ = 0;
};

}  // namespace cuzk::engine::testing
