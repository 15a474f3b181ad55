#pragma once

#include "base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Key files are arrays of points, each after its count as u32 big-endian.
namespace cuzk::groth16 {

/// Where an array's points lie in a file.
struct Section {
  std::size_t offset = 0;  ///< of the first point
  std::size_t count = 0;
  std::size_t point_bytes = 0;

  std::size_t bytes() const { return count * point_bytes; }
  std::size_t end() const { return offset + bytes(); }
};

/// Walks over a key file's structure and cannot run past its end. Throws CorruptData that names the
/// file, what was expected, and the offset.
class SectionReader {
 public:
  /// Both views must outlive the reader.
  SectionReader(base::ByteView bytes, std::string_view name, std::size_t offset = 0)
      : bytes_(bytes), name_(name), offset_(offset) {}

  std::size_t offset() const { return offset_; }
  base::ByteView bytes(std::size_t count, std::string_view what);
  std::uint32_t count(std::string_view what);
  /// A count and the points after it, which it steps over.
  Section section(std::size_t point_bytes, std::string_view what);
  /// Throws unless everything was read.
  void expect_end() const;

 private:
  base::ByteView bytes_;
  std::string_view name_;
  std::size_t offset_;
};

/// Throws ResourceExhausted if the count does not fit.
void append_count(base::Bytes& out, std::size_t count);

}  // namespace cuzk::groth16
