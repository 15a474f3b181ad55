#include "filecoin/post/vanilla_check.hpp"

#include "filecoin/meta.hpp"
#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"
#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace cuzk::filecoin::post {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Fixture {
  PublicValues known;
  std::vector<VanillaProof> proofs;

  std::vector<std::string> complaints() const {
    std::vector<std::string> out;
    for (const BadEntry& entry : check_vanilla_proofs(known, proofs))
      out.push_back(to_string(entry));
    return out;
  }
};

Fixture load(std::string_view vanilla, std::string_view meta_file, const char* artefact) {
  const base::Bytes text = testing::golden_bytes(meta_file);
  const Meta meta = decode_meta({reinterpret_cast<const char*>(text.data()), text.size()});
  const Meta::Post& post = meta.posts.at(artefact);
  const bool winning = std::string_view(artefact) == "winning";
  Fixture out{.known = {.sector_size = *meta.sector_size,
                        .winning = winning,
                        .api_version = post.api_version.value_or(ApiVersion::k1_2),
                        .randomness = post.randomness,
                        .sectors = post.sectors},
              .proofs = {}};
  for (const base::Bytes& blob : decode_vanilla_file(testing::golden_bytes(vanilla))) {
    out.proofs.push_back(decode_vanilla_proof(
        blob, *meta.sector_size, winning ? kWinningPostChallenges : kWindowPostChallenges));
  }
  return out;
}

Fixture golden(std::string_view sector, const char* artefact) {
  return load(fmt::format("sectors/{}/{}.vanilla.json", sector, artefact),
              fmt::format("sectors/{}/meta.json", sector), artefact);
}

TEST(PostVanillaCheck, AcceptsTheGoldenProofs) {
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-ni", "2KiB-v1_2-synth",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    for (const char* artefact : {"window", "window-multi", "winning"}) {
      Fixture fixture = golden(sector, artefact);
      EXPECT_THAT(fixture.complaints(), IsEmpty()) << sector << " " << artefact;
      fixture.known.randomness.reset();
      fixture.known.sectors.reset();
      EXPECT_THAT(fixture.complaints(), IsEmpty()) << sector << " " << artefact;
    }
  }
}

TEST(PostVanillaCheck, AcceptsARealProductionProof) {
  const Fixture fixture =
      load("real/wpost-32GiB-one-sector.vproof", "real/wpost-32GiB-one-sector.meta.json", "window");
  EXPECT_THAT(fixture.complaints(), IsEmpty());
}

TEST(PostVanillaCheck, NamesEveryBadSector) {
  Fixture fixture = golden("2KiB-v1_1", "window-multi");
  fixture.proofs[0].inclusions[7].siblings[3] += curve::Fr::one();
  fixture.proofs[2].inclusions[0].leaf += curve::Fr::one();
  fixture.proofs[2].inclusions[9].root += curve::Fr::one();
  EXPECT_THAT(
      fixture.complaints(),
      ElementsAre(
          "index 0 (sector 1): inclusion_proofs[7]: the Merkle path does not reach comm_r_last",
          "index 2 (sector 3): inclusion_proofs[0]: the Merkle path does not reach comm_r_last",
          "index 2 (sector 3): inclusion_proofs[9]: the stated root is not comm_r_last"));
}

TEST(PostVanillaCheck, ComparesTheCommitments) {
  Fixture fixture = golden("2KiB-v1_1", "window-multi");
  fixture.proofs[1].comm_r += curve::Fr::one();
  EXPECT_THAT(
      fixture.complaints(),
      ElementsAre("index 1 (sector 2): comm_r: it is not the sector's comm_r",
                  "index 1 (sector 2): comm_r: it is not the hash of comm_c and comm_r_last"));
  fixture = golden("2KiB-v1_1", "window-multi");
  fixture.proofs[1].comm_c += curve::Fr::one();
  EXPECT_THAT(
      fixture.complaints(),
      ElementsAre("index 1 (sector 2): comm_r: it is not the hash of comm_c and comm_r_last"));
  fixture = golden("2KiB-v1_1", "winning");
  fixture.proofs[0].comm_r_last += curve::Fr::one();
  EXPECT_EQ(fixture.complaints().size(), 1u + 2 * kWinningPostChallenges);
}

TEST(PostVanillaCheck, DerivesTheChallenges) {
  // The randomness says which leaves.
  Fixture fixture = golden("8MiB-v1_1", "window");
  (*fixture.known.randomness)[0] ^= 1;
  EXPECT_EQ(fixture.complaints().size(), kWindowPostChallenges);
  EXPECT_THAT(fixture.complaints()[0],
              HasSubstr("index 0 (sector 1): inclusion_proofs[0]: the path is that of leaf"));
  // So does the sector's number.
  fixture = golden("8MiB-v1_1", "winning");
  fixture.proofs[0].sector_number = 2;
  EXPECT_EQ(fixture.complaints().size(), 1 + kWinningPostChallenges);
  EXPECT_THAT(fixture.complaints()[0], HasSubstr("sector_id: sector 1 was to be proved here"));
  // Up to API 1.1 also the place among the sectors: the first one's challenges are the same, the
  // others' are not.
  fixture = golden("8MiB-v1_1", "window-multi");
  fixture.known.api_version = ApiVersion::k1_1;
  EXPECT_EQ(fixture.complaints().size(), 2 * kWindowPostChallenges);
  // A valid path of another leaf is no answer.
  fixture = golden("8MiB-v1_1", "window");
  std::swap(fixture.proofs[0].inclusions[0], fixture.proofs[0].inclusions[1]);
  EXPECT_EQ(fixture.complaints().size(), 2u);
}

