#pragma once

#include "base/bytes.hpp"
#include "filecoin/sector.hpp"
#include "filecoin/update/vanilla.hpp"

#include <optional>
#include <span>
#include <vector>

namespace cuzk::filecoin::update {

/// One partition's vanilla proof of a sector update as it travels in a request: the reference
/// library's bincode. [rust-fil-proofs storage-proofs-update/src/vanilla.rs PartitionProof]
///   32 bytes comm_c | u64 number of apex leaves, 32 bytes each | u64 number of challenges, each
///   three Merkle proofs (inclusion_proof_codec.hpp): tree R-last old, tree D new, tree R-last new
/// All integers little-endian. The size of a blob follows from the sector size.

/// Throws InvalidInput unless `blob` is exactly one partition's proof for that sector size. Nothing
/// is checked but the form: see vanilla_check.hpp.
VanillaProof decode_vanilla_proof(base::ByteView blob, SectorSize size);

/// One blob a partition (decode_blobs.hpp).
std::vector<VanillaProof> decode_vanilla_proofs(std::span<const base::Bytes> blobs,
                                                SectorSize size);

/// Throws InvalidInput for a proof whose paths do not have the shape of that sector size.
base::Bytes encode_vanilla_proof(const VanillaProof& proof, SectorSize size);

/// Size of a blob in bytes.
std::size_t vanilla_proof_bytes(SectorSize size);

/// The sector size whose blobs have the length of this one. No two sizes share a length.
std::optional<SectorSize> sector_size_of(base::ByteView blob);

}  // namespace cuzk::filecoin::update
