#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace cuzk::engine::testing {

/// An environment variable that has another value while the object lives. No other thread may read
/// the environment when it begins and ends.
class TemporaryVariable {
 public:
  TemporaryVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) before_ = old;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~TemporaryVariable() {
    if (before_) {
      ::setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  TemporaryVariable(const TemporaryVariable&) = delete;
  TemporaryVariable& operator=(const TemporaryVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace cuzk::engine::testing
