#include "base/json_reader.hpp"

#include "base/log.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>
#include <string>

namespace cuzk::base {
namespace {

using ::testing::HasSubstr;

/// What reading `text` as one value of any kind complains about; empty if nothing.
std::string complaint(std::string_view text) {
  // A copy of the exact size on the heap, so that a sanitizer sees a read past the end.
  const std::vector<char> exact(text.begin(), text.end());
  try {
    JsonReader reader({exact.data(), exact.size()}, "text");
    reader.skip();
    reader.finish();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

template <class Read>
std::string complaint_of(std::string_view text, Read&& read) {
  try {
    JsonReader reader(text, "text");
    read(reader);
    reader.finish();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

std::string bytes32_text(std::string_view separator, int last = 31) {
  std::string out = "[";
  for (int i = 0; i < 31; ++i) out += fmt::format("{}{}", i * 8 % 256, separator);
  return out + fmt::format("{}]", last);
}

TEST(JsonReader, AcceptsTheGrammar) {
  for (const char* text :
       {"0", "-0", "1", "-12.5e+3", "1E5", "0.001", "true", "false", "null", "\"\"", "[]", "{}",
        " [ 1 , 2 ] ", "{\"a\":{\"b\":[null,true,{}]},\"\":0}",
        R"("\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00")", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
        "\t\r\n1", "\"seven chars and more\"", "\"\x7f\""}) {
    EXPECT_EQ(complaint(text), "") << text;
  }
}

TEST(JsonReader, RefusesEverythingElse) {
  for (const char* text : {"",
                           " ",
                           "01",
                           "-",
                           "+1",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "1.e1",
                           "0x1",
                           "tru",
                           "truex",
                           "nul",
                           "NaN",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "[1",
                           "[",
                           "]",
                           "{",
                           "}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\":1 \"b\":2}",
                           "{1:2}",
                           "\"",
                           "\"abc",
                           "\"\\\"",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\u12",
                           "\"\n\"",
                           "\"\x01\"",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\xc3\"",
                           "1 2",
                           "[] []",
                           "\xef\xbb\xbf{}",
                           "'a'",
                           "/**/1"}) {
    EXPECT_NE(complaint(text), "") << text;
  }
}

TEST(JsonReader, LimitsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  const auto objects = [](std::size_t depth) {
    std::string out;
    for (std::size_t i = 0; i < depth; ++i) out += "{\"a\":";
    return out + "0" + std::string(depth, '}');
  };
  EXPECT_EQ(complaint(nested(JsonReader::kMaxDepth)), "");
  EXPECT_THAT(complaint(nested(JsonReader::kMaxDepth + 2)), HasSubstr("deeper than 64 levels"));
  EXPECT_EQ(complaint(objects(JsonReader::kMaxDepth)), "");
  EXPECT_THAT(complaint(objects(JsonReader::kMaxDepth + 1)), HasSubstr("deeper than 64 levels"));
  EXPECT_THAT(complaint(std::string(1 << 20, '[')), HasSubstr("deeper than 64 levels"));
}

TEST(JsonReader, UnescapesStringsAndViewsPlainOnes) {
  std::string scratch;
  const std::string plain = "\"a long enough plain string\"";
  JsonReader first(plain, "text");
  const std::string_view view = first.string(scratch);
  EXPECT_EQ(view, "a long enough plain string");
  EXPECT_EQ(view.data(), plain.data() + 1);

  JsonReader second(R"("ab\/\u00e9\u20ac\ud83d\ude00\n tail")", "text");
  EXPECT_EQ(second.string(scratch), "ab/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n tail");
}

TEST(JsonReader, ReadsIntegersExactly) {
  const auto read = [](std::string_view text, std::uint64_t max) {
    JsonReader reader(text, "text");
    return reader.u64(max);
  };
  EXPECT_EQ(read("18446744073709551615", UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(read("0", 0), 0u);
  EXPECT_EQ(read("255 ", 255), 255u);
  for (const char* text :
       {"256", "-1", "1.0", "1e2", "18446744073709551616", "99999999999999999999999", "-0"}) {
    EXPECT_THROW(read(text, 255), InvalidInput) << text;
  }
  EXPECT_THROW(read("18446744073709551616", UINT64_MAX), InvalidInput);
  EXPECT_THROW(read("\"1\"", 255), InvalidInput);
}

TEST(JsonReader, ReadsBytes32InEverySpelling) {
  Bytes32 expected;
  for (int i = 0; i < 32; ++i)
    expected[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i * 8 % 256);
  expected[31] = 31;
  for (const std::string& text :
       {bytes32_text(","), bytes32_text(", "), " " + bytes32_text(" ,\n") + " "}) {
    JsonReader reader(text, "text");
    EXPECT_EQ(reader.bytes32(), expected) << text;
    reader.finish();
  }
  // Every value at every place, in the compact spelling that has its own code.
  for (unsigned value = 0; value < 256; ++value) {
    std::string text = "[";
    for (unsigned i = 0; i < 32; ++i)
      text += fmt::format("{}{}", (value + i * 37) % 256, i == 31 ? "]" : ",");
    for (const std::string& whole : {text, text + std::string(200, ' ')}) {
      JsonReader reader(whole, "text");
      const Bytes32 bytes = reader.bytes32();
      for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(bytes[i], (value + i * 37) % 256);
      EXPECT_EQ(reader.offset(), text.size());
    }
  }
}

TEST(JsonReader, RefusesOtherArraysForBytes32) {
  const auto bytes32 = [](JsonReader& reader) { reader.bytes32(); };
  const std::string good = bytes32_text(",");
  // Padding lets the fast path look at each of them.
  const std::string padding(200, ' ');
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text + padding;
  };
  EXPECT_EQ(complaint_of(good + padding, bytes32), "");
  EXPECT_THAT(complaint_of(with(",240,", ",256,"), bytes32),
              HasSubstr("an integer from 0 to 255 expected, found 256"));
  EXPECT_THAT(complaint_of(with(",240,", ",999,"), bytes32), HasSubstr("found 999"));
  EXPECT_THAT(complaint_of(with(",240,", ",1248,"), bytes32), HasSubstr("found 1248"));
  EXPECT_THAT(complaint_of(with(",8,", ",08,"), bytes32), HasSubstr("must not start with 0"));
  EXPECT_THAT(complaint_of(with(",8,", ",:,"), bytes32), HasSubstr("found ':'"));
  EXPECT_THAT(complaint_of(with(",8,", ",,"), bytes32), HasSubstr("a number expected"));
  EXPECT_THAT(complaint_of(with(",8,", ",8.5,"), bytes32), HasSubstr("found 8.5"));
  EXPECT_THAT(complaint_of(with(",8,", ",-8,"), bytes32), HasSubstr("found -8"));
  EXPECT_THAT(complaint_of(with(",8,", ",8;"), bytes32),
              HasSubstr("',' or ']' expected, found ';'"));
  EXPECT_THAT(complaint_of(with(",8,", ",\"8\","), bytes32), HasSubstr("a number expected"));
  EXPECT_THAT(complaint_of(with(",8,", ",8,8,"), bytes32), HasSubstr("more than 32 elements"));
  EXPECT_THAT(complaint_of(with(",8,", ","), bytes32), HasSubstr("31 elements, 32 expected"));
  EXPECT_THAT(complaint_of(with(",31]", ",31"), bytes32),
              HasSubstr("',' or ']' expected, but the text ends"));
  EXPECT_THAT(complaint_of("7" + padding, bytes32), HasSubstr("an array expected, found '7'"));
}

TEST(JsonReader, NamesPathAndOffset) {
  const auto read = [](JsonReader& reader) {
    reader.object([&](std::string_view) {
      reader.array([&](std::size_t) { reader.object([&](std::string_view) { reader.u64(9); }); });
    });
  };
  EXPECT_EQ(complaint_of(R"({"a":[{"b":1},{"c":10}]})", read),
            "text: a[1].c, at byte 21: an integer from 0 to 9 expected, found 10");
  EXPECT_EQ(complaint_of("[1", read),
            "text: the top level, at byte 0: an object expected, found '['");
}

void expect_fit_to_print(const std::string& complaint) {
  EXPECT_LT(complaint.size(), 2048u);
  EXPECT_TRUE(nlohmann::json::accept("[\"" + escape_json(complaint) + "\"]"));
  EXPECT_THAT(complaint, ::testing::Not(HasSubstr("\xef\xbf\xbd"))) << "cut within a character";
  for (const char c : complaint) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << complaint;
}

TEST(JsonReader, ComplaintsStayShortWhateverTheInputHolds) {
  std::string euros;
  while (euros.size() < std::size_t{1} << 20) euros += "\xe2\x82\xac";
  const auto quote = [](JsonReader& reader) {
    reader.object([&](std::string_view) {
      std::string scratch;
      const std::string_view text = reader.string(scratch);
      reader.reject("'{}' is unknown", text);
    });
  };
  // Each way to meet the boundary of a character of three bytes, in the key and in the text.
  for (const std::string shift : {"", "a", "ab"}) {
    const std::string complaint =
        complaint_of("{\"" + shift + euros + "\":\"" + shift + euros + "\"}", quote);
    expect_fit_to_print(complaint);
    EXPECT_THAT(complaint, ::testing::StartsWith("text: " + shift + euros.substr(0, 57)));
    EXPECT_THAT(complaint, ::testing::MatchesRegex(".*\\.\\.\\., at byte .*: '.*\\.\\.\\."));
  }
  std::string controls;
  while (controls.size() < 10'000) controls += R"(\u001b[31m\n\u0000)";
  const std::string complaint = complaint_of("{\"" + controls + "\":\"" + controls + "\"}", quote);
  expect_fit_to_print(complaint);
  EXPECT_THAT(complaint, HasSubstr(R"(text: \u001b[31m\n\u0000\u001b[31m)"));

  std::string nested;
  for (std::size_t i = 0; i < JsonReader::kMaxDepth; ++i)
    nested += "{\"" + std::string(100, 'k') + "\":";
  expect_fit_to_print(complaint_of(nested + "x", [](JsonReader& reader) { reader.skip(); }));
}

TEST(JsonReader, FieldsComeInAnyOrderOnceEach) {
  static constexpr std::array<std::string_view, 3> kKeys = {"one", "two", "three"};
  const auto read = [](JsonReader& reader) {
    reader.fields(kKeys, 0b011u, [&](std::size_t i) { EXPECT_EQ(reader.u64(), i + 1); });
  };
  EXPECT_EQ(complaint_of(R"({"three":3,"other":[{"one":7}],"two":2,"one":1})", read), "");
  EXPECT_EQ(complaint_of(R"({"two":2,"\u006fne":1})", read), "");
  EXPECT_THAT(complaint_of(R"({"one":1,"two":2,"one":1})", read),
              HasSubstr("text: one, at byte 23: the key occurs twice"));
  EXPECT_THAT(complaint_of(R"({"one":1,"three":3})", read), HasSubstr("the key 'two' is missing"));
  EXPECT_THAT(complaint_of(R"({"two":2,"other":[1,]})", read),
              HasSubstr("text: other[1], at byte 20"));
}

TEST(JsonReader, StopsAtTheFirstSurplusElement) {
  const auto read = [](JsonReader& reader) {
    reader.object(
        [&](std::string_view) { reader.array_of(2, [&](std::size_t) { reader.skip(); }); });
  };
  EXPECT_EQ(complaint_of(R"({"a":[1,2]})", read), "");
  EXPECT_THAT(complaint_of(R"({"a":[1]})", read),
              HasSubstr("text: a, at byte 8: 1 elements, 2 expected"));
  EXPECT_THAT(complaint_of(R"({"a":[1,2,3]})", read),
              HasSubstr("text: a, at byte 10: more than 2 elements"));
}

/// An independent parser agrees on what is JSON, for a real text and thousands of damaged ones.
TEST(JsonReader, AgreesWithAnotherParserOnDamagedTexts) {
  const Bytes meta = testing::golden_bytes("sectors/2KiB-v1_1/meta.json");
  std::string original(meta.begin(), meta.end());
  original += R"( )";
  original.insert(original.find('{') + 1, R"("x":[1.5,-0,true,false,null,"\u00e9\n",{},[],"é"],)");
  ASSERT_EQ(complaint(original), "");
  ASSERT_TRUE(nlohmann::json::accept(original));

  // Without 'e': the other parser also refuses exponents that no double holds.
  constexpr std::string_view kBytes = "{}[],:\"\\0123456789.+-tfnu \n\x01\x80\xc3\xff";
  std::mt19937_64 random(20240501);
  std::size_t accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    // A short piece of the text, so that damage changes the meaning more often than not.
    std::string text =
        R"({"x":[1.5,-0,true,false,null,"\u00e9\n",{},[],"é"],"n":[12,0,255],"o":{"k":"v"}})";
    if (round % 100 == 0) text = original;
    const int edits = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < edits; ++i) {
      const std::size_t at = random() % text.size();
      const char c = kBytes[random() % kBytes.size()];
      switch (random() % 3) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        default:
          text.insert(at, 1, c);
      }
    }
    const bool ours = complaint(text).empty();
    ASSERT_EQ(ours, nlohmann::json::accept(text)) << text << "\n" << complaint(text);
    ++(ours ? accepted : refused);
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(JsonReader, RefusesEveryTruncation) {
  const Bytes meta = testing::golden_bytes("sectors/2KiB-v1_1/meta.json");
  std::string text(meta.begin(), meta.end());
  while (text.back() == '\n') text.pop_back();
  ASSERT_EQ(complaint(text), "");
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_NE(complaint({text.data(), length}), "") << length;
  }
}

}  // namespace
}  // namespace cuzk::base
