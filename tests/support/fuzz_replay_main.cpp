// Runs a fuzz target over kept inputs, without libFuzzer: each argument is a file or a folder (with
// all below it). Prints the count. Fails if an argument is missing or no input was found, so that a
// lost corpus is no silent pass.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

/// The regular files named by or below `argument`, sorted: the order must not depend on the file
/// system.
std::vector<fs::path> inputs_of(const fs::path& argument) {
  if (fs::is_regular_file(argument)) return {argument};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argument)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool replay(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  // Exactly as long as the input, so that a sanitizer sees every read past its end.
  const std::vector<char> text{std::istreambuf_iterator<char>(in),
                               std::istreambuf_iterator<char>()};
  if (in.bad() || !in.is_open()) {
    std::fprintf(stderr, "fuzz replay: cannot read %s\n", file.c_str());
    return false;
  }
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    const fs::path argument = argv[i];
    const std::vector<fs::path> files =
        fs::exists(argument) ? inputs_of(argument) : std::vector<fs::path>{};
    if (files.empty()) {
      std::fprintf(stderr, "fuzz replay: no input in %s\n", argument.c_str());
      return 1;
    }
    for (const fs::path& file : files) {
      if (!replay(file)) return 1;
    }
    count += files.size();
  }
  std::printf("%zu inputs replayed\n", count);
  return count == 0 ? 1 : 0;
}
