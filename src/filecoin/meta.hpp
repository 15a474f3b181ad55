#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "filecoin/post/public_inputs.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::filecoin {

/// The public values of a sector's proofs: the content of a `--meta` file.
///
/// JSON, all byte strings (X) as 64 hex digits:
///   {"size": "32GiB" (or "sector_bytes": 34359738368), "prover_id": X (or "miner_id": n),
///    "porep": {"registered_proof": "StackedDrg32GiBV1_1", "sector_id": n, "comm_r": X,
///              "comm_d": X, "replica_id": X, "seed": X, "ticket": X},
///    "window": {"api_version": "1.2.0", "randomness": X,
///               "sectors": [{"sector_id": n, "comm_r": X}, ...]},
///    "winning": likewise,
///    "update": {"comm_r_old": X, "comm_d_new": X, "comm_r_new": X, "h": n}}
///
/// Every member of the top level and of "porep" may be missing where nothing needs it; commands say
/// what they miss. Any key that begins with "window" or "winning" is a PoSt, so that a file can
/// hold several. Other members are ignored.
struct Meta {
  struct Porep {
    std::optional<RegisteredSealProof> registered_proof;
    std::optional<std::uint64_t> sector_number;
    std::optional<curve::Fr> comm_r, comm_d, replica_id;
    std::optional<base::Bytes32> seed, ticket;
  };
  struct Post {
    std::optional<ApiVersion> api_version;
    base::Bytes32 randomness;
    std::vector<post::Sector> sectors;
  };
  struct Update {
    curve::Fr comm_r_old, comm_d_new, comm_r_new;
    std::optional<unsigned> h;
  };

  std::optional<SectorSize> sector_size;
  std::optional<base::Bytes32> prover_id;
  std::optional<Porep> porep;
  std::map<std::string, Post> posts;  ///< "window", "winning", ...
  std::optional<Update> update;
};

/// Throws InvalidInput, naming the place: no JSON, a key twice, a member of the wrong type, no 64
/// hex digits, an element not below r, an unknown size, proof or version, size and sector_bytes or
/// prover_id and miner_id that disagree.
Meta decode_meta(std::string_view json);

}  // namespace cuzk::filecoin
