#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace cuzk::base {

/// The few exception types of the program. Each is a decision for whoever catches it; the text is
/// for people and names the input, its value and the remedy. Text is never parsed.

/// The caller's input is wrong: do not retry with the same input.
class InvalidInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file or cache on this machine is damaged or foreign: replace it.
class CorruptData : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Memory, disk or a limit is exhausted: wait, or ask for less.
class ResourceExhausted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `text` as an error quotes it: what is longer than `limit` bytes is cut between two characters of
/// UTF-8 and ends in "...", so that an error stays short whatever its input holds.
inline std::string excerpt(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  const auto continues_character = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
  };
  while (limit > 0 && continues_character(text[limit])) --limit;
  return std::string(text.substr(0, limit)) + "...";
}

/// Most bytes of a name from outside that an error quotes.
constexpr std::size_t kMaxQuotedName = 64;

/// Throws `Error` with a formatted text.
template <class Error, class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws InvalidInput with a formatted text unless `condition` holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail<InvalidInput>(format, std::forward<Args>(args)...);
}

}  // namespace cuzk::base
