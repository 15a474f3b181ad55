#pragma once

#include "groth16/derived_key.hpp"
#include "groth16/key_file.hpp"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace cuzk::groth16 {

/// What a thorough reading of a key file found. It takes seconds to minutes, so it is done once for
/// each version of the file and remembered beside it, in `<file>.checked` (JSON): size,
/// modification time and inode of the version, and this.
struct KeyCheck {
  std::string
      blake2b;  ///< of the whole file, the first 16 bytes in hex: what the network publishes
};

/// What is remembered of this version of the file; empty if it has not been checked.
std::optional<KeyCheck> remembered_check(const base::MappedFile& file);

/// The remembered check, or else a new one: decodes every point, checks curve and subgroup, digests
/// the file, remembers. The file is read in pieces, so that at most some hundred MB of it are in
/// memory. Where the result cannot be written, it is returned all the same. Throws CorruptData that
/// names the file and the array of the first bad point.
/// `known_good` is the digest of a file whose points are known to be good, the published one: of
/// that file only the digest is taken, by one core. Empty: none is known.
KeyCheck check_key(const KeyFile& key, std::string_view known_good = {});
KeyCheck check_key(const DerivedKeyFile& key);
/// The same until `stop` is requested: then empty within a second or so, and nothing is remembered.
std::optional<KeyCheck> check_key(const KeyFile& key, const std::stop_token& stop,
                                  std::string_view known_good = {});
std::optional<KeyCheck> check_key(const DerivedKeyFile& key, const std::stop_token& stop);

/// Remembers the version of the file that is there as checked. For whoever has just made it, of
/// points that are in the group by construction: it is read once, for its digest. Throws
/// CorruptData if it cannot be read.
KeyCheck record_checked_key(const std::filesystem::path& file);

}  // namespace cuzk::groth16
