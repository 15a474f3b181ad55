#include "engine/config_values.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cuzk::engine {
namespace {

using ::testing::HasSubstr;

TEST(ConfigSize, UnitsAndFractions) {
  const std::vector<std::pair<const char*, std::uint64_t>> cases = {
      {"0", 0},
      {"1024", 1024},
      {"0B", 0},
      {"7B", 7},
      {"5GiB", 5'368'709'120},
      {"256 GiB", 274'877'906'944},
      {" 256gib ", 274'877'906'944},
      {"1.5 TiB", 1'649'267'441'664},
      {"1TiB", 1'099'511'627'776},
      {"512MB", 512'000'000},
      {"1KiB", 1024},
      {"1kB", 1000},
      {"1.25GB", 1'250'000'000},
      {"2TB", 2'000'000'000'000},
      {"0.1GiB", 107'374'182},  // rounded down
      {"0.000000000001TiB", 1},
      {"1.9999999999999999999999KiB", 2047},
      {"8388607TiB", 8'388'607ULL << 40},
  };
  for (const auto& [text, bytes] : cases) EXPECT_EQ(parse_size(text), bytes) << text;
}

TEST(ConfigSize, WhatIsNoSizeIsRefusedWithARemedy) {
  for (const char* text :
       {"", "GiB", "-1GiB", "1..5GiB", "1.GiB", ".5GiB", "1.5", "1.5B", "12XiB", "1GiBs", "1 2GiB",
        "0x10", "1e9", "auto", "18446744073709551616", "99999999TiB", "9223372036854775808"}) {
    EXPECT_THROW(parse_size(text), base::InvalidInput) << text;
  }
  // The Rust daemon takes this for 50 GiB.
  try {
    parse_size("256G");
    FAIL();
  } catch (const base::InvalidInput& error) {
    EXPECT_STREQ(error.what(),
                 "'256G': the unit G can be read in two ways: write GiB (1024s) or GB (1000s)");
  }
}

TEST(ConfigSize, ExactTextsParseBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t bytes = (random() >> 1) >> (random() % 63) << (random() % 8 * 5) >> 1;
    EXPECT_EQ(parse_size(exact_size(bytes & INT64_MAX)), bytes & INT64_MAX);
  }
  EXPECT_EQ(exact_size(std::uint64_t{5} << 30), "5GiB");
  EXPECT_EQ(exact_size(1'000'000'001), "1000000001B");
  EXPECT_EQ(exact_size(0), "0B");
  EXPECT_EQ(format_size(std::uint64_t{251} << 30), "251.0 GiB");
  EXPECT_EQ(format_size(1000), "1000 bytes");
}

TEST(ConfigDuration, UnitsAndSums) {
  const std::vector<std::pair<const char*, int>> cases = {
      {"0", 0},       {"300", 300},    {"300s", 300},   {"5m", 300},   {"1h", 3600},
      {"2d", 172800}, {"1h30m", 5400}, {"1d1s", 86401}, {" 5 m", 300},
  };
  for (const auto& [text, seconds] : cases)
    EXPECT_EQ(parse_duration(text).count(), seconds) << text;
  for (const char* text : {"", "m", "-5m", "5x", "5ms", "1.5h", "5m5m", "5m1h", "5m3", "1h30",
                           "99999d", "99999999999999999999s", "5min"}) {
    EXPECT_THROW(parse_duration(text), base::InvalidInput) << text;
  }
  for (int seconds : {0, 1, 59, 60, 61, 3600, 5400, 86400, 90000, 1'000'000})
    EXPECT_EQ(parse_duration(exact_duration(std::chrono::seconds(seconds))).count(), seconds);
  EXPECT_EQ(exact_duration(std::chrono::hours(24)), "1d");
  EXPECT_EQ(exact_duration(std::chrono::seconds(90)), "90s");
}

TEST(ConfigAddress, FormsThatServersTake) {
  for (const char* text : {"unix:///run/curio/cuzk.sock", "unix:/run/cuzk.sock", "0.0.0.0:9820",
                           "127.0.0.1:0", "localhost:9820", "[::1]:9820", "[fe80::1]:65535",
                           "tcp://10.0.0.1:9820", "http://127.0.0.1:9820"}) {
    EXPECT_NO_THROW(check_address(text)) << text;
  }
  const std::string long_path = "unix:///" + std::string(107, 'x');
  for (const std::string& text : std::vector<std::string>{
           "", "unix://", "unix:relative.sock", "127.0.0.1", ":9820",
           "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:http", "::1:9820", "[::1]",
           "[]:9820", "https://a:1", "a b:1", long_path}) {
    EXPECT_THROW(check_address(text), base::InvalidInput) << text;
  }
}

TEST(ConfigNames, TheNearestIsFoundIfItIsNear) {
  const std::vector<std::string> names = {"total_budget", "safety_margin", "pinned_budget"};
  EXPECT_EQ(nearest("total_budgett", names), "total_budget");
  EXPECT_EQ(nearest("totalbudget", names), "total_budget");
  EXPECT_EQ(nearest("pined_budge", names), "pinned_budget");
  EXPECT_EQ(nearest("colour", names), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

}  // namespace
}  // namespace cuzk::engine
