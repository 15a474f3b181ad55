#pragma once

#include "base/bytes.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string_view>

namespace cuzk::testing {

/// The golden data: what the reference implementation computes. tests/golden/README.md describes
/// every file. A name is relative to that folder, '/'-separated, and is the name of the
/// uncompressed file: where only `<name>.zst` is kept, golden_bytes and golden_json decompress it.
/// All functions may be called from several threads.

/// Folder of the golden data: the environment variable CUZK_GOLDEN if it is set and not empty, else
/// the repository's.
std::filesystem::path golden_folder();

/// Path of a file as it is on disk: `<name>` if that exists, else `<name>.zst`.
/// Throws InvalidInput if neither does, or if `name` leaves the folder.
std::filesystem::path golden_path(std::string_view name);

/// Content of a file, uncompressed. Throws like golden_path, and CorruptData if it cannot be read
/// or decompressed.
base::Bytes golden_bytes(std::string_view name);

/// Content of a JSON file. Throws like golden_bytes, and CorruptData if it is no JSON.
nlohmann::json golden_json(std::string_view name);

}  // namespace cuzk::testing
