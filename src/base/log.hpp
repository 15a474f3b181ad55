#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cuzk::base {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kOff };
/// "trace", "debug", "info", "warn", "error", "off".
std::string_view to_string(LogLevel level);
/// What the journal takes for a line's priority, at its front: "<3>", "<4>", "<6>", "<7>" of an
/// error, a warning, information and what is less. [sd-daemon(3)]
std::string_view journal_prefix(LogLevel level);
/// Whether `stream`, the environment's JOURNAL_STREAM ("device:inode"; may be null), names what the
/// descriptor is connected to: then the journal reads it.
bool is_journal(int descriptor, const char* stream);
/// Empty for any other text.
std::optional<LogLevel> parse_log_level(std::string_view text);

/// What a line is about, for programs that read logs. Empty ones are left out.
struct LogFields {
  std::string_view job = {};  ///< job id, any text
  std::optional<std::uint32_t> partition = {};
  std::string_view device = {};  ///< "cuda:0", "cpu"
  std::string_view kind = {};    ///< "porep-c2"
  std::string_view code = {};    ///< "GPU-OOM"
};

struct LogOptions {
  enum class Format : std::uint8_t {
    kText,  ///< 2026-08-20T12:34:56.789Z warn  job="porep-1000-42" partition=3 the message
    kJson,  ///< {"time":"...Z","level":"warn","job":"...","partition":3,"message":"..."}
  };
  LogLevel level = LogLevel::kInfo;
  Format format = Format::kText;
  /// Of equal lines, and of lines that differ only in what is filled into them, so many are written
  /// in each window; the others are counted, and the count is written when the window is over.
  std::uint32_t equal_lines = 5, similar_lines = 200;
  std::chrono::seconds window{10};
  /// Takes each line, newline included, one at a time. Empty: standard error.
  std::function<void(std::string_view line)> sink;
  /// Empty: the system's.
  std::function<std::chrono::system_clock::time_point()> clock;
};

/// Writes lines of text or JSON. Control characters, quotes and invalid UTF-8 in messages and
/// fields are escaped, so that nothing that a client sends can end a line or forge another; what is
/// longer than 16 KiB is cut. Any thread may call; a line is written whole. Times are UTC.
class Logger {
 public:
  explicit Logger(LogOptions options = {});
  /// As flush().
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  /// Takes over other options, all at once. What was counted but not written is written first.
  void configure(LogOptions options);
  void set_level(LogLevel level) { level_ = level; }
  LogLevel level() const { return level_; }
  bool is_on(LogLevel level) const { return level >= level_ && level != LogLevel::kOff; }

  template <class... Args>
  void log(LogLevel level, const LogFields& fields, fmt::format_string<Args...> format,
           Args&&... args) {
    if (!is_on(level)) return;
    const fmt::string_view pattern = format;
    write(level, fields, {pattern.data(), pattern.size()},
          fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void debug(const LogFields& fields, fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kDebug, fields, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(const LogFields& fields, fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kInfo, fields, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warn(const LogFields& fields, fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kWarn, fields, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void error(const LogFields& fields, fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kError, fields, format, std::forward<Args>(args)...);
  }

  /// Writes the counts of what was held back so far, whether or not its window is over.
  void flush();

 private:
  class Impl;
  void write(LogLevel level, const LogFields& fields, std::string_view pattern,
             const std::string& message);

  std::atomic<LogLevel> level_;
  std::unique_ptr<Impl> impl_;
};

/// The process's log, to standard error until main() configures it. Only the layers engine, service
/// and cli write to it.
Logger& process_log();

/// Text for a terminal: control characters escaped as in a line of the log ("\n", "\u001b"),
/// bytes that are no UTF-8 replaced by U+FFFD.
std::string escape_controls(std::string_view text);

/// Text as the content of a string literal of JSON: quotes, backslashes and control characters
/// escaped, bytes that are no UTF-8 replaced by U+FFFD.
std::string escape_json(std::string_view text);

}  // namespace cuzk::base
