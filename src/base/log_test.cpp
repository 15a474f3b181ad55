#include "base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cuzk::base {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class LogTest : public ::testing::Test {
 protected:
  /// A log whose lines end up in lines_, and whose clock stands until it is moved.
  LogOptions options(LogOptions::Format format = LogOptions::Format::kText) {
    LogOptions options;
    options.format = format;
    options.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    options.clock = [this] { return now_; };
    return options;
  }

  std::vector<std::string> lines_;
  // 2026-08-20T12:34:56.789Z
  std::chrono::system_clock::time_point now_{std::chrono::milliseconds(1'787'229'296'789)};
};

TEST_F(LogTest, TextLinesCarryTimeLevelAndFields) {
  Logger log(options());
  log.warn({.job = "porep-1000-42",
            .partition = 3,
            .device = "cuda:0",
            .kind = "porep-c2",
            .code = "GPU-OOM"},
           "needs {} GiB", 14);
  log.info({}, "ready");
  EXPECT_THAT(lines_,
              ElementsAre("2026-08-20T12:34:56.789Z warn  job=\"porep-1000-42\" partition=3 "
                          "device=\"cuda:0\" kind=\"porep-c2\" code=\"GPU-OOM\" needs 14 "
                          "GiB\n",
                          "2026-08-20T12:34:56.789Z info  ready\n"));
}

TEST_F(LogTest, JsonLinesParseBack) {
  Logger log(options(LogOptions::Format::kJson));
  log.error({.job = "wdpost-1000-0-[1 2]", .partition = 0, .device = "cpu"}, "a \"quoted\" {}",
            "text\\");
  log.info({.kind = "snap-update"}, "ready");
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_THAT(lines_[0], EndsWith("}\n"));
  EXPECT_EQ(nlohmann::json::parse(lines_[0]), (nlohmann::json{{"time", "2026-08-20T12:34:56.789Z"},
                                                              {"level", "error"},
                                                              {"job", "wdpost-1000-0-[1 2]"},
                                                              {"partition", 0},
                                                              {"device", "cpu"},
                                                              {"message", "a \"quoted\" text\\"}}));
  EXPECT_EQ(nlohmann::json::parse(lines_[1])["kind"], "snap-update");
  EXPECT_EQ(nlohmann::json::parse(lines_[1]).size(), 4U);
}

// Whatever a client puts into an id or makes an error quote.
TEST_F(LogTest, NothingForgesALine) {
  const std::string hostile(
      "evil\n2026-08-20T12:34:56.789Z error done\r\t\x1b[31m\0\x7f\xc2\x9b\"\\", 53);
  for (const LogOptions::Format format : {LogOptions::Format::kText, LogOptions::Format::kJson}) {
    lines_.clear();
    Logger log(options(format));
    log.info({.job = hostile}, "{}", hostile);
    ASSERT_EQ(lines_.size(), 1U);
    const std::string line = lines_[0].substr(0, lines_[0].size() - 1);
    for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
    EXPECT_THAT(line, ::testing::Not(HasSubstr("\xc2\x9b")));
    if (format == LogOptions::Format::kJson) {
      const nlohmann::json json = nlohmann::json::parse(line);
      EXPECT_EQ(json["job"], hostile);
      EXPECT_EQ(json["message"], hostile);
    }
  }
}

TEST(EscapeJson, GivesUtf8WhateverTheBytes) {
  EXPECT_EQ(escape_json("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  // Truncated, overlong, surrogate, beyond U+10FFFF, stray continuation.
  for (const std::string bad : {"\xc3", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                                "\xf4\x90\x80\x80", "\x80", "\xff"}) {
    const std::string escaped = escape_json("<" + bad + ">");
    EXPECT_THAT(escaped, HasSubstr("\xef\xbf\xbd"));
    EXPECT_TRUE(nlohmann::json::accept("\"" + escaped + "\"")) << bad;
  }
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b)};
      EXPECT_TRUE(nlohmann::json::accept("\"" + escape_json(text) + "\"")) << a << " " << b;
    }
  }
}

TEST(EscapeControls, LeavesTheRestAsItIs) {
  EXPECT_EQ(escape_controls("a \"quoted\" \\ \xc3\xa9\n\x1b[31m\xff"),
            "a \"quoted\" \\ \xc3\xa9\\n\\u001b[31m\xef\xbf\xbd");
  const std::string once = escape_controls("\r\t\x7f");
  EXPECT_EQ(escape_controls(once), once);
}

TEST_F(LogTest, TheLevelChangesWhileRunning) {
  Logger log(options());
  log.debug({}, "unseen");
  log.set_level(LogLevel::kDebug);
  log.debug({}, "seen");
  log.set_level(LogLevel::kOff);
  log.error({}, "unseen");
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], EndsWith("debug seen\n"));
}

TEST_F(LogTest, LevelsHaveNames) {
  for (const char* name : {"trace", "debug", "info", "warn", "error", "off"})
    EXPECT_EQ(to_string(parse_log_level(name).value()), name);
  EXPECT_FALSE(parse_log_level("INFO"));
  EXPECT_FALSE(parse_log_level(""));
}

