#include "proof_cases.hpp"

#include <gtest/gtest.h>

// Keys and proofs of the small circuits, byte for byte the reference's, through the program's own
// commands.
namespace cuzk {
namespace {

TEST(GoldenProof, WindowPost) {
  testing::ProofTool tool;
  const testing::KeyCase& key = testing::key_case("window-post");
  ASSERT_NO_FATAL_FAILURE(tool.expect_golden_key(key));
  tool.expect_golden_proofs(key);
  // A proof of one sector says nothing about another.
  EXPECT_EQ(tool.verify_against(key, "2KiB-v1_1/window", "2KiB-v1_1/window"), 0);
  EXPECT_NE(tool.verify_against(key, "2KiB-v1_1/window", "2KiB-v1/window"), 0);
}

TEST(GoldenProof, WinningPost) {
  testing::ProofTool tool;
  const testing::KeyCase& key = testing::key_case("winning-post");
  ASSERT_NO_FATAL_FAILURE(tool.expect_golden_key(key));
  tool.expect_golden_proofs(key);
  EXPECT_NE(tool.verify_against(key, "2KiB-v1_1/winning", "2KiB-v1_2-ni/winning"), 0);
}

}  // namespace
}  // namespace cuzk
