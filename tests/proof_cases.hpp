#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace cuzk::testing {

/// One 2 KiB circuit with a golden key, and the golden artefacts proved with it.
struct KeyCase {
  std::string circuit;  ///< of `cuzk setup`
  std::string key;      ///< golden keys/<key>.{trapdoor.json,vk}, without "v28-" at its front
  std::string kind;     ///< of `cuzk prove`
  std::vector<std::string> artefacts;  ///< "2KiB-v1_1/window"
};

const KeyCase& key_case(const std::string& circuit);

/// Runs the program's commands, in this process, over copies of the golden files in a folder of its
/// own.
class ProofTool {
 public:
  /// `prove_options` go with every `cuzk prove`.
  explicit ProofTool(std::vector<std::string> prove_options = {});
  ~ProofTool();
  ProofTool(const ProofTool&) = delete;
  ProofTool& operator=(const ProofTool&) = delete;

  /// Makes the key from the golden trapdoor and compares the files' SHA-256 with the golden ones.
  void expect_golden_key(const KeyCase& key);
  /// Makes the derived key again, from the key's points instead of its trapdoor: the same bytes.
  void expect_derivable(const KeyCase& key);
  /// For every artefact and both quotients: the golden r and s give the golden proof; it verifies;
  /// with one bit flipped, two partitions swapped or a byte missing it does not.
  void expect_golden_proofs(const KeyCase& key);
  void set_prove_options(std::vector<std::string> options) { prove_options_ = std::move(options); }
  /// Makes one golden proof again, with one quotient, and compares it.
  void expect_golden_proof(const KeyCase& key, const std::string& artefact,
                           const std::string& quotient);
  /// Exit status of verifying `artefact`'s golden proof as if it were of another sector.
  int verify_against(const KeyCase& key, const std::string& artefact, const std::string& meta_of);

 private:
  std::filesystem::path copy(const std::string& golden);
  int run(const std::vector<std::string>& arguments);
  std::vector<std::string> statement(const KeyCase& key, const std::string& artefact,
                                     const std::string& meta_of);

  std::filesystem::path folder_;
  std::vector<std::string> prove_options_;
};

}  // namespace cuzk::testing
