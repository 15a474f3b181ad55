#pragma once

#include "base/bytes.hpp"
#include "filecoin/post/vanilla.hpp"
#include "filecoin/sector.hpp"

#include <optional>
#include <span>
#include <vector>

namespace cuzk::filecoin::post {

/// A PoSt vanilla proof of one sector as it travels in a request: the reference library's bincode,
/// one blob a sector. [rust-fil-proofs filecoin-proofs/src/types/mod.rs FallbackPoStSectorProof]
///   u64 sector number | 32 bytes comm_r | u64 1 (one sector) | u64 number of inclusion proofs |
///   the inclusion proofs (inclusion_proof_codec.hpp) | 32 bytes comm_c | 32 bytes comm_r_last
/// All integers little-endian. The size of a blob follows from sector size and number of
/// challenges.

/// Throws InvalidInput unless `blob` is exactly a proof of that many challenges
/// (kWindowPostChallenges or kWinningPostChallenges) for that sector size. Nothing is checked but
/// the form: see vanilla_check.hpp.
VanillaProof decode_vanilla_proof(base::ByteView blob, SectorSize size, unsigned challenges);

/// One blob a sector (decode_blobs.hpp).
std::vector<VanillaProof> decode_vanilla_proofs(std::span<const base::Bytes> blobs, SectorSize size,
                                                unsigned challenges);

/// Throws InvalidInput for a proof whose paths do not have the shape of that sector size.
base::Bytes encode_vanilla_proof(const VanillaProof& proof, SectorSize size);

/// Size of a blob in bytes.
std::size_t vanilla_proof_bytes(SectorSize size, unsigned challenges);

/// The sector size whose blobs of that many challenges have the length of this one. No two sizes
/// share a length.
std::optional<SectorSize> sector_size_of(base::ByteView blob, unsigned challenges);

}  // namespace cuzk::filecoin::post
