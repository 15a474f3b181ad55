#pragma once

#include "engine/key_files.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "groth16/setup.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

namespace cuzk::engine::testing {

/// Makes a circuit's development key from a public seed, as `cuzk setup` does, once a process, and
/// puts its files into a folder.
class DevelopmentKeys {
 public:
  /// Without `derived` the file of the derivative form is left out.
  static void put(const CircuitId& circuit, const std::filesystem::path& folder,
                  bool derived = true) {
    static DevelopmentKeys all;
    std::filesystem::create_directories(folder);
    for (const auto& file : std::filesystem::directory_iterator(all.made(circuit))) {
      if (!derived && file.path().extension() == ".derivative") continue;
      const auto target = folder / file.path().filename();
      const auto copy = std::filesystem::path(target.string() + ".copy");
      std::filesystem::copy_file(file.path(), copy);
      std::filesystem::rename(copy, target);  // whoever has the old one mapped keeps it
    }
  }

 private:
  DevelopmentKeys() = default;
  ~DevelopmentKeys() { std::filesystem::remove_all(root_); }

  std::filesystem::path made(const CircuitId& circuit) {
    const std::lock_guard lock(mutex_);
    const auto folder = root_ / circuit.to_string();
    if (std::filesystem::exists(folder)) return folder;
    std::filesystem::create_directories(folder);
    const KeyPaths paths(folder, circuit);
    std::ofstream(paths.development_marker) << "for tests\n";
    groth16::write_keys(filecoin::build_shape(circuit.kind, circuit.size),
                        groth16::Trapdoor::from_seed(1),
                        {paths.params, paths.verifying_key, paths.derived});
    return folder;
  }

  std::mutex mutex_;
  const std::filesystem::path root_ = std::filesystem::temp_directory_path() /
                                      ("cuzk-development-keys-" + std::to_string(::getpid()));
};

/// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cuzk-engine-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cuzk::engine::testing
