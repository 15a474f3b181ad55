#include "support/golden.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuzk::testing {
namespace {

namespace fs = std::filesystem;

std::string sha256_hex(base::ByteView bytes) {
  base::Bytes32 digest;
  SHA256(bytes.data(), bytes.size(), digest.data());
  return base::to_hex(digest);
}

struct Listed {
  std::string digest;
  std::string name;
};

/// The lines of SHA256SUMS: digest of the uncompressed content, two spaces, name.
std::vector<Listed> listed_files() {
  const base::Bytes bytes = golden_bytes("SHA256SUMS");
  std::istringstream in(std::string(bytes.begin(), bytes.end()));
  std::vector<Listed> files;
  for (std::string line; std::getline(in, line);) {
    if (line.size() < 67 || line.substr(64, 2) != "  ")
      base::fail<base::CorruptData>("SHA256SUMS: line '{}'", line);
    files.push_back({line.substr(0, 64), line.substr(66)});
  }
  return files;
}

TEST(GoldenData, EveryListedFileHasItsDigest) {
  const std::vector<Listed> files = listed_files();
  ASSERT_GT(files.size(), 100U);
  for (const Listed& file : files)
    EXPECT_EQ(sha256_hex(golden_bytes(file.name)), file.digest) << file.name;
}

TEST(GoldenData, EveryFileOnDiskIsListedOnce) {
  std::multiset<std::string> listed;
  for (const Listed& file : listed_files()) listed.insert(file.name);
  std::multiset<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(golden_folder())) {
    if (!entry.is_regular_file()) continue;
    std::string name = entry.path().lexically_relative(golden_folder()).generic_string();
    if (name.ends_with(".zst")) name.resize(name.size() - 4);
    if (name != "SHA256SUMS" && name != "README.md") found.insert(name);
  }
  EXPECT_EQ(found, listed);
}

TEST(Golden, ReadsPlainAndCompressedJson) {
  EXPECT_EQ(golden_path("r1cs/porep-2KiB.json").extension(), ".json");
  EXPECT_EQ(golden_json("r1cs/porep-2KiB.json").at("num_inputs").get<int>(), 40);
  EXPECT_EQ(golden_path("gadgets.json").extension(), ".zst");
  EXPECT_EQ(golden_json("gadgets.json").at("gadgets").size(), 66U);
}

TEST(Golden, ACompressedFileCanBeReadAsItIs) {
  const base::Bytes packed = golden_bytes("gadgets.json.zst");
  EXPECT_THAT(base::Bytes(packed.begin(), packed.begin() + 4),
              ::testing::ElementsAre(0x28, 0xb5, 0x2f, 0xfd));
}

TEST(Golden, RejectsNamesThatAreNotThere) {
  EXPECT_THROW(golden_path("no-such-file.json"), base::InvalidInput);
  EXPECT_THROW(golden_path(""), base::InvalidInput);
  EXPECT_THROW(golden_path("r1cs"), base::InvalidInput);
  EXPECT_THROW(golden_path("../golden/README.md"), base::InvalidInput);
  EXPECT_THROW(golden_path("r1cs/../../golden/README.md"), base::InvalidInput);
  EXPECT_THROW(golden_path("/etc/passwd"), base::InvalidInput);
  EXPECT_THROW(golden_json("README.md"), base::CorruptData);
}

/// A folder of its own that CUZK_GOLDEN points to while it lives.
class OtherFolder : public ::testing::Test {
 protected:
  OtherFolder()
      : folder_(fs::temp_directory_path() / ("cuzk-golden-test-" + std::to_string(getpid()))) {
    if (const char* value = std::getenv("CUZK_GOLDEN")) before_ = value;
    fs::create_directories(folder_);
    setenv("CUZK_GOLDEN", folder_.c_str(), 1);
  }
  ~OtherFolder() override {
    before_.empty() ? unsetenv("CUZK_GOLDEN") : setenv("CUZK_GOLDEN", before_.c_str(), 1);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void write(const std::string& name, base::ByteView bytes) {
    std::ofstream out(folder_ / name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }

  fs::path folder_;
  std::string before_;
};

TEST_F(OtherFolder, TheEnvironmentNamesTheFolder) {
  write("x.json", base::as_bytes(R"({"a": 7})"));
  EXPECT_EQ(golden_folder(), folder_);
  EXPECT_EQ(golden_json("x.json").at("a").get<int>(), 7);
  EXPECT_THROW(golden_path("r1cs/porep-2KiB.json"), base::InvalidInput);
}

TEST_F(OtherFolder, DamagedCompressedFilesAreReported) {
  unsetenv("CUZK_GOLDEN");
  base::Bytes packed = golden_bytes("gadgets.json.zst");
  setenv("CUZK_GOLDEN", folder_.c_str(), 1);

  write("short.json.zst", base::ByteView(packed).first(packed.size() / 2));
  EXPECT_THROW(golden_bytes("short.json"), base::CorruptData);
  write("empty.json.zst", {});
  EXPECT_THROW(golden_bytes("empty.json"), base::CorruptData);
  write("text.json.zst", base::as_bytes("this is no zstd frame"));
  EXPECT_THROW(golden_bytes("text.json"), base::CorruptData);
  packed[packed.size() / 2] ^= 0xffU;
  write("flipped.json.zst", packed);
  EXPECT_THROW(golden_bytes("flipped.json"), base::CorruptData);
}

}  // namespace
}  // namespace cuzk::testing
