#include "groth16/section.hpp"

#include "base/error.hpp"

#include <limits>

namespace cuzk::groth16 {

using base::CorruptData;

base::ByteView SectionReader::bytes(std::size_t count, std::string_view what) {
  const std::size_t left = bytes_.size() - offset_;
  if (count > left) {
    base::fail<CorruptData>("{}: ends within {}: {} bytes wanted at offset {}, {} left", name_,
                            what, count, offset_, left);
  }
  const base::ByteView out = bytes_.subspan(offset_, count);
  offset_ += count;
  return out;
}

std::uint32_t SectionReader::count(std::string_view what) {
  const base::ByteView view = bytes(4, what);
  return std::uint32_t{view[0]} << 24 | std::uint32_t{view[1]} << 16 | std::uint32_t{view[2]} << 8 |
         view[3];
}

Section SectionReader::section(std::size_t point_bytes, std::string_view what) {
  const std::size_t points = count(what);
  const Section out{offset_, points, point_bytes};
  bytes(out.bytes(), what);
  return out;
}

void SectionReader::expect_end() const {
  if (offset_ != bytes_.size())
    base::fail<CorruptData>("{}: {} bytes after its end", name_, bytes_.size() - offset_);
}

void append_count(base::Bytes& out, std::size_t count) {
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    base::fail<base::ResourceExhausted>("{} points do not fit the key format's 32-bit count",
                                        count);
  }
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(count >> shift));
}

}  // namespace cuzk::groth16