TEST_F(LogTest, EqualLinesAreCountedOnceTheyAreTooMany) {
  Logger log(options());
  for (int i = 0; i < 1000; ++i) log.warn({.job = "a"}, "still waiting");
  log.warn({.job = "b"}, "still waiting");
  EXPECT_EQ(lines_.size(), 6U);  // five of one job, one of the other
  now_ += std::chrono::seconds(10);
  log.info({}, "something else");
  ASSERT_EQ(lines_.size(), 8U);
  EXPECT_THAT(lines_[6],
              EndsWith("warn  995 more lines like this were held back: still waiting\n"));
  log.warn({.job = "a"}, "still waiting");
  EXPECT_THAT(lines_.back(), EndsWith("job=\"a\" still waiting\n"));
}

// A peer in an error loop: ten thousand refusals in ten seconds, each with another id, beside a
// good job's lines.
TEST_F(LogTest, AClockThatIsSetBackHoldsNothingBack) {
  Logger log(options());
  for (int i = 0; i < 7; ++i) log.info({}, "same");
  ASSERT_EQ(lines_.size(), 5U);
  now_ -= std::chrono::hours(1);
  log.info({}, "same");
  ASSERT_EQ(lines_.size(), 7U);
  EXPECT_THAT(lines_[5], HasSubstr("2 more lines like this"));
  EXPECT_THAT(lines_[6], EndsWith("same\n"));
  for (int minute = 1; minute < 60; ++minute) {
    now_ += std::chrono::minutes(1);
    log.info({}, "same");
  }
  EXPECT_EQ(lines_.size(), 7U + 59U);
}

TEST_F(LogTest, AFloodOfSimilarLinesIsBounded) {
  Logger log(options());
  for (int i = 0; i < 10'000; ++i) {
    now_ += std::chrono::milliseconds(1);
    log.warn({.code = "BAD-INPUT"}, "job {}: no vanilla proofs", i);
    if (i % 1000 == 0) log.info({.job = "good"}, "partition {} of 10 done", i / 1000);
  }
  log.flush();
  std::uint64_t refusals = 0, held_back = 0, good = 0;
  for (const std::string& line : lines_) {
    const std::size_t at = line.find(" more lines like this");
    if (line.find("code=\"BAD-INPUT\"") != std::string::npos) ++refusals;
    if (line.find("job=\"good\"") != std::string::npos) ++good;
    if (at != std::string::npos) held_back += std::stoull(line.substr(line.rfind(' ', at - 1)));
  }
  EXPECT_EQ(good, 10U);
  EXPECT_EQ(refusals + held_back, 10'000U);
  EXPECT_LE(lines_.size(), 450U);
}

TEST_F(LogTest, WhatIsHeldBackIsWrittenAtTheEnd) {
  {
    Logger log(options());
    for (int i = 0; i < 6; ++i) log.info({}, "same");
  }
  ASSERT_EQ(lines_.size(), 6U);
  EXPECT_THAT(lines_[5], HasSubstr("1 more lines like this"));
}

TEST_F(LogTest, LongTextsAreCut) {
  Logger log(options(LogOptions::Format::kJson));
  log.info({}, "{}", std::string(1'000'000, 'x'));
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_LT(lines_[0].size(), 17'000U);
  EXPECT_THAT(nlohmann::json::parse(lines_[0])["message"].get<std::string>(),
              EndsWith("x ... 983616 bytes more"));
}

TEST_F(LogTest, ConfigureChangesFormatAndLevel) {
  Logger log(options());
  log.info({}, "one");
  LogOptions other = options(LogOptions::Format::kJson);
  other.level = LogLevel::kWarn;
  log.configure(std::move(other));
  log.info({}, "two");
  log.warn({}, "three");
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(lines_[1])["message"], "three");
}

TEST_F(LogTest, ThreadsDoNotMixLines) {
  LogOptions unlimited = options(LogOptions::Format::kJson);
  unlimited.similar_lines = unlimited.equal_lines = UINT32_MAX;
  Logger log(std::move(unlimited));
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < 250; ++i) log.info({.job = "job", .partition = t}, "line {}", i);
      });
    }
  }
  ASSERT_EQ(lines_.size(), 1000U);
  for (const std::string& line : lines_) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
}

TEST(JournalPrefix, FollowsTheLevel) {
  EXPECT_EQ(journal_prefix(LogLevel::kError), "<3>");
  EXPECT_EQ(journal_prefix(LogLevel::kWarn), "<4>");
  EXPECT_EQ(journal_prefix(LogLevel::kInfo), "<6>");
  EXPECT_EQ(journal_prefix(LogLevel::kDebug), "<7>");
}

TEST(JournalPrefix, IsForTheJournalAlone) {
  struct stat status {};
  ASSERT_EQ(::fstat(STDERR_FILENO, &status), 0);
  const std::string own = fmt::format("{}:{}", status.st_dev, status.st_ino);
  EXPECT_TRUE(is_journal(STDERR_FILENO, own.c_str()));
  EXPECT_FALSE(is_journal(STDERR_FILENO, nullptr));
  EXPECT_FALSE(is_journal(STDERR_FILENO, (own + "0").c_str()));
  EXPECT_FALSE(is_journal(-1, own.c_str()));
}

}  // namespace
}  // namespace cuzk::base
