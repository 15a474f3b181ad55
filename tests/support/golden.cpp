#include "support/golden.hpp"

#include "base/error.hpp"

#include <zstd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace cuzk::testing {
namespace {

base::Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) base::fail<base::CorruptData>("golden file {}: cannot be opened", path.string());
  base::Bytes bytes(static_cast<std::size_t>(size));
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), size)) {
    base::fail<base::CorruptData>("golden file {}: cannot be read", path.string());
  }
  return bytes;
}

/// Frames written by `zstd` from a file state their content size, which the result is made with.
base::Bytes decompress(base::ByteView packed, const std::filesystem::path& path) {
  constexpr unsigned long long kLimit = 1ULL << 30;
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLimit) {
    base::fail<base::CorruptData>(
        "golden file {}: no zstd frame of a known size up to {} bytes; restore it from git",
        path.string(), kLimit);
  }
  base::Bytes bytes(static_cast<std::size_t>(size));
  const std::size_t got = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != bytes.size()) {
    base::fail<base::CorruptData>(
        "golden file {}: {}; restore it from git", path.string(),
        ZSTD_isError(got) != 0 ? ZSTD_getErrorName(got) : "shorter than its header says");
  }
  return bytes;
}

}  // namespace

std::filesystem::path golden_folder() {
  const char* folder = std::getenv("CUZK_GOLDEN");
  return folder != nullptr && *folder != '\0' ? folder : CUZK_GOLDEN_DIR;
}

std::filesystem::path golden_path(std::string_view name) {
  const std::filesystem::path relative = std::filesystem::path(name).lexically_normal();
  base::require(!relative.empty() && relative.is_relative() && *relative.begin() != "..",
                "golden file '{}': not a name relative to the golden folder", name);
  std::filesystem::path plain = golden_folder() / relative;
  if (std::filesystem::is_regular_file(plain)) return plain;
  std::filesystem::path packed = plain;
  packed += ".zst";
  base::require(std::filesystem::is_regular_file(packed),
                "golden file '{}': neither it nor '{}.zst' is in {}", name, name,
                golden_folder().string());
  return packed;
}

base::Bytes golden_bytes(std::string_view name) {
  const std::filesystem::path path = golden_path(name);
  base::Bytes bytes = read_file(path);
  const bool packed = path.extension() == ".zst" && !name.ends_with(".zst");
  return packed ? decompress(bytes, path) : bytes;
}

nlohmann::json golden_json(std::string_view name) {
  const base::Bytes bytes = golden_bytes(name);
  try {
    return nlohmann::json::parse(bytes.begin(), bytes.end());
  } catch (const nlohmann::json::parse_error& error) {
    base::fail<base::CorruptData>("golden file '{}': {}", name, error.what());
  }
}

}  // namespace cuzk::testing
