#pragma once

#include "filecoin/sector.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// Vanilla proofs of sectors that do not exist, in the formats of files: for tests and benchmarks.
namespace cuzk::cli {

struct SyntheticOptions {
  std::string kind;  ///< porep, winning-post, window-post or snap
  std::uint64_t seed = 0;
  std::uint64_t miner_id = 1000;
  std::uint64_t sector_number = 1;              ///< of the first sector
  std::optional<std::string> registered_proof;  ///< porep: name or number
  std::optional<std::string> api_version;       ///< window-post
  std::optional<std::size_t> sectors;           ///< window-post; empty: a full partition
  bool bare = false;                            ///< porep: the C1 output alone
};

struct SyntheticVanilla {
  std::string proof;  ///< C1 JSON, or a JSON array of base64 strings
  std::string meta;   ///< JSON of public values
};

/// A function of options and size alone. Throws InvalidInput for an option that the kind does not
/// have or a size or registered proof that does not exist.
SyntheticVanilla make_synthetic_vanilla(const SyntheticOptions& options, filecoin::SectorSize size);

}  // namespace cuzk::cli
