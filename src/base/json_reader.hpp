#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::base {

/// Reads one JSON text [RFC 8259] front to back without building a tree: the caller says what it
/// expects next.
///
/// Strict everywhere, in skipped parts too: grammar, UTF-8, escapes, no trailing commas, nothing
/// after the value, at most kMaxDepth nested containers. Every complaint is InvalidInput and names
/// the input, the path of the value (`a.b[3].c`) and the byte offset, in less than 2 KiB of UTF-8
/// without control characters. No read goes past the end of
/// the text, and nothing is allocated but the path and the strings that the caller asks for, so
/// memory is bounded by the text's size.
///
/// An own reader because the texts are mostly arrays of 32 small numbers. Measured on a C1 output
/// of 38.7 MB, one core: decoded whole in 95 ms; simdjson's On-Demand, built for baseline x86-64,
/// needs 342 ms to visit the numbers alone, leaves skipped parts unchecked, and its index takes
/// four bytes for each number and each comma. [filecoin/porep/vanilla_codec_bench.cpp]
class JsonReader {
 public:
  static constexpr std::size_t kMaxDepth = 64;

  enum class Kind { kObject, kArray, kString, kNumber, kTrue, kFalse, kNull };

  /// `name` appears in errors, for example "C1 output". Both views must outlive the reader.
  JsonReader(std::string_view text, std::string_view name)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()), name_(name) {}
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  /// Kind of the next value, by its first character.
  Kind peek();

  /// Reads an object; calls on_key(key) for each member, which must read or skip the value. Keys
  /// come unescaped, in the order of the text, repetitions included; the view lasts as long as the
  /// call.
  template <class OnKey>
  void object(OnKey&& on_key);

  /// Reads an object with known keys: calls read(i) for a member named keys[i], in the order of the
  /// text; members of other names are skipped. A key that occurs twice is an error, and so is the
  /// absence of keys[i] if bit i of `required` is set. Returns the set of keys that were there.
  template <std::size_t N, class Read>
  std::uint32_t fields(const std::array<std::string_view, N>& keys, std::uint32_t required,
                       Read&& read);
  /// All keys required.
  template <std::size_t N, class Read>
  void fields(const std::array<std::string_view, N>& keys, Read&& read);

  /// Reads an array; calls on_element(index) for each element, which must read or skip it. Returns
  /// their number.
  template <class OnElement>
  std::size_t array(OnElement&& on_element);
  /// Likewise for exactly `count` elements; any other number is an error, found before a surplus
  /// element is read.
  template <class OnElement>
  void array_of(std::size_t count, OnElement&& on_element);

  /// An integer in [0, max], written without fraction or exponent.
  std::uint64_t u64(std::uint64_t max = UINT64_MAX);
  /// An array of 32 integers in [0, 255].
  Bytes32 bytes32();
  /// The unescaped string: a view of the text where it has no escapes, else of `scratch`.
  std::string_view string(std::string& scratch);
  void null();
  /// Reads any value and drops it.
  void skip();
  /// Throws unless only white space is left.
  void finish();

  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  /// Path of the value being read, for example `vanilla_proofs.StackedDrg2KiBV1[0][1]`, long keys
  /// cut; "the top level" if there is none.
  std::string path() const;

  /// Throws InvalidInput: name, path, byte offset and the formatted text.
  template <class... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    reject_text(fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  struct Segment {
    std::string_view key;
    std::size_t index = kNoIndex;
  };
  static constexpr std::size_t kNoIndex = SIZE_MAX;

  [[noreturn]] void reject_text(const std::string& text) const;
  [[noreturn]] void reject_unexpected(std::string_view wanted);
  [[noreturn]] void reject_missing(std::uint32_t missing, const std::string_view* keys) const;
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  /// Skips white space and the character if it is `c`.
  bool accept(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, std::string_view wanted) {
    if (!accept(c)) reject_unexpected(wanted);
  }
  void push(Segment segment) {
    if (path_.size() == kMaxDepth) reject("nested deeper than {} levels", kMaxDepth);
    path_.push_back(segment);
  }
  void skip_word(std::string_view word);
  void skip_number();
  bool bytes32_compact(Bytes32& out);

  const char* begin_;
  const char* at_;
  const char* end_;
  std::string_view name_;
  std::vector<Segment> path_;
};

template <class OnKey>
void JsonReader::object(OnKey&& on_key) {
  expect('{', "an object");
  if (accept('}')) return;
  push({});
  std::string scratch;
  do {
    path_.back().key = {};
    skip_space();
    if (at_ == end_ || *at_ != '"') reject_unexpected("a key");
    path_.back().key = string(scratch);
    expect(':', "':'");
    on_key(path_.back().key);
  } while (accept(','));
  expect('}', "',' or '}'");
  path_.pop_back();
}

template <std::size_t N, class Read>
std::uint32_t JsonReader::fields(const std::array<std::string_view, N>& keys,
                                 std::uint32_t required, Read&& read) {
  static_assert(N <= 32);
  std::uint32_t seen = 0;
  object([&](std::string_view key) {
    std::size_t i = 0;
    while (i < N && keys[i] != key) ++i;
    if (i == N) return skip();
    const std::uint32_t bit = std::uint32_t{1} << i;
    if (seen & bit) reject("the key occurs twice");
    seen |= bit;
    read(i);
  });
  if ((required & ~seen) != 0) reject_missing(required & ~seen, keys.data());
  return seen;
}

template <std::size_t N, class Read>
void JsonReader::fields(const std::array<std::string_view, N>& keys, Read&& read) {
  fields(keys, static_cast<std::uint32_t>((std::uint64_t{1} << N) - 1), read);
}

template <class OnElement>
std::size_t JsonReader::array(OnElement&& on_element) {
  expect('[', "an array");
  if (accept(']')) return 0;
  std::size_t count = 0;
  push({{}, 0});
  do {
    path_.back().index = count;
    on_element(count++);
  } while (accept(','));
  expect(']', "',' or ']'");
  path_.pop_back();
  return count;
}

template <class OnElement>
void JsonReader::array_of(std::size_t count, OnElement&& on_element) {
  const std::size_t found = array([&](std::size_t i) {
    if (i == count) {
      path_.pop_back();
      reject("more than {} elements", count);
    }
    on_element(i);
  });
  if (found != count) reject("{} elements, {} expected", found, count);
}

}  // namespace cuzk::base
