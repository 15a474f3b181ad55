#pragma once

#include "base/log.hpp"

#include <mutex>
#include <string>
#include <string_view>

namespace cuzk::engine::testing {

/// Keeps what the process's log says while the object lives; then it goes to standard error again.
class LogCapture {
 public:
  LogCapture() {
    base::LogOptions options;
    options.sink = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      text_ += line;
    };
    base::process_log().configure(options);
  }
  ~LogCapture() { base::process_log().configure({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;  // guarded by mutex_
};

}  // namespace cuzk::engine::testing
