#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
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
