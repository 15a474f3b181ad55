#include "groth16/proof.hpp"

#include "base/error.hpp"
#include "groth16/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using curve::Fr;
using curve::G1Affine;
using curve::G2Affine;
using ::testing::HasSubstr;

Proof some_proof(std::uint64_t k = 5) {
  return {(G1Affine::generator() * Fr::from_u64(k)).to_affine(),
          (G2Affine::generator() * Fr::from_u64(k + 1)).to_affine(),
          (G1Affine::generator() * Fr::from_u64(k + 2)).to_affine()};
}

std::string complaint(base::ByteView bytes) {
  try {
    Proof::from_bytes(bytes, "proof.bin");
  } catch (const base::InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Proof, IsThreeCompressedPoints) {
  const Proof proof = some_proof();
  const auto bytes = proof.to_bytes();
  const auto a = proof.a.to_compressed();
  const auto b = proof.b.to_compressed();
  const auto c = proof.c.to_compressed();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), bytes.begin()));
  EXPECT_TRUE(std::equal(b.begin(), b.end(), bytes.begin() + 48));
  EXPECT_TRUE(std::equal(c.begin(), c.end(), bytes.begin() + 144));
  EXPECT_EQ(Proof::from_bytes(bytes, "proof"), proof);
}

TEST(Proof, EveryOtherLengthIsRefused) {
  const auto bytes = some_proof().to_bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(complaint(base::ByteView(bytes).first(length)), HasSubstr("a proof has 192"));
  }
  base::Bytes longer(bytes.begin(), bytes.end());
  longer.push_back(0);
  EXPECT_THAT(complaint(longer), HasSubstr("193 bytes"));
}

TEST(Proof, BadElementsAreNamed) {
  const auto good = some_proof().to_bytes();
  const std::pair<std::size_t, const char*> elements[] = {
      {0, "element A"}, {48, "element B"}, {144, "element C"}};
  for (const auto& [offset, name] : elements) {
    auto bytes = good;
    bytes[offset] &= 0x7f;
    EXPECT_THAT(complaint(bytes), ::testing::AllOf(HasSubstr("proof.bin"), HasSubstr(name),
                                                   HasSubstr("bad encoding")));
    bytes = good;
    bytes[offset] = 0xc0;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset) + 1, offset == 48 ? 95 : 47,
                std::uint8_t{0});
    EXPECT_THAT(complaint(bytes), ::testing::AllOf(HasSubstr(name), HasSubstr("infinity")));
  }
}

TEST(Proof, PointsOutsideTheSubgroupAreNamed) {
  Proof proof = some_proof();
  proof.a = testing::outside_the_subgroup<curve::Fp>();
  EXPECT_THAT(complaint(proof.to_bytes()),
              ::testing::AllOf(HasSubstr("element A"), HasSubstr("subgroup")));
  proof = some_proof();
  proof.b = testing::outside_the_subgroup<curve::Fp2>();
  EXPECT_THAT(complaint(proof.to_bytes()),
              ::testing::AllOf(HasSubstr("element B"), HasSubstr("subgroup")));
  proof = some_proof();
  proof.c = testing::outside_the_subgroup<curve::Fp>();
  EXPECT_THAT(complaint(proof.to_bytes()),
              ::testing::AllOf(HasSubstr("element C"), HasSubstr("subgroup")));
}

// A flipped bit leaves no valid point, a point outside the subgroup, or another point; never the
// same proof.
TEST(Proof, NoBitIsWithoutMeaning) {
  const auto good = some_proof().to_bytes();
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bytes = good;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    try {
      EXPECT_NE(Proof::from_bytes(bytes, "proof"), some_proof()) << bit;
    } catch (const base::InvalidInput&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 8 * good.size() - 10);
}

TEST(Proofs, FollowEachOtherWithoutLengths) {
  const std::vector<Proof> proofs = {some_proof(1), some_proof(9), some_proof(50)};
  const base::Bytes bytes = encode_proofs(proofs);
  EXPECT_EQ(bytes.size(), 3 * Proof::kBytes);
  EXPECT_EQ(decode_proofs(bytes, 3, "proofs"), proofs);
  EXPECT_THROW(decode_proofs(bytes, 2, "proofs"), base::InvalidInput);
  EXPECT_THROW(decode_proofs(bytes, 4, "proofs"), base::InvalidInput);
  base::Bytes damaged = bytes;
  damaged[Proof::kBytes] = 0;
  try {
    decode_proofs(damaged, 3, "proofs");
    FAIL();
  } catch (const base::InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("partition 1"));
  }
}

}  // namespace
}  // namespace cuzk::groth16
