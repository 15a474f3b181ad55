#include "filecoin/update/vanilla_codec.hpp"

#include "base/error.hpp"
#include "filecoin/vanilla_file.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace cuzk::filecoin::update {
namespace {

using ::testing::HasSubstr;

constexpr std::pair<const char*, const char*> kCases[] = {
    {"2KiB-v1", "2KiB"},         {"2KiB-v1_1", "2KiB"},   {"2KiB-v1_2-ni", "2KiB"},
    {"2KiB-v1_2-synth", "2KiB"}, {"16KiB-v1_1", "16KiB"}, {"32KiB-v1_1", "32KiB"},
    {"8MiB-v1_1", "8MiB"}};

std::vector<base::Bytes> golden_blobs(std::string_view sector) {
  return decode_vanilla_file(
      testing::golden_bytes(fmt::format("sectors/{}/update.vanilla.json", sector)));
}

std::string complaint(base::ByteView blob, SectorSize size) {
  try {
    decode_vanilla_proof(blob, size);
  } catch (const base::InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(UpdateVanillaCodec, RoundTripsTheGoldenProofs) {
  for (const auto& [sector, text] : kCases) {
    const SectorSize size = SectorSize::parse(text);
    const auto blobs = golden_blobs(sector);
    const auto meta = testing::golden_json(fmt::format("sectors/{}/meta.json", sector))["update"];
    EXPECT_EQ(blobs.size(), update_shape(size).partitions);
    for (const base::Bytes& blob : blobs) {
      const VanillaProof proof = decode_vanilla_proof(blob, size);
      for (const ChallengeProof& challenge : proof.challenges) {
        EXPECT_EQ(base::to_hex(challenge.d_new.root.to_bytes_le()), meta["comm_d_new"]);
        EXPECT_EQ(base::to_hex(challenge.r_new.root.to_bytes_le()), meta["comm_r_last_new"]);
        EXPECT_EQ(challenge.r_old.positions, challenge.r_new.positions);
        EXPECT_EQ(challenge.r_old.leaf_index(tree_r_shape(size)),
                  challenge.d_new.leaf_index(tree_d_shape(size)));
      }
      EXPECT_EQ(encode_vanilla_proof(proof, size), blob);
      EXPECT_EQ(blob.size(), vanilla_proof_bytes(size));
      EXPECT_EQ(sector_size_of(blob), size);
    }
  }
}

TEST(UpdateVanillaCodec, ManyAreDecodedAsOne) {
  const SectorSize size = SectorSize::parse("8MiB");
  auto blobs = golden_blobs("8MiB-v1_1");
  ASSERT_EQ(blobs.size(), 4U);
  const auto proofs = decode_vanilla_proofs(blobs, size);
  ASSERT_EQ(proofs.size(), blobs.size());
  for (std::size_t i = 0; i < blobs.size(); ++i)
    EXPECT_EQ(encode_vanilla_proof(proofs[i], size), blobs[i]);
  blobs[3].pop_back();
  blobs[2].push_back(0);
  try {
    decode_vanilla_proofs(blobs, size);
    FAIL() << "bad blobs were decoded";
  } catch (const base::InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("vanilla proof 2 of 4: "));
  }
  EXPECT_TRUE(decode_vanilla_proofs({}, size).empty());
}

TEST(UpdateVanillaCodec, NoTwoSizesShareALength) {
  std::set<std::size_t> lengths;
  for (const SectorSize size : SectorSize::all())
    EXPECT_TRUE(lengths.insert(vanilla_proof_bytes(size)).second);
  EXPECT_EQ(sector_size_of(base::Bytes(100)), std::nullopt);
}

TEST(UpdateVanillaCodec, RefusesEveryTruncationAndSurplus) {
  // Every length of the small one; of the large one a step that meets every offset within a field.
  for (const auto& [sector, text, step] :
       {std::tuple("2KiB-v1_1", "2KiB", 1u), {"32KiB-v1_1", "32KiB", 31u}}) {
    const base::Bytes whole = golden_blobs(sector)[0];
    const SectorSize size = SectorSize::parse(text);
    for (std::size_t length = 0; length < whole.size(); length += step) {
      const base::Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      ASSERT_THAT(complaint(part, size), HasSubstr("truncated at byte")) << length;
    }
    base::Bytes longer = whole;
    longer.insert(longer.end(), 3, 0);
    EXPECT_THAT(complaint(longer, size), HasSubstr("3 bytes too many"));
  }
}

TEST(UpdateVanillaCodec, NamesWhatHasTheWrongForm) {
  const base::Bytes good = golden_blobs("2KiB-v1_1")[0];
  const SectorSize size = SectorSize::parse("2KiB");
  // comm_c 32, count 8, 8 apex leaves, count 8, then the first challenge: r_old (Single: tag, root,
  // leaf, path), d_new.
  constexpr std::size_t kLeaves = 32, kLeaf = 40, kCount = kLeaf + 8 * 32, kOld = kCount + 8,
                        kOldPath = kOld + 4 + 64;
  const std::size_t data = kOldPath + 8 + 2 * (8 + 7 * 32 + 8);
  const auto damaged = [&](std::size_t at, std::uint8_t value) {
    base::Bytes blob = good;
    blob[at] = value;
    return complaint(blob, size);
  };
  EXPECT_EQ(complaint(good, size), "");
  EXPECT_THAT(damaged(31, 0x80), HasSubstr("comm_c at byte 0 is no field element"));
  EXPECT_THAT(damaged(kLeaves, 9), HasSubstr("9 apex leaves, 8 expected"));
  EXPECT_THAT(damaged(kLeaf + 63, 0xff), HasSubstr("apex leaf at byte 72 is no field element"));
  EXPECT_THAT(damaged(kCount + 7, 1), HasSubstr("challenges, 10 expected"));
  EXPECT_THAT(
      damaged(kOld, 2),
      HasSubstr(
          "challenge_proofs[0].proof_r_old: update vanilla proof: a Merkle proof with tag 2"));
  EXPECT_THAT(damaged(kOldPath, 1), HasSubstr("a path of 1 levels"));
  EXPECT_THAT(
      damaged(data, 1),
      HasSubstr(
          "challenge_proofs[0].proof_d_new: update vanilla proof: a Merkle proof with tag 1"));
  EXPECT_THAT(damaged(data + 4 + 64, 7), HasSubstr("a path of 7 levels"));
  EXPECT_THAT(damaged(data + 4 + 64 + 8, 2), HasSubstr("2 siblings at level 0"));
  EXPECT_THAT(damaged(data + 4 + 64 + 8 + 8 + 32, 2), HasSubstr("position 2 at level 0"));
  EXPECT_THAT(complaint(good, SectorSize::parse("32KiB")),
              HasSubstr("8 apex leaves, 128 expected"));
}

TEST(UpdateVanillaCodec, EncoderRefusesAProofOfAnotherShape) {
  const SectorSize size = SectorSize::parse("2KiB");
  VanillaProof proof = decode_vanilla_proof(golden_blobs("2KiB-v1_1")[0], size);
  EXPECT_THROW(encode_vanilla_proof(proof, SectorSize::parse("4KiB")), base::InvalidInput);
  proof.challenges[9].d_new.positions[0] = 2;
  EXPECT_THROW(encode_vanilla_proof(proof, size), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::update
