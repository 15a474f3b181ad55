#include "filecoin/post/vanilla_codec.hpp"

#include "base/error.hpp"
#include "filecoin/vanilla_file.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace cuzk::filecoin::post {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* sector;
  const char* size;
};

constexpr Case kCases[] = {{"2KiB-v1", "2KiB"},      {"2KiB-v1_1", "2KiB"},
                           {"2KiB-v1_2-ni", "2KiB"}, {"2KiB-v1_2-synth", "2KiB"},
                           {"16KiB-v1_1", "16KiB"},  {"32KiB-v1_1", "32KiB"},
                           {"8MiB-v1_1", "8MiB"}};

std::vector<base::Bytes> golden_blobs(const Case& test, const char* artefact) {
  return decode_vanilla_file(
      testing::golden_bytes(fmt::format("sectors/{}/{}.vanilla.json", test.sector, artefact)));
}

std::string complaint(base::ByteView blob, SectorSize size, unsigned challenges) {
  try {
    decode_vanilla_proof(blob, size, challenges);
  } catch (const base::InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(PostVanillaCodec, ManyAreDecodedAsOne) {
  const SectorSize size = SectorSize::parse("2KiB");
  std::vector<base::Bytes> blobs;
  for (const Case& test : kCases) {
    if (std::string_view(test.size) != "2KiB") continue;
    for (const base::Bytes& blob : golden_blobs(test, "window-multi")) blobs.push_back(blob);
  }
  ASSERT_GT(blobs.size(), 8U);
  const auto proofs = decode_vanilla_proofs(blobs, size, kWindowPostChallenges);
  ASSERT_EQ(proofs.size(), blobs.size());
  for (std::size_t i = 0; i < blobs.size(); ++i)
    EXPECT_EQ(encode_vanilla_proof(proofs[i], size), blobs[i]);
  blobs[7].pop_back();
  blobs[3].push_back(0);
  try {
    decode_vanilla_proofs(blobs, size, kWindowPostChallenges);
    FAIL() << "bad blobs were decoded";
  } catch (const base::InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("vanilla proof 3 of {}: ", blobs.size())));
  }
  EXPECT_TRUE(decode_vanilla_proofs({}, size, kWindowPostChallenges).empty());
}

TEST(PostVanillaCodec, RoundTripsTheGoldenProofs) {
  for (const Case& test : kCases) {
    const SectorSize size = SectorSize::parse(test.size);
    for (const auto& [artefact, challenges] : {std::pair("window", kWindowPostChallenges),
                                               {"window-multi", kWindowPostChallenges},
                                               {"winning", kWinningPostChallenges}}) {
      const auto blobs = golden_blobs(test, artefact);
      const auto meta =
          testing::golden_json(fmt::format("sectors/{}/meta.json", test.sector))[artefact];
      ASSERT_EQ(blobs.size(), meta["sectors"].size());
      for (std::size_t i = 0; i < blobs.size(); ++i) {
        const VanillaProof proof = decode_vanilla_proof(blobs[i], size, challenges);
        EXPECT_EQ(proof.sector_number, meta["sectors"][i]["sector_id"]);
        EXPECT_EQ(base::to_hex(proof.comm_r.to_bytes_le()), meta["sectors"][i]["comm_r"]);
        for (std::size_t n = 0; n < challenges; ++n) {
          EXPECT_EQ(proof.inclusions[n].leaf_index(tree_r_shape(size)),
                    meta["sectors"][i]["challenges"][n]);
          EXPECT_EQ(proof.inclusions[n].root, proof.comm_r_last);
        }
        EXPECT_EQ(encode_vanilla_proof(proof, size), blobs[i]);
        EXPECT_EQ(blobs[i].size(), vanilla_proof_bytes(size, challenges));
        EXPECT_EQ(sector_size_of(blobs[i], challenges), size);
      }
    }
  }
}

TEST(PostVanillaCodec, RoundTripsARealProductionProof) {
  const base::Bytes file = testing::golden_bytes("real/wpost-32GiB-one-sector.vproof");
  const auto blobs = decode_vanilla_file(file);
  ASSERT_EQ(blobs, std::vector<base::Bytes>{file});
  const SectorSize size = SectorSize::parse("32GiB");
  const VanillaProof proof = decode_vanilla_proof(file, size, kWindowPostChallenges);
  EXPECT_EQ(proof.sector_number, 1u);
  EXPECT_EQ(base::to_hex(proof.comm_r.to_bytes_le()),
            testing::golden_json(
                "real/wpost-32GiB-one-sector.meta.json")["window"]["sectors"][0]["comm_r"]);
  EXPECT_EQ(encode_vanilla_proof(proof, size), file);
  EXPECT_EQ(sector_size_of(file, kWindowPostChallenges), size);
}

TEST(PostVanillaCodec, NoTwoSizesShareALength) {
  std::set<std::size_t> lengths;
  for (const SectorSize size : SectorSize::all()) {
    for (const unsigned challenges : {kWindowPostChallenges, kWinningPostChallenges}) {
      EXPECT_TRUE(lengths.insert(vanilla_proof_bytes(size, challenges)).second) << size.to_string();
    }
  }
  EXPECT_EQ(sector_size_of(base::Bytes(100), kWindowPostChallenges), std::nullopt);
}

