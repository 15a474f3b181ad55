#include "base/bytes.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cuzk::base {

static_assert(std::endian::native == std::endian::little,
              "files and wire formats are read in place");

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint32_t kNoBase64 = 1u << 31;

/// What a character contributes to a group of 24 bits, by its place among the group's four;
/// kNoBase64 if it is none of the digits.
constexpr auto make_base64_values() {
  std::array<std::array<std::uint32_t, 256>, 4> values{};
  for (std::size_t place = 0; place < 4; ++place) {
    values[place].fill(kNoBase64);
    for (std::uint32_t i = 0; i < 64; ++i)
      values[place][static_cast<unsigned char>(kBase64Digits[i])] = i << (18 - 6 * place);
  }
  return values;
}

}  // namespace

ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string to_hex(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out(bytes.size() * 2, '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out[2 * i] = kDigits[bytes[i] >> 4];
    out[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return out;
}

std::optional<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes out(text.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return out;
}

std::optional<Bytes32> bytes32_from_hex(std::string_view text) {
  if (text.size() != 64) return std::nullopt;
  const auto bytes = from_hex(text);
  if (!bytes) return std::nullopt;
  Bytes32 out{};
  std::copy(bytes->begin(), bytes->end(), out.begin());
  return out;
}

std::string to_base64(ByteView bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out.push_back(k <= count ? kBase64Digits[group >> (18 - 6 * k) & 63] : '=');
  }
  return out;
}

std::optional<Bytes> from_base64(std::string_view text) {
  static constexpr auto kValues = make_base64_values();
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.empty()) return Bytes();
  const auto digit = [&](std::size_t i, std::size_t place) {
    return kValues[place][static_cast<unsigned char>(text[i + place])];
  };
  const std::size_t last = text.size() - 4;
  const std::size_t padding = text[last + 3] != '=' ? 0 : text[last + 2] != '=' ? 1 : 2;
  Bytes out(text.size() / 4 * 3 - padding);
  std::uint8_t* to = out.data();
  const auto store = [&](std::uint32_t group, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
      *to++ = static_cast<std::uint8_t>(group >> (16 - 8 * k));
  };
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < last; i += 4) {
    const std::uint32_t group = digit(i, 0) | digit(i, 1) | digit(i, 2) | digit(i, 3);
    seen |= group;
    store(group, 3);
  }
  std::uint32_t group = 0;
  for (std::size_t place = 0; place < 4 - padding; ++place) group |= digit(last, place);
  store(group, 3 - padding);
  const std::uint32_t unused = (1u << 8 * padding) - 1;  // bits that must be zero
  if (((seen | group) & kNoBase64) != 0 || (group & unused) != 0) return std::nullopt;
  return out;
}

std::uint32_t load_u32_le(const std::uint8_t* bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::uint64_t load_u64_le(const std::uint8_t* bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void store_u32_le(std::uint32_t value, std::uint8_t* bytes) {
  std::memcpy(bytes, &value, sizeof value);
}
void store_u64_le(std::uint64_t value, std::uint8_t* bytes) {
  std::memcpy(bytes, &value, sizeof value);
}

ByteView ByteReader::bytes(std::size_t count, std::string_view what) {
  require(count <= remaining(), "{}: truncated at byte {}: {} needs {} bytes, {} are left", name_,
          offset_, what, count, remaining());
  const ByteView out = bytes_.subspan(offset_, count);
  offset_ += count;
  return out;
}

std::uint8_t ByteReader::u8(std::string_view what) { return bytes(1, what)[0]; }
std::uint32_t ByteReader::u32_le(std::string_view what) {
  return load_u32_le(bytes(4, what).data());
}
std::uint64_t ByteReader::u64_le(std::string_view what) {
  return load_u64_le(bytes(8, what).data());
}

Bytes32 ByteReader::bytes32(std::string_view what) {
  const ByteView from = bytes(32, what);
  Bytes32 out;
  std::copy(from.begin(), from.end(), out.begin());
  return out;
}

std::size_t ByteReader::count_u64_le(std::size_t min_element_bytes, std::string_view what) {
  const std::size_t at = offset_;
  const std::uint64_t count = u64_le(what);
  require(count <= remaining() / min_element_bytes,
          "{}: {} at byte {} is {}, but only {} bytes are left", name_, what, at, count,
          remaining());
  return static_cast<std::size_t>(count);
}

void ByteReader::expect_end() const {
  require(remaining() == 0, "{}: {} bytes too many: the data ends at byte {}, the input at byte {}",
          name_, remaining(), offset_, bytes_.size());
}

void ByteWriter::u32_le(std::uint32_t value) {
  std::uint8_t bytes[4];
  store_u32_le(value, bytes);
  out_.insert(out_.end(), bytes, bytes + 4);
}

void ByteWriter::u64_le(std::uint64_t value) {
  std::uint8_t bytes[8];
  store_u64_le(value, bytes);
  out_.insert(out_.end(), bytes, bytes + 8);
}

}  // namespace cuzk::base
