#include "base/json_reader.hpp"

#include "base/log.hpp"

#include <bit>
#include <cstring>

namespace cuzk::base {

namespace {

constexpr std::uint64_t kEachByte = 0x0101010101010101;

/// Bit 7 of each byte of the result is set where the byte of `word` is below `limit` (limit <=
/// 0x80), exactly in the lowest such byte, perhaps wrongly above it.
constexpr std::uint64_t below(std::uint64_t word, std::uint64_t limit) {
  return (word - kEachByte * limit) & ~word & (kEachByte * 0x80);
}

/// Bit 7 of a byte is set where a string's fast scan must stop: quote, backslash, control
/// character, non-ASCII.
constexpr std::uint64_t string_stops(std::uint64_t word) {
  return below(word, 0x20) | below(word ^ kEachByte * '"', 1) | below(word ^ kEachByte * '\\', 1) |
         (word & kEachByte * 0x80);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Length of the well-formed UTF-8 sequence at `at`, 0 if there is none. [RFC 3629, section 4]
std::size_t utf8_length(const char* at, const char* end) {
  const auto byte = [&](std::ptrdiff_t i) {
    return i < end - at ? static_cast<unsigned char>(at[i]) : 0u;
  };
  const auto in = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (in(first, 0xc2, 0xdf)) return in(byte(1), 0x80, 0xbf) ? 2 : 0;
  if (in(first, 0xe0, 0xef)) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
    return in(byte(1), low, high) && in(byte(2), 0x80, 0xbf) ? 3 : 0;
  }
  if (in(first, 0xf0, 0xf4)) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
    return in(byte(1), low, high) && in(byte(2), 0x80, 0xbf) && in(byte(3), 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

/// Reads four hex digits at `at`; -1 if they are not there.
std::int32_t hex4(const char* at, const char* end) {
  if (end - at < 4) return -1;
  std::int32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_digit(at[i]);
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}

/// Reads the escape whose backslash is at `at`, appends what it stands for and returns its length;
/// 0 if it is none.
std::size_t unescape(const char* at, const char* end, std::string& out) {
  if (end - at < 2) return 0;
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (const auto i = kLetters.find(at[1]); i != std::string_view::npos) {
    out.push_back(kMeanings[i]);
    return 2;
  }
  if (at[1] != 'u') return 0;
  const std::int32_t first = hex4(at + 2, end);
  if (first < 0 || (first >= 0xdc00 && first <= 0xdfff)) return 0;
  if (first < 0xd800 || first > 0xdbff) {
    append_utf8(static_cast<std::uint32_t>(first), out);
    return 6;
  }
  if (end - at < 12 || at[6] != '\\' || at[7] != 'u') return 0;
  const std::int32_t second = hex4(at + 8, end);
  if (second < 0xdc00 || second > 0xdfff) return 0;
  append_utf8(static_cast<std::uint32_t>(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)),
              out);
  return 12;
}

}  // namespace

std::string JsonReader::path() const {
  std::string out;
  for (const Segment& segment : path_) {
    if (segment.index != kNoIndex) {
      out += fmt::format("[{}]", segment.index);
    } else if (!segment.key.empty()) {
      if (!out.empty()) out += '.';
      out += excerpt(segment.key, kMaxQuotedName);
    }
  }
  return out.empty() ? "the top level" : out;
}

void JsonReader::reject_text(const std::string& text) const {
  // Both may hold whatever the input does, and escapes are longer than what they stand for.
  const auto quoted = [](std::string_view part, std::size_t limit) {
    return excerpt(escape_controls(excerpt(part, limit)), limit);
  };
  constexpr std::size_t kMaxPath = 500, kMaxText = 1000;
  fail<InvalidInput>("{}: {}, at byte {}: {}", name_, quoted(path(), kMaxPath), offset(),
                     quoted(text, kMaxText));
}

void JsonReader::reject_unexpected(std::string_view wanted) {
  skip_space();
  if (at_ == end_) reject("{} expected, but the text ends", wanted);
  const unsigned char c = static_cast<unsigned char>(*at_);
  if (c > ' ' && c < 0x7f) reject("{} expected, found '{}'", wanted, *at_);
  reject("{} expected, found byte 0x{:02x}", wanted, c);
}

void JsonReader::reject_missing(std::uint32_t missing, const std::string_view* keys) const {
  reject("the key '{}' is missing", keys[std::countr_zero(missing)]);
}

JsonReader::Kind JsonReader::peek() {
  skip_space();
  if (at_ != end_) {
    switch (*at_) {
      case '{':
        return Kind::kObject;
      case '[':
        return Kind::kArray;
      case '"':
        return Kind::kString;
      case 't':
        return Kind::kTrue;
      case 'f':
        return Kind::kFalse;
      case 'n':
        return Kind::kNull;
      default:
        if (*at_ == '-' || is_digit(*at_)) return Kind::kNumber;
    }
  }
  reject_unexpected("a value");
}

std::uint64_t JsonReader::u64(std::uint64_t max) {
  skip_space();
  if (at_ == end_ || !(is_digit(*at_) || *at_ == '-')) reject_unexpected("a number");
  const char* const start = at_;
  skip_number();
  const std::string_view digits(start, static_cast<std::size_t>(at_ - start));
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (!is_digit(c))
      reject("an integer from 0 to {} expected, found {}", max, digits.substr(0, 40));
    const unsigned digit = static_cast<unsigned>(c - '0');
    if (value > max / 10 || (value == max / 10 && digit > max % 10)) {
      reject("an integer from 0 to {} expected, found {}", max, digits.substr(0, 40));
    }
    value = value * 10 + digit;
  }
  return value;
}

void JsonReader::skip_number() {
  const auto digits = [&] {
    if (at_ == end_ || !is_digit(*at_)) reject_unexpected("a digit");
    while (at_ != end_ && is_digit(*at_)) ++at_;
  };
  if (*at_ == '-') ++at_;
  if (at_ != end_ && *at_ == '0') {
    ++at_;
    if (at_ != end_ && is_digit(*at_)) reject("a number must not start with 0");
  } else {
    digits();
  }
  if (at_ != end_ && *at_ == '.') {
    ++at_;
    digits();
  }
  if (at_ != end_ && (*at_ | 0x20) == 'e') {
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    digits();
  }
}

/// The usual spelling, `[12,0,255,...]` without white space, of 32 numbers: a few instructions a
/// number, no branch that depends on its value. On anything else the reader stays where it is, and
/// the general way reports the error.
bool JsonReader::bytes32_compact(Bytes32& out) {
  // The longest spelling is '[' and 32 times "ddd,"; four bytes are loaded at the start of each
  // number.
  constexpr std::ptrdiff_t kLongest = 1 + 32 * 4;
  if (end_ - at_ < kLongest || *at_ != '[') return false;
  const char* at = at_ + 1;
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint32_t word;
    std::memcpy(&word, at, 4);
    // Digits are 0x30 to 0x39, ',' is 0x2c, ']' is 0x5d: the first byte whose high nibble is not 3
    // ends the number.
    const std::uint32_t not_three = (word & 0xf0f0f0f0) ^ 0x30303030;
    const unsigned length = static_cast<unsigned>(std::countr_zero(not_three)) >> 3;
    if (length - 1 > 2) return false;
    const unsigned shift = 32 - 8 * length;
    // Units, tens and hundreds in the bytes 3, 2 and 1.
    const std::uint32_t digits = (word ^ 0x30303030) << shift;
    const std::uint32_t value =
        (digits >> 24) + (digits >> 16 & 255) * 10 + (digits >> 8 & 255) * 100;
    const bool leading_zero = length > 1 && (word & 255) == '0';
    bad |= ((digits + 0x76767676) & 0x80808080) | (value >> 8) | leading_zero;
    bad |= static_cast<std::uint32_t>((i == 31 ? ']' : ',') ^ at[length]);
    out[i] = static_cast<std::uint8_t>(value);
    at += length + 1;
  }
  if (bad != 0) return false;
  at_ = at;
  return true;
}

