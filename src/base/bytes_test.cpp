#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace cuzk::base {
namespace {

std::optional<std::string> decoded(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return std::nullopt;
  return std::string(bytes->begin(), bytes->end());
}

// [RFC 4648, section 10]
TEST(Base64, VectorsOfTheStandard) {
  for (const auto& [plain, text] :
       std::initializer_list<std::pair<const char*, const char*>>{{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(decoded(text), plain);
    EXPECT_EQ(to_base64(as_bytes(plain)), text);
  }
}

TEST(Base64, BytesOfEveryLengthComeBack) {
  std::mt19937 random(1);
  Bytes bytes;
  for (int length = 0; length < 1000; ++length) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes) << length;
    bytes.push_back(static_cast<std::uint8_t>(random()));
  }
}

TEST(Base64, EveryOtherCharacterIsRefusedInEveryPlace) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string good = "AAAAAAAAAAAA";
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (int c = 0; c < 256; ++c) {
      std::string text = good;
      text[place] = static_cast<char>(c);
      const bool is_padding = c == '=' && place + 1 == good.size();
      EXPECT_EQ(from_base64(text).has_value(),
                digits.find(static_cast<char>(c)) != std::string::npos || is_padding)
          << c << " at " << place;
    }
  }
}

TEST(Base64, WrongLengthsPaddingAndUnusedBitsAreRefused) {
  for (const char* text :
       {"A", "AA", "AAA", "AAAAA", "=", "==", "===", "====", "A===", "AA=A", "AAAA====", "AA==AAAA",
        "AAA=AAAA", "AB==", "AAB=", "AA==\n", " AA=", "Zm9v\nZm9v"}) {
    EXPECT_EQ(decoded(text), std::nullopt) << text;
  }
}

TEST(Hex, BytesComeBackAndOtherTextIsRefused) {
  Bytes bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
  EXPECT_EQ(to_hex(Bytes{0x00, 0x9a, 0xff}), "009aff");
  EXPECT_EQ(from_hex("009AfF"), (Bytes{0x00, 0x9a, 0xff}));
  for (const char* text : {"0", "0g", "g0", "0x", " 0", "000"})
    EXPECT_EQ(from_hex(text), std::nullopt) << text;
  EXPECT_EQ(bytes32_from_hex(std::string(62, '0')), std::nullopt);
  EXPECT_EQ(bytes32_from_hex(std::string(66, '0')), std::nullopt);
  EXPECT_EQ(bytes32_from_hex(std::string(64, '1'))->at(31), 0x11);
}

}  // namespace
}  // namespace cuzk::base
