#pragma once

#include <filesystem>

namespace cuzk::engine {

/// A file that one process at a time holds, from construction to destruction; the system frees it
/// when the process dies, however. The file stays, with the pid of its last holder for messages.
class FileLock {
 public:
  /// Throws InvalidInput that starts with ALREADY-RUNNING and names the holder's pid if somebody
  /// holds it, ResourceExhausted if the file cannot be made.
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace cuzk::engine
