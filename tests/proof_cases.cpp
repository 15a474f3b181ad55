#include "proof_cases.hpp"

#include "base/bytes.hpp"
#include "base/mapped_file.hpp"
#include "cli/commands.hpp"
#include "hash/sha256.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace cuzk::testing {

namespace {

void write(const std::filesystem::path& path, base::ByteView bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

base::Bytes read(const std::filesystem::path& path) {
  const base::MappedFile file(path);
  return {file.bytes().begin(), file.bytes().end()};
}

// SHA-256 of a golden key file, from the list of all, which also has those that are not kept.
std::string golden_sha256(const std::string& name) {
  const base::Bytes list = golden_bytes("keys/SHA256SUMS");
  const std::string text(list.begin(), list.end());
  const auto at = text.find(name);
  if (at == std::string::npos || at < 66)
    throw std::runtime_error("keys/SHA256SUMS has no " + name);
  return text.substr(at - 66, 64);
}

std::string sector_of(const std::string& artefact) {
  return "sectors/" + artefact.substr(0, artefact.find('/')) + "/";
}
std::string name_of(const std::string& artefact) { return artefact.substr(artefact.find('/') + 1); }

}  // namespace

const KeyCase& key_case(const std::string& circuit) {
  static const std::vector<KeyCase> cases = {
      {"window-post",
       "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
       "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0",
       "window-post",
       {"2KiB-v1_1/window", "2KiB-v1_1/window-multi"}},
      {"winning-post",
       "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
       "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e",
       "winning-post",
       {"2KiB-v1_1/winning"}},
      {"update",
       "empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
       "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194",
       "snap",
       {"2KiB-v1_1/update"}},
      {"porep",
       "stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
       "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
       "porep",
       {"2KiB-v1_1/porep", "2KiB-v1/porep", "2KiB-v1_2-synth/porep", "2KiB-v1_2-ni/porep"}}};
  for (const KeyCase& key : cases) {
    if (key.circuit == circuit) return key;
  }
  throw std::runtime_error("no golden key for " + circuit);
}

ProofTool::ProofTool(std::vector<std::string> prove_options)
    : prove_options_(std::move(prove_options)) {
  static int count = 0;
  folder_ = std::filesystem::temp_directory_path() /
            ("cuzk_proof_test_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  std::filesystem::create_directories(folder_);
}

ProofTool::~ProofTool() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::filesystem::path ProofTool::copy(const std::string& golden) {
  const std::filesystem::path path = folder_ / std::filesystem::path(golden).filename();
  write(path, golden_bytes(golden));
  return path;
}

int ProofTool::run(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"cuzk"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return cli::run(static_cast<int>(argv.size()), argv.data());
}

void ProofTool::expect_golden_key(const KeyCase& key) {
  const auto trapdoor = copy("keys/v28-" + key.key + ".trapdoor.json");
  ASSERT_EQ(run({"setup", "--circuit", key.circuit, "--sector-size", "2KiB", "--params-dir",
                 folder_.string(), "--trapdoor", trapdoor.string()}),
            0);
  for (const char* extension : {".params", ".vk"}) {
    const std::string name = "v28-" + key.key + extension;
    const base::MappedFile file(folder_ / name);
    hash::Sha256 sha256;
    sha256.update(file.bytes());
    EXPECT_EQ(base::to_hex(sha256.finish()), golden_sha256(name)) << name;
  }
}

void ProofTool::expect_derivable(const KeyCase& key) {
  const auto path = folder_ / ("v28-" + key.key + ".derivative");
  const base::Bytes from_trapdoor = read(path);
  std::filesystem::remove(path);
  ASSERT_EQ(run({"params", "derive", "--circuit", key.circuit, "--sector-size", "2KiB",
                 "--params-dir", folder_.string()}),
            0);
  EXPECT_TRUE(read(path) == from_trapdoor);
}

std::vector<std::string> ProofTool::statement(const KeyCase& key, const std::string& artefact,
                                              const std::string& meta_of) {
  const auto meta = copy(sector_of(meta_of) + "meta.json");
  std::vector<std::string> out = {key.kind, "--params-dir", folder_.string(), "--meta",
                                  meta.string()};
  if (name_of(artefact) == "window-multi")
    out.insert(out.end(), {"--meta-section", "window-multi"});
  return out;
}

void ProofTool::expect_golden_proof(const KeyCase& key, const std::string& artefact,
                                    const std::string& quotient) {
  const auto golden = golden_json(sector_of(artefact) + name_of(artefact) + ".proofs.json");
  std::string expected;
  for (const auto& partition : golden.at("fixed"))
    expected += partition.at("proof").get<std::string>();
  ASSERT_FALSE(expected.empty());
  const bool porep = key.kind == "porep";
  const auto vanilla =
      copy(sector_of(artefact) + (porep ? "c1.json" : name_of(artefact) + ".vanilla.json"));
  const auto proof = folder_ / "proof";
  const auto known = statement(key, artefact, artefact);
  std::vector<std::string> prove = {"prove"};
  prove.insert(prove.end(), known.begin(), known.end());
  prove.insert(prove.end(),
               {porep ? "--c1" : "--vanilla", vanilla.string(), "--out", proof.string(),
                "--quotient", quotient, "--insecure-test-r", golden.at("r").get<std::string>(),
                "--insecure-test-s", golden.at("s").get<std::string>()});
  prove.insert(prove.end(), prove_options_.begin(), prove_options_.end());
  ASSERT_EQ(run(prove), 0) << quotient;
  EXPECT_EQ(base::to_hex(read(proof)), expected) << quotient;
}

void ProofTool::expect_golden_proofs(const KeyCase& key) {
  for (const std::string& artefact : key.artefacts) {
    SCOPED_TRACE(artefact);
    for (const char* quotient : {"textbook", "derivative"})
      ASSERT_NO_FATAL_FAILURE(expect_golden_proof(key, artefact, quotient));
    const auto proof = folder_ / "proof";
    const auto known = statement(key, artefact, artefact);
    std::vector<std::string> verify = {"verify"};
    verify.insert(verify.end(), known.begin(), known.end());
    verify.insert(verify.end(), {"--proof", proof.string()});
    EXPECT_EQ(run(verify), 0);
    const base::Bytes valid = read(proof);
    for (const std::size_t bit :
         {std::size_t{3}, std::size_t{8 * 47}, std::size_t{8 * 100 + 5}, 8 * valid.size() - 1}) {
      base::Bytes changed = valid;
      changed[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      write(proof, changed);
      EXPECT_NE(run(verify), 0) << "bit " << bit;
    }
    if (valid.size() > 192) {
      base::Bytes swapped = valid;
      std::swap_ranges(swapped.begin(), swapped.begin() + 192, swapped.begin() + 192);
      write(proof, swapped);
      EXPECT_NE(run(verify), 0) << "partitions swapped";
    }
    write(proof, base::ByteView(valid).first(valid.size() - 1));
    EXPECT_NE(run(verify), 0) << "a byte short";
  }
}

int ProofTool::verify_against(const KeyCase& key, const std::string& artefact,
                              const std::string& meta_of) {
  const auto golden = golden_json(sector_of(artefact) + name_of(artefact) + ".proofs.json");
  std::string hex;
  for (const auto& partition : golden.at("fixed")) hex += partition.at("proof").get<std::string>();
  const auto proof = folder_ / "other_proof";
  write(proof, base::from_hex(hex).value());
  std::vector<std::string> verify = {"verify"};
  const auto known = statement(key, artefact, meta_of);
  verify.insert(verify.end(), known.begin(), known.end());
  verify.insert(verify.end(), {"--proof", proof.string()});
  return run(verify);
}

}  // namespace cuzk::testing
