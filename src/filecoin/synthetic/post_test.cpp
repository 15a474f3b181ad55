#include "filecoin/synthetic/post.hpp"

#include "base/error.hpp"
#include "filecoin/post/vanilla_check.hpp"
#include "filecoin/post/vanilla_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <functional>
#include <set>

namespace cuzk::filecoin::synthetic {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> complaints(const PostOptions& options, const Post& post) {
  std::vector<post::Sector> sectors;
  for (std::size_t i = 0; i < options.num_sectors; ++i) {
    sectors.push_back({options.first_sector + i, post.proofs[i].comm_r});
  }
  const post::PublicValues known{.sector_size = options.sector_size,
                                 .winning = options.winning,
                                 .api_version = options.api_version,
                                 .randomness = post.randomness,
                                 .sectors = sectors};
  std::vector<std::string> out;
  for (const BadEntry& entry : post::check_vanilla_proofs(known, post.proofs))
    out.push_back(to_string(entry));
  return out;
}

class SyntheticPost : public ::testing::TestWithParam<const char*> {
 protected:
  SectorSize size_ = SectorSize::parse(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Sizes, SyntheticPost,
                         ::testing::Values("2KiB", "4KiB", "16KiB", "32KiB", "8MiB", "16MiB",
                                           "512MiB", "1GiB", "32GiB", "64GiB"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(SyntheticPost, PassesTheNativeCheckAndSurvivesItsFileFormat) {
  for (const PostOptions& options :
       {PostOptions{.sector_size = size_, .winning = true, .seed = 3, .first_sector = 8},
        PostOptions{
            .sector_size = size_, .winning = false, .seed = 3, .first_sector = 8, .num_sectors = 5},
        PostOptions{.sector_size = size_,
        .winning = false,
        .api_version = ApiVersion::k1_0,
        .num_sectors = 3}}) {
    const Post post = make_post(options);
    ASSERT_THAT(post.proofs, SizeIs(options.num_sectors));
    EXPECT_LT(post.randomness[31], 0x40);
    EXPECT_THAT(complaints(options, post), IsEmpty());
    const unsigned count = options.winning ? kWinningPostChallenges : kWindowPostChallenges;
    std::set<base::Bytes32> roots, comm_cs;
    for (std::size_t i = 0; i < options.num_sectors; ++i) {
      const post::VanillaProof& proof = post.proofs[i];
      EXPECT_TRUE(post::decode_vanilla_proof(post::encode_vanilla_proof(proof, size_), size_,
                                             count) == proof);
      ASSERT_THAT(post.challenges[i], SizeIs(count));
      for (std::size_t n = 0; n < count; ++n) {
        EXPECT_EQ(proof.inclusions[n].leaf_index(tree_r_shape(size_)), post.challenges[i][n]);
      }
      roots.insert(proof.comm_r_last.to_bytes_le());
      comm_cs.insert(proof.comm_c.to_bytes_le());
    }
    EXPECT_THAT(roots, SizeIs(options.num_sectors)) << "sectors share a tree";
    EXPECT_THAT(comm_cs, SizeIs(options.num_sectors));
  }
}

TEST(SyntheticPostOptions, AChangedBitIsNoticed) {
  const PostOptions options{
      .sector_size = SectorSize::parse("32KiB"), .winning = false, .num_sectors = 2};
  const Post good = make_post(options);
  const auto one = curve::Fr::one();
  const std::vector<std::function<void(Post&)>> changes = {
      [&](Post& post) { post.proofs[1].comm_c += one; },
      [&](Post& post) { post.proofs[1].inclusions[9].leaf += one; },
      [&](Post& post) { post.proofs[1].inclusions[0].siblings.back() += one; },
      [&](Post& post) { post.proofs[1].inclusions[0].positions.back() ^= 1; },
      [&](Post& post) { post.randomness[0] ^= 1; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Post bad = good;
    changes[i](bad);
    EXPECT_THAT(complaints(options, bad), Not(IsEmpty())) << "change " << i;
  }
}

TEST(SyntheticPostOptions, ThePostIsAFunctionOfTheOptions) {
  const PostOptions options{
      .sector_size = SectorSize::parse("512MiB"), .winning = false, .seed = 1, .num_sectors = 7};
  const Post post = make_post(options);
  {
    const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    const Post again = make_post(options);
    EXPECT_EQ(again.randomness, post.randomness);
    EXPECT_TRUE(again.proofs == post.proofs);
  }
  PostOptions other = options;
  other.seed = 2;
  EXPECT_NE(make_post(other).randomness, post.randomness);
  EXPECT_NE(make_post(other).proofs[0].comm_r, post.proofs[0].comm_r);
  other = options;
  other.api_version = ApiVersion::k1_1;
  EXPECT_EQ(make_post(other).challenges[0], post.challenges[0])
      << "the first sector's index is 0 in either version";
  EXPECT_NE(make_post(other).challenges[1], post.challenges[1]);
}

TEST(SyntheticPostOptions, RefusesANumberOfSectorsThatTheKindCannotHave) {
  PostOptions options{.sector_size = SectorSize::parse("2KiB"), .winning = true, .num_sectors = 2};
  EXPECT_THROW(make_post(options), base::InvalidInput);
  options.num_sectors = 0;
  EXPECT_THROW(make_post(options), base::InvalidInput);
  options.winning = false;
  EXPECT_THROW(make_post(options), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::synthetic
