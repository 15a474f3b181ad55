#include "filecoin/update/vanilla_codec.hpp"

#include "base/error.hpp"
#include "filecoin/decode_blobs.hpp"
#include "filecoin/inclusion_proof_codec.hpp"

namespace cuzk::filecoin::update {

VanillaProof decode_vanilla_proof(base::ByteView blob, SectorSize size) {
  const UpdateShape update = update_shape(size);
  const TreeShape tree_d = tree_d_shape(size), tree_r = tree_r_shape(size);
  base::ByteReader reader(blob, "update vanilla proof");
  VanillaProof proof;
  proof.comm_c = read_fr(reader, "comm_c");
  const std::uint64_t leaves = reader.u64_le("number of apex leaves");
  base::require(leaves == update.apex_leaves, "{}: {} apex leaves, {} expected", reader.name(),
                leaves, update.apex_leaves);
  for (unsigned i = 0; i < leaves; ++i) proof.apex_leaves.push_back(read_fr(reader, "apex leaf"));
  const std::uint64_t count = reader.u64_le("number of challenges");
  base::require(count == update.challenges_per_partition, "{}: {} challenges, {} expected",
                reader.name(), count, update.challenges_per_partition);
  for (unsigned i = 0; i < count; ++i) {
    const auto read = [&](std::string_view where, const TreeShape& shape) {
      try {
        return read_inclusion_proof(reader, shape);
      } catch (const base::InvalidInput& error) {
        base::fail<base::InvalidInput>("challenge_proofs[{}].{}: {}", i, where, error.what());
      }
    };
    ChallengeProof& challenge = proof.challenges.emplace_back();
    challenge.r_old = read("proof_r_old", tree_r);
    challenge.d_new = read("proof_d_new", tree_d);
    challenge.r_new = read("proof_r_new", tree_r);
  }
  reader.expect_end();
  return proof;
}

std::vector<VanillaProof> decode_vanilla_proofs(std::span<const base::Bytes> blobs,
                                                SectorSize size) {
  return decode_blobs(blobs, [&](base::ByteView blob) { return decode_vanilla_proof(blob, size); });
}

base::Bytes encode_vanilla_proof(const VanillaProof& proof, SectorSize size) {
  const TreeShape tree_d = tree_d_shape(size), tree_r = tree_r_shape(size);
  base::ByteWriter writer;
  write_fr(writer, proof.comm_c);
  writer.u64_le(proof.apex_leaves.size());
  for (const curve::Fr& leaf : proof.apex_leaves) write_fr(writer, leaf);
  writer.u64_le(proof.challenges.size());
  for (const ChallengeProof& challenge : proof.challenges) {
    write_inclusion_proof(writer, challenge.r_old, tree_r);
    write_inclusion_proof(writer, challenge.d_new, tree_d);
    write_inclusion_proof(writer, challenge.r_new, tree_r);
  }
  return writer.take();
}

std::size_t vanilla_proof_bytes(SectorSize size) {
  const UpdateShape update = update_shape(size);
  const std::size_t challenge =
      2 * inclusion_proof_bytes(tree_r_shape(size)) + inclusion_proof_bytes(tree_d_shape(size));
  return 32 + 8 + 32 * std::size_t{update.apex_leaves} + 8 +
         update.challenges_per_partition * challenge;
}

std::optional<SectorSize> sector_size_of(base::ByteView blob) {
  for (const SectorSize size : SectorSize::all()) {
    if (blob.size() == vanilla_proof_bytes(size)) return size;
  }
  return std::nullopt;
}

}  // namespace cuzk::filecoin::update