TEST(PostVanillaCodec, RefusesEveryTruncationAndSurplus) {
  // Every length of the small one; of the large ones a step that meets every offset within a field.
  for (const auto& [name, size, challenges, step] :
       {std::tuple("sectors/2KiB-v1_1/window.vanilla.json", "2KiB", kWindowPostChallenges, 1u),
        {"sectors/32KiB-v1_1/winning.vanilla.json", "32KiB", kWinningPostChallenges, 97u},
        {"real/wpost-32GiB-one-sector.vproof", "32GiB", kWindowPostChallenges, 31u}}) {
    const base::Bytes whole = decode_vanilla_file(testing::golden_bytes(name))[0];
    for (std::size_t length = 0; length < whole.size(); length += step) {
      // A copy of the exact size, so that a sanitizer sees a read past the end.
      const base::Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      const std::string text = complaint(part, SectorSize::parse(size), challenges);
      ASSERT_THAT(text, HasSubstr("truncated at byte")) << length;
    }
    base::Bytes longer = whole;
    longer.push_back(0);
    EXPECT_THAT(complaint(longer, SectorSize::parse(size), challenges),
                HasSubstr("1 bytes too many"));
  }
}

TEST(PostVanillaCodec, NamesWhatHasTheWrongForm) {
  const base::Bytes good = golden_blobs(kCases[5], "window")[0];
  const SectorSize size = SectorSize::parse("32KiB");
  // Layout of 32 KiB: sector 8, comm_r 32, two counts 8; then the first proof: tag 4, three storeys
  // of 2, 1 and 1 levels.
  constexpr std::size_t kCommR = 8, kSectors = 40, kCount = 48, kTag = 56, kBaseLevels = 60,
                        kSiblings = 68, kSibling = 76, kPosition = kSibling + 7 * 32;
  const auto damaged = [&](std::size_t at, std::uint8_t value) {
    base::Bytes blob = good;
    blob[at] = value;
    return complaint(blob, size, kWindowPostChallenges);
  };
  EXPECT_EQ(complaint(good, size, kWindowPostChallenges), "");
  EXPECT_THAT(damaged(kCommR + 31, 0xff), HasSubstr("comm_r at byte 8 is no field element"));
  EXPECT_THAT(damaged(kSectors, 2), HasSubstr("2 sectors in one blob, 1 expected"));
  EXPECT_THAT(damaged(kCount, 11), HasSubstr("11 inclusion proofs, 10 expected"));
  EXPECT_THAT(damaged(kCount + 7, 0xff), HasSubstr("inclusion proofs, 10 expected"));
  EXPECT_THAT(
      damaged(kTag, 1),
      HasSubstr("inclusion_proofs[0]: PoSt vanilla proof: a Merkle proof with tag 1 at byte 56, "
                "tag 2 (Top) expected for a tree 8-8-2"));
  EXPECT_THAT(damaged(kBaseLevels, 3), HasSubstr("a path of 3 levels at byte 60, 2 expected"));
  EXPECT_THAT(damaged(kSiblings + 6, 1), HasSubstr("siblings at level 0 (byte 68), 7 expected"));
  EXPECT_THAT(damaged(kSibling + 31, 0x74), HasSubstr("sibling at byte 76 is no field element"));
  EXPECT_THAT(damaged(kPosition, 8),
              HasSubstr("position 8 at level 0 (byte 300), below 8 expected"));
  EXPECT_THAT(damaged(kPosition + 4, 1), HasSubstr("position 4294967300 at level 0"));
  EXPECT_THAT(complaint(good, SectorSize::parse("16KiB"), kWindowPostChallenges),
              HasSubstr("tag 2 at byte 56, tag 1 (Sub)"));
  EXPECT_THAT(complaint(good, size, kWinningPostChallenges),
              HasSubstr("10 inclusion proofs, 66 expected"));
}

TEST(PostVanillaCodec, EncoderRefusesAProofOfAnotherShape) {
  const SectorSize size = SectorSize::parse("2KiB");
  VanillaProof proof =
      decode_vanilla_proof(golden_blobs(kCases[1], "window")[0], size, kWindowPostChallenges);
  EXPECT_THROW(encode_vanilla_proof(proof, SectorSize::parse("8MiB")), base::InvalidInput);
  proof.inclusions[3].positions[1] = 8;
  EXPECT_THROW(encode_vanilla_proof(proof, size), base::InvalidInput);
}

TEST(VanillaFile, RoundTripsAndNamesWhatIsWrong) {
  const base::Bytes file = testing::golden_bytes("sectors/2KiB-v1_1/window-multi.vanilla.json");
  const auto blobs = decode_vanilla_file(file);
  EXPECT_EQ(blobs.size(), 3u);
  EXPECT_EQ(encode_vanilla_file(blobs), std::string(file.begin(), file.end()));
  EXPECT_TRUE(decode_vanilla_file(base::as_bytes(" [ ] ")).empty());

  const auto complaint = [](std::string_view text) {
    try {
      decode_vanilla_file(base::as_bytes(text));
    } catch (const base::InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint("[\"AAAA\",\"A\"]"),
              HasSubstr("vanilla proofs: [1], at byte 11: the string is no base64"));
  EXPECT_THAT(complaint("[\"AAAA\",7]"), HasSubstr("[1], at byte 8: a string expected"));
  EXPECT_THAT(complaint("{}"), HasSubstr("an array expected"));
  EXPECT_THAT(complaint(""), HasSubstr("the text ends"));
  EXPECT_THAT(complaint("[] []"), HasSubstr("the end of the text expected"));
  for (std::size_t length = 0; length < file.size(); length += 13) {
    const base::Bytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_THROW(decode_vanilla_file(part), base::InvalidInput) << length;
  }
}

}  // namespace
}  // namespace cuzk::filecoin::post
