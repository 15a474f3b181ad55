#include "filecoin/synthetic/random_source.hpp"

#include "hash/sha256.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cuzk::filecoin::synthetic {
namespace {

TEST(RandomSource, IsTheDocumentedFunctionOfItsNames) {
  base::ByteWriter root;
  root.bytes(base::as_bytes("cuzk synthetic vanilla proof"));
  root.u64_le(7);
  base::ByteWriter child;
  child.bytes(hash::sha256(root.view()));
  child.u64_le(3);
  child.bytes(base::as_bytes("tree C"));
  base::ByteWriter value;
  value.bytes(hash::sha256(child.view()));
  value.u64_le(5);
  value.u64_le(1u << 30);
  EXPECT_EQ(RandomSource(7).child("tree C", 3).bytes32(5, 1u << 30), hash::sha256(value.view()));
}

TEST(RandomSource, SeedNameIndexAndBothNumbersMatter) {
  std::set<base::Bytes32> values;
  std::size_t count = 0;
  for (const std::uint64_t seed : {0, 1}) {
    for (const char* name : {"a", "b", "ab"}) {
      for (const std::uint64_t index : {0, 1}) {
        for (const std::uint64_t a : {0, 1}) {
          for (const std::uint64_t b : {0, 1}) {
            values.insert(RandomSource(seed).child(name, index).bytes32(a, b));
            ++count;
          }
        }
      }
    }
  }
  EXPECT_EQ(values.size(), count);
}

TEST(RandomSource, TruncatedIsTheValueWithoutItsTopTwoBits) {
  const RandomSource source(1);
  bool cleared = false;
  for (std::uint64_t i = 0; i < 64; ++i) {
    base::Bytes32 expected = source.bytes32(i, 2);
    cleared |= (expected[31] & 0xc0) != 0;
    expected[31] &= 0x3f;
    EXPECT_EQ(source.truncated(i, 2).to_bytes_le(), expected);
  }
  EXPECT_TRUE(cleared) << "no value had a top bit to clear";
}

TEST(RandomSource, FieldIsTheValueModuloR) {
  const RandomSource source(1);
  bool kept = false, reduced = false;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const base::Bytes32 bytes = source.bytes32(i, 2);
    const auto canonical = curve::Fr::from_bytes_le(bytes);
    (canonical ? kept : reduced) = true;
    if (canonical) {
      EXPECT_EQ(source.field(i, 2), *canonical);
    } else {
      EXPECT_EQ(source.field(i, 2), curve::Fr::from_bytes_le_reduced(bytes));
    }
  }
  EXPECT_TRUE(kept && reduced) << "the sample has only one of the two cases";
}

}  // namespace
}  // namespace cuzk::filecoin::synthetic