Bytes32 JsonReader::bytes32() {
  Bytes32 out;
  skip_space();
  if (bytes32_compact(out)) return out;
  array_of(out.size(), [&](std::size_t i) { out[i] = static_cast<std::uint8_t>(u64(255)); });
  return out;
}

std::string_view JsonReader::string(std::string& scratch) {
  expect('"', "a string");
  const char* start = at_;  // of what is not yet in scratch
  bool escaped = false;
  for (;;) {
    while (end_ - at_ >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at_, 8);
      const std::uint64_t stops = string_stops(word);
      at_ += stops == 0 ? 8 : std::countr_zero(stops) >> 3;
      if (stops != 0) break;
    }
    if (at_ == end_) reject("the text ends within a string");
    const unsigned char c = static_cast<unsigned char>(*at_);
    if (c == '"') break;
    if (c < 0x20) reject("byte 0x{:02x} within a string", c);
    if (c == '\\') {
      if (!escaped) scratch.clear();
      escaped = true;
      scratch.append(start, at_);
      const std::size_t length = unescape(at_, end_, scratch);
      if (length == 0) reject("not an escape of JSON");
      at_ += length;
      start = at_;
    } else {
      const std::size_t length = utf8_length(at_, end_);
      if (length == 0) reject("not UTF-8: byte 0x{:02x}", c);
      at_ += length;
    }
  }
  const char* const stop = at_++;
  if (!escaped) return {start, static_cast<std::size_t>(stop - start)};
  scratch.append(start, stop);
  return scratch;
}

void JsonReader::skip_word(std::string_view word) {
  const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  if (!rest.starts_with(word)) reject("'{}' expected", word);
  at_ += word.size();
}

void JsonReader::null() {
  if (peek() != Kind::kNull) reject_unexpected("null");
  skip_word("null");
}

void JsonReader::skip() {
  switch (peek()) {
    case Kind::kObject:
      return object([&](std::string_view) { skip(); });
    case Kind::kArray:
      array([&](std::size_t) { skip(); });
      return;
    case Kind::kString: {
      std::string scratch;
      string(scratch);
      return;
    }
    case Kind::kNumber:
      return skip_number();
    case Kind::kTrue:
      return skip_word("true");
    case Kind::kFalse:
      return skip_word("false");
    case Kind::kNull:
      return skip_word("null");
  }
}

void JsonReader::finish() {
  skip_space();
  if (at_ != end_) reject_unexpected("the end of the text");
}

}  // namespace cuzk::base
