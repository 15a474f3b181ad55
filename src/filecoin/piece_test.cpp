#include "filecoin/piece.hpp"

#include "base/error.hpp"
#include "filecoin/golden_values.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cuzk::filecoin {
namespace {

base::Bytes bytes(const nlohmann::json& hex) {
  return base::from_hex(hex.get<std::string>()).value();
}

TEST(Fr32, Golden) {
  const nlohmann::json golden_all = cuzk::testing::golden_json("vectors.json").at("fr32");
  ASSERT_GE(golden_all.size(), 10u);
  for (const nlohmann::json& expected : golden_all) {
    const base::Bytes data = bytes(expected.at("unpadded"));
    EXPECT_EQ(base::to_hex(fr32_pad(data)), expected.at("padded")) << data.size() << " bytes";
    EXPECT_EQ(fr32_padded_size(data.size()), expected.at("to_padded_bytes").get<std::size_t>());
    EXPECT_EQ(fr32_unpad(bytes(expected.at("padded")), data.size()) == data,
              expected.at("round_trip").get<bool>());
  }
}

TEST(Fr32, RoundTripOfEveryLength) {
  base::Bytes data;
  for (unsigned length = 0; length < 400; ++length) {
    const base::Bytes padded = fr32_pad(data);
    EXPECT_EQ(padded.size() % 32, 0u);
    EXPECT_GE(padded.size(), fr32_padded_size(length));
    EXPECT_EQ(fr32_unpad(padded, length), data) << length;
    for (std::size_t i = 31; i < padded.size(); i += 32) EXPECT_LT(padded[i], 0x40);
    data.push_back(static_cast<std::uint8_t>(0xff - 3 * length));
  }
}

TEST(Fr32, NotEnoughData) {
  EXPECT_NO_THROW(fr32_unpad(base::Bytes(64), 63));
  EXPECT_THROW(fr32_unpad(base::Bytes(64), 64), base::InvalidInput);
  EXPECT_THROW(fr32_unpad(base::Bytes(33), 1), base::InvalidInput);
}

TEST(PieceCommitment, Golden) {
  const nlohmann::json golden_all = cuzk::testing::golden_json("vectors.json").at("pieces");
  ASSERT_GE(golden_all.size(), 5u);
  for (const nlohmann::json& expected : golden_all) {
    EXPECT_EQ(piece_commitment(bytes(expected.at("data"))), golden::fr(expected.at("commitment")));
  }
}

TEST(PieceCommitment, OnlySizesThatFillATree) {
  EXPECT_NO_THROW(piece_commitment(base::Bytes(127)));
  for (const std::size_t size : {0, 1, 31, 63, 96, 126, 128, 130, 3 * 127}) {
    EXPECT_THROW(piece_commitment(base::Bytes(size)), base::InvalidInput) << size;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
