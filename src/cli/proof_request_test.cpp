#include "cli/proof_request.hpp"

#include "base/error.hpp"
#include "cli/testing.hpp"
#include "support/golden.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuzk::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct StandIn {
  std::string folder;
  base::Bytes c1, meta_text;
  filecoin::Meta meta;

  explicit StandIn(const std::string& sector)
      : folder("sectors/" + sector + "/"),
        c1(testing::golden_bytes(folder + "c1.json")),
        meta_text(testing::golden_bytes(folder + "meta.json")),
        meta(filecoin::decode_meta(base::as_text(meta_text))) {}
};

// The bare C1 output of a small sector carries a large proof's name; the meta file says its size.
TEST(ProofRequest, TheMetaFileSaysTheSizeOfAStandIn) {
  for (const char* sector : {"16KiB-v1_1", "32KiB-v1_1"}) {
    const StandIn in(sector);
    EXPECT_THROW(porep_request(base::as_text(in.c1)), base::InvalidInput);
    const ProofRequest request = porep_request(base::as_text(in.c1), in.meta.sector_size);
    const Statement known = make_statement(ProofKind::kPorep, in.meta);
    EXPECT_EQ(request.statement.circuit.size, in.meta.sector_size);
    EXPECT_EQ(request.statement.circuit.size, known.circuit.size);
    EXPECT_EQ(request.statement.public_inputs, known.public_inputs);
  }
}

// Whatever ends it here, for want of parameter files, is not the C1 output.
TEST(ProofRequest, ProveReadsAStandInWithItsMetaFile) {
  const StandIn in("16KiB-v1_1");
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("cuzk_proof_request_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, base::ByteView content) {
    std::ofstream(folder / name, std::ios::binary) << base::as_text(content);
    return (folder / name).string();
  };
  std::vector<std::string> command = {"prove",        "porep",
                                      "--c1",         write("c1.json", in.c1),
                                      "--meta",       write("meta.json", in.meta_text),
                                      "--params-dir", folder.string(),
                                      "--cache-dir",  folder.string(),
                                      "--out",        (folder / "proof").string()};
  const Outcome local = run_cuzk(command);
  command.insert(command.end(), {"--addr", "unix://" + (folder / "no-daemon").string()});
  const Outcome remote = run_cuzk(command);
  for (const Outcome& outcome : {local, remote}) {
    EXPECT_NE(outcome.status, 0);
    EXPECT_THAT(outcome.err, Not(HasSubstr("c1.json: ")));
    EXPECT_THAT(outcome.err, Not(HasSubstr("meta.json: ")));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cuzk::cli
