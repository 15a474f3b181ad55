#include "support/golden.hpp"
#include "witness_cases.hpp"

#include <gtest/gtest.h>

// A real production proof: 10 GB of memory and some minutes.
namespace cuzk {
namespace {

TEST(GoldenWitnessLarge, RealWindowPostPartitionEqualsReference) {
  const auto golden = testing::golden_json("real/wpost-32GiB-one-sector.witness.json");
  const auto artefact = testing::golden_real_window_witness();
  testing::expect_witness(golden.at("partitions")[0], artefact.shape, artefact.partitions[0]);
  testing::expect_completion(artefact);
}

}  // namespace
}  // namespace cuzk
