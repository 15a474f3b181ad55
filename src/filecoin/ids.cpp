#include "filecoin/ids.hpp"

#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

namespace cuzk::filecoin {

base::Bytes32 porep_id(RegisteredSealProof proof, std::uint64_t nonce) {
  base::Bytes32 out{};
  base::store_u64_le(static_cast<std::uint64_t>(proof), out.data());
  base::store_u64_le(nonce, out.data() + 8);
  return out;
}

base::Bytes32 prover_id(std::uint64_t miner_id) {
  base::Bytes32 out{};
  std::size_t length = 0;
  for (; miner_id >= 0x80; miner_id >>= 7)
    out[length++] = static_cast<std::uint8_t>(miner_id | 0x80);
  out[length] = static_cast<std::uint8_t>(miner_id);
  return out;
}

curve::Fr replica_id(const base::Bytes32& prover_id, std::uint64_t sector_number,
                     const base::Bytes32& ticket, const curve::Fr& comm_d,
                     const base::Bytes32& porep_id) {
  base::ByteWriter message;
  message.bytes(prover_id);
  for (int shift = 56; shift >= 0; shift -= 8)
    message.u8(static_cast<std::uint8_t>(sector_number >> shift));
  message.bytes(ticket);
  message.bytes(comm_d.to_bytes_le());
  message.bytes(porep_id);
  base::Bytes32 digest = hash::sha256(message.view());
  hash::truncate_to_fr(digest);
  return *curve::Fr::from_bytes_le(digest);
}

curve::Fr comm_r(const curve::Fr& comm_c, const curve::Fr& comm_r_last) {
  return hash::poseidon(hash::PoseidonDomain::kMerkle2, {comm_c, comm_r_last});
}

}  // namespace cuzk::filecoin
