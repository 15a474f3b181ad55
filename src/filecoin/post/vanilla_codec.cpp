#include "filecoin/post/vanilla_codec.hpp"

#include "base/error.hpp"
#include "filecoin/decode_blobs.hpp"
#include "filecoin/inclusion_proof_codec.hpp"

namespace cuzk::filecoin::post {

VanillaProof decode_vanilla_proof(base::ByteView blob, SectorSize size, unsigned challenges) {
  const TreeShape shape = tree_r_shape(size);
  base::ByteReader reader(blob, "PoSt vanilla proof");
  VanillaProof proof;
  proof.sector_number = reader.u64_le("sector number");
  proof.comm_r = read_fr(reader, "comm_r");
  const std::uint64_t sectors = reader.u64_le("number of sectors");
  base::require(sectors == 1, "{}: {} sectors in one blob, 1 expected", reader.name(), sectors);
  const std::uint64_t count = reader.u64_le("number of inclusion proofs");
  base::require(count == challenges, "{}: {} inclusion proofs, {} expected", reader.name(), count,
                challenges);
  for (unsigned i = 0; i < challenges; ++i) {
    try {
      proof.inclusions.push_back(read_inclusion_proof(reader, shape));
    } catch (const base::InvalidInput& error) {
      base::fail<base::InvalidInput>("inclusion_proofs[{}]: {}", i, error.what());
    }
  }
  proof.comm_c = read_fr(reader, "comm_c");
  proof.comm_r_last = read_fr(reader, "comm_r_last");
  reader.expect_end();
  return proof;
}

std::vector<VanillaProof> decode_vanilla_proofs(std::span<const base::Bytes> blobs, SectorSize size,
                                                unsigned challenges) {
  return decode_blobs(
      blobs, [&](base::ByteView blob) { return decode_vanilla_proof(blob, size, challenges); });
}

base::Bytes encode_vanilla_proof(const VanillaProof& proof, SectorSize size) {
  const TreeShape shape = tree_r_shape(size);
  base::ByteWriter writer;
  writer.u64_le(proof.sector_number);
  write_fr(writer, proof.comm_r);
  writer.u64_le(1);
  writer.u64_le(proof.inclusions.size());
  for (const InclusionProof& inclusion : proof.inclusions)
    write_inclusion_proof(writer, inclusion, shape);
  write_fr(writer, proof.comm_c);
  write_fr(writer, proof.comm_r_last);
  return writer.take();
}

std::size_t vanilla_proof_bytes(SectorSize size, unsigned challenges) {
  return 8 + 32 + 8 + 8 + challenges * inclusion_proof_bytes(tree_r_shape(size)) + 32 + 32;
}

std::optional<SectorSize> sector_size_of(base::ByteView blob, unsigned challenges) {
  for (const SectorSize size : SectorSize::all()) {
    if (blob.size() == vanilla_proof_bytes(size, challenges)) return size;
  }
  return std::nullopt;
}

}  // namespace cuzk::filecoin::post
