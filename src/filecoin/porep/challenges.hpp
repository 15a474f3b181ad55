#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <vector>

namespace cuzk::filecoin::porep {

/// The nodes that partition k of a PoRep must open: c = porep_shape(size).challenges_per_partition
/// of them, in [1, nodes) and not necessarily different. Each is 1 + x mod (nodes - 1) for a
/// 256-bit little-endian integer x; with j = c·k + i for the i-th one:
///   interactive      x = SHA-256(replica_id || seed || j)
///   non-interactive  x = SHA-256(tag || replica_id || comm_r || j)
///   synthetic        x = 32 bytes of G from 32·s on,
///                    s = the u32 of S from 4·j on, modulo min(nodes, 2^18)
/// where integers are u32 LE, tag is "filecoin.io|PoRep|1|NonInteractive|1", and G and S are
/// ChaCha20 streams with the nonce "synth-porep\0", whose keys are BLAKE2b with 32 bytes of output:
///   of G  keyed by "filecoin.io|PoRep|1|Synthetic|1|Generation", of replica_id || comm_r
///   of S  keyed by "filecoin.io|PoRep|1|Synthetic|1|Selection", of replica_id || seed
/// [rust-fil-proofs storage-proofs-porep/src/stacked/vanilla/challenges.rs]
std::vector<std::uint64_t> interactive_challenges(SectorSize size, const curve::Fr& replica_id,
                                                  const base::Bytes32& seed, unsigned k);
std::vector<std::uint64_t> non_interactive_challenges(SectorSize size, const curve::Fr& replica_id,
                                                      const curve::Fr& comm_r, unsigned k);
std::vector<std::uint64_t> synthetic_challenges(SectorSize size, const curve::Fr& replica_id,
                                                const curve::Fr& comm_r, const base::Bytes32& seed,
                                                unsigned k);

/// The one of the above that `feature` names. Which partitions exist is the registered proof's
/// matter.
std::vector<std::uint64_t> challenges(PorepFeature feature, SectorSize size,
                                      const curve::Fr& replica_id, const curve::Fr& comm_r,
                                      const base::Bytes32& seed, unsigned k);

/// The whole set from which a synthetic PoRep's challenges are selected: min(nodes, 2^18) nodes.
std::vector<std::uint64_t> synthetic_challenge_set(SectorSize size, const curve::Fr& replica_id,
                                                   const curve::Fr& comm_r);

}  // namespace cuzk::filecoin::porep
