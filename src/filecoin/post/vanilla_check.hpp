#pragma once

#include "base/bytes.hpp"
#include "filecoin/post/public_inputs.hpp"
#include "filecoin/post/vanilla.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/vanilla_check.hpp"

#include <optional>
#include <span>
#include <vector>

namespace cuzk::filecoin::post {

/// What a PoSt is about, apart from its vanilla proofs.
struct PublicValues {
  SectorSize sector_size;
  bool winning = false;
  ApiVersion api_version = ApiVersion::k1_2;   ///< of a window PoSt; without meaning for winning
  std::optional<base::Bytes32> randomness;     ///< absent: which leaves are opened is not checked
  std::optional<std::vector<Sector>> sectors;  ///< absent: whatever the proofs say
  /// Place of the first proof's sector among all of the PoSt, if these are those of one partition.
  std::uint64_t first_position = 0;
};

/// Verifies the vanilla proofs of a PoSt natively; the i-th one is that of the i-th sector. For
/// each sector:
///   - number and comm_r are the given ones; comm_c and comm_r_last hash to comm_r;
///   - each challenge has a path, of the leaf derived from randomness, sector and challenge index;
///   - each path reaches comm_r_last;
///   - in a WindowPoSt its number is above that of the sector before: the verifier takes sectors in
///     ascending order, each once.
/// [rust-fil-proofs storage-proofs-post/src/fallback/vanilla.rs verify]
///
/// Returns everything that does not hold, ordered by sector; empty if all is right. In parallel
/// over the sectors. Cost at 32 GiB: 101 Poseidon hashes a sector (window), 661 (winning).
std::vector<BadEntry> check_vanilla_proofs(const PublicValues& known,
                                           std::span<const VanillaProof> proofs);

/// The same for proofs as they came in a request; one that cannot be decoded is a bad entry like
/// any other, of the given sector or else of the one that its first eight bytes name.
std::vector<BadEntry> check_vanilla_blobs(const PublicValues& known,
                                          std::span<const base::Bytes> blobs);

}  // namespace cuzk::filecoin::post
