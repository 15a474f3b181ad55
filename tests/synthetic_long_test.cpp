#include "filecoin/ids.hpp"
#include "filecoin/porep/vanilla_check.hpp"
#include "filecoin/post/vanilla_check.hpp"
#include "filecoin/synthetic/porep.hpp"
#include "filecoin/synthetic/post.hpp"
#include "filecoin/synthetic/update.hpp"
#include "filecoin/update/vanilla_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The synthetic vanilla proofs that take long to make: sectors sealed in memory, whole partitions,
// the sizes of update that the everyday tests leave out.
namespace cuzk::filecoin::synthetic {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> texts(const std::vector<BadEntry>& entries) {
  std::vector<std::string> out;
  for (const BadEntry& entry : entries) out.push_back(to_string(entry));
  return out;
}

TEST(SyntheticLong, SealedSectorsPassTheNativeCheck) {
  for (const auto& [size, proof] :
       {std::pair("8MiB", "StackedDrg8MiBV1_1_Feat_SyntheticPoRep"),
        std::pair("8MiB", "StackedDrg8MiBV1_2_Feat_NonInteractivePoRep"),
        std::pair("16MiB", "StackedDrg32GiBV1_1_Feat_SyntheticPoRep")}) {
    SCOPED_TRACE(proof);
    const auto output = make_porep({.sector_size = SectorSize::parse(size),
                                    .registered_proof = seal_proof_from_name(proof),
                                    .seed = 1});
    porep::PublicValues known;
    known.prover_id = prover_id(1000);
    known.sector_number = 1;
    EXPECT_THAT(texts(porep::check_vanilla_proofs(output, known)), IsEmpty());
  }
}

TEST(SyntheticLong, UpdatesPassTheNativeCheck) {
  for (const char* name : {"16MiB", "512MiB", "64GiB"}) {
    SCOPED_TRACE(name);
    const SectorSize size = SectorSize::parse(name);
    const Update update = make_update(size, 2);
    const update::Statement statement{.sector_size = size,
                                      .comm_r_old = update.comm_r_old,
                                      .comm_d_new = update.comm_d_new,
                                      .comm_r_new = update.comm_r_new,
                                      .h = update.h};
    EXPECT_THAT(update.partitions, SizeIs(update_shape(size).partitions));
    EXPECT_THAT(texts(update::check_vanilla_proofs(statement, update.partitions)), IsEmpty());
  }
}

TEST(SyntheticLong, AWholeWindowPostPartitionPassesTheNativeCheck) {
  const SectorSize size = SectorSize::parse("32GiB");
  const Post post = make_post({.sector_size = size,
                               .winning = false,
                               .seed = 3,
                               .num_sectors = window_post_sector_count(size)});
  ASSERT_THAT(post.proofs, SizeIs(2349));
  post::PublicValues known{.sector_size = size, .randomness = post.randomness, .sectors = {}};
  EXPECT_THAT(texts(post::check_vanilla_proofs(known, post.proofs)), IsEmpty());
}

}  // namespace
}  // namespace cuzk::filecoin::synthetic
