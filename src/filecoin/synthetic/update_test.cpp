#include "filecoin/synthetic/update.hpp"

#include "base/error.hpp"
#include "filecoin/update/vanilla_check.hpp"
#include "filecoin/update/vanilla_codec.hpp"

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

std::vector<std::string> complaints(SectorSize size, const Update& update) {
  const update::Statement statement{.sector_size = size,
                                    .comm_r_old = update.comm_r_old,
                                    .comm_d_new = update.comm_d_new,
                                    .comm_r_new = update.comm_r_new,
                                    .h = update.h};
  std::vector<std::string> out;
  for (const BadEntry& entry : update::check_vanilla_proofs(statement, update.partitions)) {
    out.push_back(to_string(entry));
  }
  return out;
}

class SyntheticUpdate : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Sizes, SyntheticUpdate,
                         ::testing::Values("2KiB", "4KiB", "16KiB", "32KiB", "8MiB", "32GiB",
                                           "64GiB"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(SyntheticUpdate, PassesTheNativeCheckAndSurvivesItsFileFormat) {
  const SectorSize size = SectorSize::parse(GetParam());
  const Update update = make_update(size, 6);
  EXPECT_THAT(update.partitions, SizeIs(update_shape(size).partitions));
  EXPECT_EQ(update.h, update_shape(size).h_default);
  EXPECT_THAT(complaints(size, update), IsEmpty());

  std::set<base::Bytes32> old_leaves, data, new_leaves;
  std::size_t total = 0;
  for (const update::VanillaProof& partition : update.partitions) {
    EXPECT_TRUE(update::decode_vanilla_proof(update::encode_vanilla_proof(partition, size), size) ==
                partition);
    for (const update::ChallengeProof& challenge : partition.challenges) {
      EXPECT_EQ(challenge.r_new.root, update.comm_r_last_new);
      old_leaves.insert(challenge.r_old.leaf.to_bytes_le());
      data.insert(challenge.d_new.leaf.to_bytes_le());
      new_leaves.insert(challenge.r_new.leaf.to_bytes_le());
      ++total;
    }
  }
  // 16 values above 8 MiB; in R-new as many for each rho. Repeated challenges are possible in a
  // small sector.
  EXPECT_GE(old_leaves.size(), std::min<std::size_t>(total / 2, 14));
  EXPECT_GE(data.size(), std::min<std::size_t>(total / 2, 14));
  EXPECT_GE(new_leaves.size(), total / 2);
  EXPECT_FALSE(data.contains(base::Bytes32{}));
}

TEST(SyntheticUpdateSeed, AChangedBitIsNoticed) {
  const SectorSize size = SectorSize::parse("16KiB");
  const Update good = make_update(size, 1);
  const auto one = curve::Fr::one();
  const std::vector<std::function<void(Update&)>> changes = {
      [&](Update& update) { update.partitions[1].comm_c += one; },
      [&](Update& update) { update.partitions[1].apex_leaves[3] += one; },
      [&](Update& update) { update.partitions[1].challenges[9].d_new.leaf += one; },
      [&](Update& update) { update.partitions[1].challenges[9].r_old.siblings[0] += one; },
      [&](Update& update) { update.partitions[0].challenges[0].r_new.positions[0] ^= 1; },
      [&](Update& update) { update.comm_d_new += one; },
      [&](Update& update) { update.comm_r_new += one; },
      [&](Update& update) { std::swap(update.partitions[0], update.partitions[1]); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Update bad = good;
    changes[i](bad);
    EXPECT_THAT(complaints(size, bad), Not(IsEmpty())) << "change " << i;
  }
}

TEST(SyntheticUpdateSeed, TheUpdateIsAFunctionOfSizeAndSeed) {
  const SectorSize size = SectorSize::parse("32KiB");
  const Update update = make_update(size, 1);
  {
    const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    const Update again = make_update(size, 1);
    EXPECT_EQ(again.comm_r_new, update.comm_r_new);
    EXPECT_TRUE(again.partitions == update.partitions);
  }
  const Update other = make_update(size, 2);
  EXPECT_NE(other.comm_d_new, update.comm_d_new);
  EXPECT_NE(other.comm_r_old, update.comm_r_old);
  EXPECT_NE(other.comm_r_new, update.comm_r_new);
}

TEST(SyntheticUpdateSeed, RefusesTheSizeThatHasNoUpdate) {
  EXPECT_THROW(make_update(SectorSize::parse("1GiB"), 0), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::filecoin::synthetic
