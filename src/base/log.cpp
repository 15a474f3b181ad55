#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cuzk::base {

namespace {

using TimePoint = std::chrono::system_clock::time_point;

constexpr std::array<std::string_view, 6> kLevelNames = {"trace", "debug", "info",
                                                         "warn",  "error", "off"};

/// Bytes of the well-formed UTF-8 sequence at the front of `text`; 0 if there is none.
/// [Unicode 15, table 3-7]
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || beyond ? 0 : length;
}

/// More of one text than this is left out of a line.
constexpr std::size_t kMaxText = 16'384;

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const unsigned char c = static_cast<unsigned char>(text[0]);
    // U+0080 ... U+009F are control characters too: some terminals obey them.
    const bool control = c < 0x20 || c == 0x7f ||
                         (length == 2 && c == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (control) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}",
                     length == 2 ? static_cast<unsigned>(static_cast<unsigned char>(text[1])) : c);
    } else if (quotes && (c == '"' || c == '\\')) {
      out += '\\';
      out += text[0];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

/// The part of a line after time and level.
std::string render(LogOptions::Format format, const LogFields& fields, std::string_view message) {
  const bool json = format == LogOptions::Format::kJson;
  std::string out;
  const auto append = [&](std::string_view text, bool quotes) {
    append_escaped(out, text.substr(0, kMaxText), quotes);
    if (text.size() > kMaxText)
      fmt::format_to(std::back_inserter(out), " ... {} bytes more", text.size() - kMaxText);
  };
  const auto text_field = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    fmt::format_to(std::back_inserter(out), fmt::runtime(json ? "\"{}\":\"" : "{}=\""), name);
    append(value, true);
    out += json ? "\"," : "\" ";
  };
  text_field("job", fields.job);
  if (fields.partition)
    fmt::format_to(std::back_inserter(out),
                   fmt::runtime(json ? "\"partition\":{}," : "partition={} "), *fields.partition);
  text_field("device", fields.device);
  text_field("kind", fields.kind);
  text_field("code", fields.code);
  if (json) out += "\"message\":\"";
  append(message, json);
  if (json) out += "\"}";
  return out;
}

/// Hands each formatted line to a function; spdlog serialises the calls.
class FunctionSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    take_({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  std::function<void(std::string_view)> take_;
};

/// Writes spdlog's level under this program's name, padded for text.
class LevelFlag : public spdlog::custom_flag_formatter {
 public:
  explicit LevelFlag(bool padded) : padded_(padded) {}
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    fmt::format_to(std::back_inserter(out), "{:<{}}",
                   kLevelNames[static_cast<std::size_t>(message.level)], padded_ ? 5 : 0);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelFlag>(padded_);
  }

 private:
  bool padded_;
};

/// Writes journal_prefix().
class JournalFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string_view prefix = journal_prefix(static_cast<LogLevel>(message.level));
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JournalFlag>();
  }
};

/// A fixed window for each key: what is over the limit is counted.
class RateLimiter {
 public:
  struct Overflow {
    LogLevel level;
    std::string text;
    std::uint64_t count;
  };

  /// Whether another line of this key may be written; counts it either way.
  bool admit(const std::string& key, LogLevel level, std::string_view text, std::uint32_t limit,
             TimePoint now) {
    if (windows_.size() >= kMaxKeys && !windows_.contains(key)) return true;
    Window& window = windows_.try_emplace(key, Window{now, level, 0, 0, {}}).first->second;
    if (window.written < limit) {
      ++window.written;
      return true;
    }
    if (window.held_back++ == 0) window.text = text;
    return false;
  }
  /// Whether the key has reached its limit.
  bool is_full(const std::string& key, std::uint32_t limit) const {
    const auto entry = windows_.find(key);
    return entry != windows_.end() && entry->second.written >= limit;
  }

  /// Drops the windows that began at `begin` or before, or after `now`, as where the clock was set
  /// back; and returns what they held back.
  std::vector<Overflow> expire(TimePoint begin, TimePoint now) {
    std::vector<Overflow> overflows;
    std::erase_if(windows_, [&](const auto& entry) {
      const Window& window = entry.second;
      if (window.begin > begin && window.begin <= now) return false;
      if (window.held_back > 0) overflows.push_back({window.level, window.text, window.held_back});
      return true;
    });
    return overflows;
  }

 private:
  /// A bound on memory; nothing is held back for keys beyond it. Lines are keyed only after their
  /// pattern was admitted, so that a client cannot fill it with texts of its own.
  static constexpr std::size_t kMaxKeys = 65'536;
  struct Window {
    TimePoint begin;
    LogLevel level;
    std::uint32_t written;
    std::uint64_t held_back;
    std::string text;
  };
  std::map<std::string, Window> windows_;
};

}  // namespace