TEST(PostVanillaCheck, ChecksOrderAndNumberOfSectors) {
  Fixture fixture = golden("2KiB-v1_1", "window-multi");
  std::swap(fixture.proofs[0], fixture.proofs[1]);
  EXPECT_THAT(fixture.complaints(),
              ElementsAre("index 0 (sector 2): sector_id: sector 1 was to be proved here",
                          "index 0 (sector 2): comm_r: it is not the sector's comm_r",
                          "index 1 (sector 1): sector_id: sector 1 after 2: the verifier takes "
                          "sectors in ascending order, each once",
                          "index 1 (sector 1): sector_id: sector 2 was to be proved here",
                          "index 1 (sector 1): comm_r: it is not the sector's comm_r"));
  fixture = golden("2KiB-v1_1", "window-multi");
  fixture.proofs.pop_back();
  EXPECT_THAT(fixture.complaints(), ElementsAre("2 vanilla proofs for 3 sectors"));
  fixture = golden("2KiB-v1_1", "winning");
  fixture.proofs.push_back(fixture.proofs[0]);
  EXPECT_THAT(fixture.complaints(), ElementsAre("2 sectors in a WinningPoSt, 1 expected",
                                                "2 vanilla proofs for 1 sectors"));
  fixture.proofs.clear();
  fixture.known.sectors.reset();
  EXPECT_THAT(fixture.complaints(), ElementsAre("no vanilla proof"));
  fixture = golden("2KiB-v1_1", "window");
  fixture.proofs[0].inclusions.pop_back();
  EXPECT_THAT(fixture.complaints(),
              ElementsAre("index 0 (sector 1): inclusion_proofs: 9 paths, 10 expected"));
}

// Descending and repeated: each proof holds by itself, but no verifier asks for that sequence.
TEST(PostVanillaCheck, AWindowsSectorsAscend) {
  Fixture fixture = golden("2KiB-v1_1", "window-multi");
  fixture.known.sectors.reset();
  const std::vector<VanillaProof> proofs = fixture.proofs;
  fixture.proofs = {proofs[1], proofs[0]};
  EXPECT_THAT(fixture.complaints(),
              ElementsAre("index 1 (sector 1): sector_id: sector 1 after 2: the verifier takes "
                          "sectors in ascending order, each once"));
  fixture.proofs = {proofs[0], proofs[0]};
  EXPECT_THAT(fixture.complaints(),
              ElementsAre("index 1 (sector 1): sector_id: sector 1 after 1: the verifier takes "
                          "sectors in ascending order, each once"));
  fixture.proofs = {proofs[0], proofs[2]};
  EXPECT_THAT(fixture.complaints(), IsEmpty()) << "gaps are usual";

  std::vector<base::Bytes> blobs;
  for (const std::size_t i : {1u, 0u})
    blobs.push_back(encode_vanilla_proof(proofs[i], fixture.known.sector_size));
  const std::vector<BadEntry> entries = check_vanilla_blobs(fixture.known, blobs);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].index, 1u);
}

TEST(PostVanillaCheck, ReportsBlobsThatCannotBeDecoded) {
  const Fixture fixture = golden("2KiB-v1_1", "window-multi");
  auto blobs =
      decode_vanilla_file(testing::golden_bytes("sectors/2KiB-v1_1/window-multi.vanilla.json"));
  EXPECT_THAT(check_vanilla_blobs(fixture.known, blobs), IsEmpty());
  blobs[1].pop_back();
  blobs[2][blobs[2].size() - 1] ^= 1;  // comm_r_last
  const std::vector<BadEntry> entries = check_vanilla_blobs(fixture.known, blobs);
  ASSERT_EQ(entries.size(), 1u + 1 + 2 * kWindowPostChallenges);
  EXPECT_THAT(to_string(entries[0]),
              HasSubstr("index 1 (sector 2): PoSt vanilla proof: truncated at byte"));
  EXPECT_EQ(to_string(entries[1]),
            "index 2 (sector 3): comm_r: it is not the hash of comm_c and comm_r_last");
}

// As in a request: nothing but the blobs says which sectors they are of.
TEST(PostVanillaCheck, TakesTheSectorOfABlobThatCannotBeDecodedFromItsFront) {
  Fixture fixture = golden("2KiB-v1_1", "window-multi");
  fixture.known.sectors.reset();
  auto blobs =
      decode_vanilla_file(testing::golden_bytes("sectors/2KiB-v1_1/window-multi.vanilla.json"));
  // The last element is no longer below r.
  std::fill(blobs[1].end() - 32, blobs[1].end(), std::uint8_t{0xff});
  blobs[2].resize(7);
  const std::vector<BadEntry> entries = check_vanilla_blobs(fixture.known, blobs);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_THAT(to_string(entries[0]), StartsWith("index 1 (sector 2): PoSt vanilla proof: "));
  EXPECT_THAT(to_string(entries[1]), StartsWith("index 2: PoSt vanilla proof: truncated"));
}

TEST(PostVanillaCheck, SaysThatRandomnessMustHaveItsTopBitsCleared) {
  Fixture fixture = golden("2KiB-v1_1", "window");
  (*fixture.known.randomness)[31] |= 0x80;
  EXPECT_THAT(fixture.complaints()[0],
              HasSubstr("the two top bits of the last byte must be cleared"));
}

}  // namespace
}  // namespace cuzk::filecoin::post
