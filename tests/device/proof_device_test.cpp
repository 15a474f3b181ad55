#include "base/cuda/device.hpp"
#include "proof_cases.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

// Golden proofs made on this machine's GPU through the program's own commands, byte for byte.
namespace cuzk {
namespace {

const std::vector<std::string> kPlain = {"--backend", "cuda"};
// Nothing beside anything, no tables: the other kernels.
const std::vector<std::string> kSmall = {"--backend", "cuda",         "--lanes",
                                         "1",         "--no-overlap", "--no-group-tables"};

void expect_golden(const std::string& circuit) {
  testing::ProofTool tool(kPlain);
  const testing::KeyCase& key = testing::key_case(circuit);
  ASSERT_NO_FATAL_FAILURE(tool.expect_golden_key(key));
  tool.expect_golden_proofs(key);
  tool.set_prove_options(kSmall);
  for (const char* quotient : {"textbook", "derivative"})
    ASSERT_NO_FATAL_FAILURE(tool.expect_golden_proof(key, key.artefacts.front(), quotient));
}

TEST(DeviceGolden, WindowPost) { expect_golden("window-post"); }
TEST(DeviceGolden, WinningPost) { expect_golden("winning-post"); }
TEST(DeviceGolden, Update) { expect_golden("update"); }
TEST(DeviceGolden, Porep) { expect_golden("porep"); }

// From the keys' points alone, as it is done for the network's keys.
TEST(DeviceGolden, DerivedKeysEqualTheTrapdoors) {
  for (const char* circuit : {"window-post", "winning-post", "update", "porep"}) {
    testing::ProofTool tool(kPlain);
    const testing::KeyCase& key = testing::key_case(circuit);
    ASSERT_NO_FATAL_FAILURE(tool.expect_golden_key(key));
    tool.expect_derivable(key);
  }
}

/// What a leak would show in.
struct Resources {
  std::size_t device_free = base::cuda::Device(0).free_bytes();
  std::size_t resident = read_status("VmRSS:");
  std::ptrdiff_t descriptors =
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});

  static std::size_t read_status(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(key)) return std::stoull(line.substr(key.size())) * 1024;
    }
    return 0;
  }
};

TEST(DeviceSoak, FiftyProofsOfMixedKindsLeaveNothingBehind) {
  constexpr std::size_t kTolerance = std::size_t{64} << 20;
  testing::ProofTool window(kPlain), winning(kPlain);
  const testing::KeyCase &window_key = testing::key_case("window-post"),
                         &winning_key = testing::key_case("winning-post");
  ASSERT_NO_FATAL_FAILURE(window.expect_golden_key(window_key));
  ASSERT_NO_FATAL_FAILURE(winning.expect_golden_key(winning_key));
  Resources settled;
  for (int i = 0; i < 50; ++i) {
    testing::ProofTool& tool = i % 2 == 0 ? window : winning;
    const testing::KeyCase& key = i % 2 == 0 ? window_key : winning_key;
    ASSERT_NO_FATAL_FAILURE(tool.expect_golden_proof(key, key.artefacts.front(),
                                                     i % 4 < 2 ? "textbook" : "derivative"));
    if (i == 4) settled = Resources();
  }
  const Resources end;
  EXPECT_GE(end.device_free + kTolerance, settled.device_free);
  EXPECT_LE(end.resident, settled.resident + kTolerance);
  EXPECT_EQ(end.descriptors, settled.descriptors);
}

}  // namespace
}  // namespace cuzk
