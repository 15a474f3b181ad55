#pragma once

#include "engine/file_lock.hpp"
#include "engine/sqlite.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace cuzk::engine {

inline constexpr std::int64_t kJournalPageBytes = 16'384;

/// Times as the journal keeps them: milliseconds since 1970.
inline std::int64_t to_ms(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
inline std::int64_t now_ms() { return to_ms(std::chrono::system_clock::now()); }

/// The database of a Journal, ready for use: this process's alone, intact, of the current schema,
/// write-ahead, on disk at each commit. Two files lie beside it: <path>.lock, and SQLite's log.
class JournalFile {
 public:
  /// Opens or makes the file, and brings one of an older schema up to date. Jobs that are marked as
  /// started have a crash counted and the mark removed. A damaged file is moved aside; recovered()
  /// tells. One that the disk does not give is left where it is. Throws InvalidInput if another
  /// process has it, if it belongs to another program or to a newer version of this one;
  /// ResourceExhausted if it cannot be read or written.
  explicit JournalFile(const std::filesystem::path& path);

  sqlite::Database& database() { return *database_; }
  const std::string& recovered() const { return recovered_; }

 private:
  void open();
  /// Throws ResourceExhausted where it is the disk that fails.
  void require_readable() const;
  void check();
  void migrate();
  void count_crashes();
  void move_aside(const std::string& reason);

  std::filesystem::path path_;
  std::optional<FileLock> lock_;
  std::optional<sqlite::Database> database_;
  std::string recovered_;
};

}  // namespace cuzk::engine
