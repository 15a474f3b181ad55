#include "base/error.hpp"
#include "hash/blake2b.hpp"
#include "hash/chacha.hpp"
#include "hash/sha256.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace cuzk::hash {
namespace {

using base::as_bytes;
using base::to_hex;

std::string sha256_hex(std::string_view text) { return to_hex(sha256(as_bytes(text))); }

TEST(Sha256, Fips180Examples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, StreamEqualsOneShotAtEveryLengthAndSplit) {
  base::Bytes message;
  for (unsigned length = 0; length < 200; ++length) {
    for (const unsigned split : {0u, 1u, 63u, 64u, 65u}) {
      if (split > length) continue;
      Sha256 stream;
      stream.update(base::ByteView(message).first(split));
      stream.update(base::ByteView(message).subspan(split));
      EXPECT_EQ(stream.finish(), sha256(message)) << length << " bytes split at " << split;
    }
    message.push_back(static_cast<std::uint8_t>(length * 7 + 1));
  }
}

TEST(Sha256, CopyIsACheckpoint) {
  Sha256 stream;
  stream.update(as_bytes("ab"));
  Sha256 prefix(stream);
  stream.update(as_bytes("c"));
  EXPECT_EQ(to_hex(prefix.finish()), sha256_hex("ab"));
  prefix = stream;
  EXPECT_EQ(to_hex(prefix.finish()), sha256_hex("abc"));
  EXPECT_EQ(to_hex(stream.finish()), sha256_hex("abc"));
}

TEST(Sha256, ResetStartsOver) {
  Sha256 stream;
  stream.update(as_bytes("xyz"));
  stream.reset();
  stream.update(as_bytes("abc"));
  EXPECT_EQ(to_hex(stream.finish()), sha256_hex("abc"));
  stream.reset();
  EXPECT_EQ(to_hex(stream.finish()), sha256_hex(""));
}

TEST(Sha256, GoldenTreeDNodes) {
  const nlohmann::json golden = testing::golden_json("vectors.json").at("sha256_nodes");
  ASSERT_GE(golden.size(), 4u);
  for (const nlohmann::json& node : golden) {
    const base::Bytes32 left = base::bytes32_from_hex(node.at("left").get<std::string>()).value();
    const base::Bytes32 right = base::bytes32_from_hex(node.at("right").get<std::string>()).value();
    EXPECT_EQ(to_hex(sha256_node(left, right)), node.at("node"));
    const auto left_fr = curve::Fr::from_bytes_le(left), right_fr = curve::Fr::from_bytes_le(right);
    if (left_fr && right_fr) {
      EXPECT_EQ(to_hex(sha256_node(*left_fr, *right_fr).to_bytes_le()), node.at("node"));
    }
  }
}

TEST(Sha256, TruncationClearsTheTwoTopBitsOnly) {
  base::Bytes32 digest;
  digest.fill(0xff);
  truncate_to_fr(digest);
  for (unsigned i = 0; i < 31; ++i) EXPECT_EQ(digest[i], 0xff);
  EXPECT_EQ(digest[31], 0x3f);
  EXPECT_TRUE(curve::Fr::from_bytes_le(digest).has_value());
}

TEST(Blake2b, Rfc7693Example) {
  EXPECT_EQ(to_hex(blake2b(as_bytes("abc"))),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5"
            "de4533cc95"
            "18d38aa8dbf1925ab92386edd4009923");
}

TEST(Blake2b, StreamEqualsOneShot) {
  Blake2b stream;
  stream.update(as_bytes("a"));
  const Blake2b prefix = stream;
  stream.update(as_bytes("bc"));
  EXPECT_EQ(stream.finish(), blake2b(as_bytes("abc")));
  EXPECT_EQ(Blake2b(prefix).finish(), blake2b(as_bytes("a")));
}

TEST(Blake2b, ShortAndKeyedDiffersFromThePrefixOfTheLong) {
  const auto full = blake2b(as_bytes("abc"));
  const base::Bytes32 keyed = keyed_blake2b_256("k", as_bytes("abc"));
  EXPECT_NE(to_hex(keyed), to_hex(base::ByteView(full).first(32)));
  // Python: hashlib.blake2b(b"abc", key=b"k", digest_size=32).hexdigest()
  EXPECT_EQ(to_hex(keyed), "12f0b4a482a321476483eac3387d86e810573152916fb35bf7a6b9951f221db3");
  EXPECT_NE(keyed, keyed_blake2b_256("l", as_bytes("abc")));
  EXPECT_THROW(keyed_blake2b_256("", as_bytes("abc")), base::InvalidInput);
  EXPECT_THROW(keyed_blake2b_256(std::string(65, 'k'), as_bytes("abc")), base::InvalidInput);
}

TEST(ChaCha, Rfc8439Block) {
  base::Bytes32 key;
  for (unsigned i = 0; i < 32; ++i) key[i] = static_cast<std::uint8_t>(i);
  // Section 2.3.2: counter 1, nonce 00:00:00:09:00:00:00:4a:00:00:00:00.
  EXPECT_EQ(to_hex(chacha_block(20, key, {1, 0x09000000, 0x4a000000, 0})),
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
}

TEST(ChaCha, EightRoundsOfTheZeroKey) {
  // draft-strombergson-chacha-test-vectors, TC1, 256-bit key, 8 rounds.
  EXPECT_EQ(to_hex(chacha_block(8, base::Bytes32{}, {0, 0, 0, 0})),
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
            "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
}

}  // namespace
}  // namespace cuzk::hash
