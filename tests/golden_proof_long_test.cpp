#include "proof_cases.hpp"

#include <gtest/gtest.h>

// Keys and proofs of the larger 2 KiB circuits: minutes of key making, 2 GB of files.
namespace cuzk {
namespace {

TEST(GoldenProofLarge, WindowPostDerivedWithoutATrapdoor) {
  testing::ProofTool tool;
  const testing::KeyCase& key = testing::key_case("window-post");
  ASSERT_NO_FATAL_FAILURE(tool.expect_golden_key(key));
  ASSERT_NO_FATAL_FAILURE(tool.expect_derivable(key));
  tool.expect_golden_proofs(key);
}

TEST(GoldenProofLarge, Update) {
  testing::ProofTool tool;
  const testing::KeyCase& key = testing::key_case("update");
  ASSERT_NO_FATAL_FAILURE(tool.expect_golden_key(key));
  tool.expect_golden_proofs(key);
}

TEST(GoldenProofLarge, Porep) {
  testing::ProofTool tool;
  const testing::KeyCase& key = testing::key_case("porep");
  ASSERT_NO_FATAL_FAILURE(tool.expect_golden_key(key));
  tool.expect_golden_proofs(key);
  EXPECT_NE(tool.verify_against(key, "2KiB-v1/porep", "2KiB-v1_1/porep"), 0);
}

}  // namespace
}  // namespace cuzk
