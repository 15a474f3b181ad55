#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::base {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;
/// A commitment, seed, id or digest as it stands on the wire.
using Bytes32 = std::array<std::uint8_t, 32>;

ByteView as_bytes(std::string_view text);
std::string_view as_text(ByteView bytes);

/// Lower-case hex, two digits a byte, first byte first.
std::string to_hex(ByteView bytes);
/// Empty if `text` has an odd length or a character that is no hex digit. Upper and lower case are
/// accepted.
std::optional<Bytes> from_hex(std::string_view text);
/// Empty unless `text` is exactly 64 hex digits.
std::optional<Bytes32> bytes32_from_hex(std::string_view text);

/// Standard base64 with padding; the decoder is strict: no white space, canonical padding, empty
/// result on error.
std::string to_base64(ByteView bytes);
std::optional<Bytes> from_base64(std::string_view text);

std::uint32_t load_u32_le(const std::uint8_t* bytes);
std::uint64_t load_u64_le(const std::uint8_t* bytes);
void store_u32_le(std::uint32_t value, std::uint8_t* bytes);
void store_u64_le(std::uint64_t value, std::uint8_t* bytes);

/// Reads a byte string front to back and cannot run past its end: every read that would throws
/// InvalidInput with the name of the input, the offset, what was wanted and what is left.
class ByteReader {
 public:
  /// `name` appears in errors, for example "window-post vanilla proof". Both views must outlive the
  /// reader.
  ByteReader(ByteView bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return bytes_.size() - offset_; }
  std::string_view name() const { return name_; }

  ByteView bytes(std::size_t count, std::string_view what);
  std::uint8_t u8(std::string_view what);
  std::uint32_t u32_le(std::string_view what);
  std::uint64_t u64_le(std::string_view what);
  Bytes32 bytes32(std::string_view what);

  /// A count of elements that take at least `min_element_bytes` each: checked against what is left,
  /// so that a forged count cannot make the caller allocate more than the input's size.
  std::size_t count_u64_le(std::size_t min_element_bytes, std::string_view what);

  /// Throws InvalidInput unless everything was read.
  void expect_end() const;

 private:
  ByteView bytes_;
  std::string_view name_;
  std::size_t offset_ = 0;
};

/// Appends to a byte string; the mirror image of ByteReader.
class ByteWriter {
 public:
  void bytes(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void u8(std::uint8_t value) { out_.push_back(value); }
  void u32_le(std::uint32_t value);
  void u64_le(std::uint64_t value);

  const Bytes& view() const { return out_; }
  Bytes take() { return std::move(out_); }

 private:
  Bytes out_;
};

}  // namespace cuzk::base
