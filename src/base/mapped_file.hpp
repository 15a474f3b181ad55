#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sys/stat.h>

namespace cuzk::base {

/// Which version of a file one has seen: a changed file has another size, time or inode.
struct FileVersion {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;

  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

/// Throws CorruptData if the file cannot be examined.
FileVersion file_version(const std::filesystem::path& path);

/// What a read gives of bytes that the disk does not deliver, or that were cut off meanwhile.
enum class ReadFault : std::uint8_t {
  kZeros,  ///< zeros, and require_readable() throws from then on
  kKills,  ///< the process dies by SIGBUS: for a reader that cannot ask
};

class MappedRange;

/// A file's bytes, read-only, mapped into memory. Moves, never copies. Whoever relies on bytes that
/// were read asks require_readable() afterwards: a read error of the disk, or a file that became
/// shorter, shows there and nowhere else. Whoever replaces a file writes a new one and renames it.
/// The first object with ReadFault::kZeros takes over the process's SIGBUS; one that no mapping
/// explains goes to who had it before. Threads may share a const object.
class MappedFile {
 public:
  /// Throws CorruptData if the file cannot be opened or mapped.
  explicit MappedFile(const std::filesystem::path& path, ReadFault fault = ReadFault::kZeros);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  const FileVersion& version() const { return version_; }
  ByteView bytes() const { return {static_cast<const std::uint8_t*>(data_), size_}; }
  /// Throws CorruptData that names the file and the place if bytes could not be read so far. Fast.
  void require_readable() const;
  /// Tells the system that these bytes will not be needed again soon, so that they leave the
  /// process's memory. They can still be read.
  void discard(std::size_t offset, std::size_t count) const;

 private:
  std::filesystem::path path_;
  FileVersion version_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  MappedRange* range_ = nullptr;  ///< where SIGBUS finds the mapping; none for kKills
};

/// read(), which reads the file's bytes. Where they could not be read, that is thrown in place of
/// what it found amiss.
template <class Read>
auto read_mapped(const MappedFile& file, Read&& read) {
  try {
    auto out = read();
    file.require_readable();
    return out;
  } catch (...) {
    file.require_readable();
    throw;
  }
}

/// Writes a file so that a reader sees all of it or none: into a temporary file beside it, renamed
/// by commit(). Without commit() the destructor removes the temporary file.
class FileWriter {
 public:
  /// Throws ResourceExhausted if the file cannot be made.
  explicit FileWriter(const std::filesystem::path& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// Throws ResourceExhausted if the bytes cannot be written.
  void write(ByteView bytes);
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

}  // namespace cuzk::base