std::string_view to_string(LogLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

std::string_view journal_prefix(LogLevel level) {
  if (level >= LogLevel::kError) return "<3>";
  return level == LogLevel::kWarn ? "<4>" : level == LogLevel::kInfo ? "<6>" : "<7>";
}

bool is_journal(int descriptor, const char* stream) {
  struct stat status {};
  return stream != nullptr && ::fstat(descriptor, &status) == 0 &&
         fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == text) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

std::string escape_controls(std::string_view text) {
  std::string out;
  append_escaped(out, text, false);
  return out;
}

std::string escape_json(std::string_view text) {
  std::string out;
  append_escaped(out, text, true);
  return out;
}

class Logger::Impl {
 public:
  void configure(LogOptions options) {
    const std::lock_guard lock(mutex_);
    if (logger_) report(limiter_.expire(TimePoint::max(), TimePoint::max()), now());
    next_report_ = {};
    options_ = std::move(options);
    std::shared_ptr<spdlog::sinks::sink> sink;
    if (options_.sink)
      sink = std::make_shared<FunctionSink>(options_.sink);
    else
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    const bool json = options_.format == LogOptions::Format::kJson;
    const bool journal = !options_.sink && is_journal(STDERR_FILENO, std::getenv("JOURNAL_STREAM"));
    auto formatter =
        std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc, "\n");
    const std::string line =
        json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%N",%v)" : "%Y-%m-%dT%H:%M:%S.%eZ %N %v";
    formatter->add_flag<LevelFlag>('N', !json)
        .add_flag<JournalFlag>('J')
        .set_pattern(journal ? "%J" + line : line);
    logger_ = std::make_unique<spdlog::logger>("cuzk", std::move(sink));
    logger_->set_formatter(std::move(formatter));
    logger_->set_level(spdlog::level::trace);
    logger_->flush_on(spdlog::level::trace);
  }

  void write(LogLevel level, const LogFields& fields, std::string_view pattern,
             const std::string& message) {
    const std::lock_guard lock(mutex_);
    const std::string body = render(options_.format, fields, message);
    const TimePoint time = now();
    if (time >= next_report_ || time + options_.window < next_report_) {
      report(limiter_.expire(time - options_.window, time), time);
      next_report_ = time + std::min<std::chrono::seconds>(options_.window, kReportInterval);
    }
    const auto admit = [&](const std::string& key, std::uint32_t limit) {
      return limiter_.admit(key, level, message, limit, time);
    };
    const char prefix = static_cast<char>('0' + static_cast<int>(level));
    const std::string equal = fmt::format("{}e{}", prefix, body);
    const std::string similar = fmt::format("{}s{}\n{}", prefix, fields.code, pattern);
    // A line that is repeated does not use up the room of those that are only similar.
    if (limiter_.is_full(equal, options_.equal_lines)) {
      admit(equal, options_.equal_lines);
      return;
    }
    if (!admit(similar, options_.similar_lines) || !admit(equal, options_.equal_lines)) return;
    emit(level, body, time);
  }

  void flush() {
    const std::lock_guard lock(mutex_);
    report(limiter_.expire(TimePoint::max(), TimePoint::max()), now());
    logger_->flush();
  }

 private:
  TimePoint now() const {
    return options_.clock ? options_.clock() : std::chrono::system_clock::now();
  }
  void emit(LogLevel level, std::string_view body, TimePoint time) {
    logger_->log(time, spdlog::source_loc{}, static_cast<spdlog::level::level_enum>(level),
                 spdlog::string_view_t(body.data(), body.size()));
  }
  void report(const std::vector<RateLimiter::Overflow>& overflows, TimePoint time) {
    for (const RateLimiter::Overflow& overflow : overflows) {
      emit(overflow.level,
           render(options_.format, {},
                  fmt::format("{} more lines like this were held back: {}", overflow.count,
                              overflow.text)),
           time);
    }
  }

  /// Looking through all windows at each line would make a flood of lines slow.
  static constexpr std::chrono::seconds kReportInterval{1};

  std::mutex mutex_;
  // guarded by mutex_:
  LogOptions options_;
  std::unique_ptr<spdlog::logger> logger_;
  RateLimiter limiter_;
  TimePoint next_report_{};
};

Logger::Logger(LogOptions options) : level_(options.level), impl_(std::make_unique<Impl>()) {
  impl_->configure(std::move(options));
}

Logger::~Logger() { flush(); }

void Logger::configure(LogOptions options) {
  level_ = options.level;
  impl_->configure(std::move(options));
}

void Logger::write(LogLevel level, const LogFields& fields, std::string_view pattern,
                   const std::string& message) {
  impl_->write(level, fields, pattern, message);
}

void Logger::flush() { impl_->flush(); }

Logger& process_log() {
  static Logger logger;
  return logger;
}

}  // namespace cuzk::base
