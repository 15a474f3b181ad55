#include "filecoin/post/challenges.hpp"

#include "base/error.hpp"
#include "hash/sha256.hpp"

namespace cuzk::filecoin::post {

namespace {

std::uint64_t first_u64(const base::Bytes32& digest) { return base::load_u64_le(digest.data()); }

}  // namespace

std::uint64_t leaf_challenge(SectorSize size, const base::Bytes32& randomness,
                             std::uint64_t sector_number, std::uint64_t index) {
  base::ByteWriter message;
  message.bytes(randomness);
  message.u64_le(sector_number);
  message.u64_le(index);
  return first_u64(hash::sha256(message.view())) % size.nodes();
}

std::vector<std::uint64_t> winning_challenges(SectorSize size, const base::Bytes32& randomness,
                                              std::uint64_t sector_number) {
  std::vector<std::uint64_t> out;
  for (unsigned n = 0; n < kWinningPostChallenges; ++n) {
    out.push_back(leaf_challenge(size, randomness, sector_number, n));
  }
  return out;
}

std::vector<std::uint64_t> window_challenges(SectorSize size, ApiVersion version,
                                             const base::Bytes32& randomness,
                                             std::uint64_t sector_number, std::uint64_t position) {
  const std::uint64_t first = version == ApiVersion::k1_2 ? 0 : kWindowPostChallenges * position;
  std::vector<std::uint64_t> out;
  for (unsigned n = 0; n < kWindowPostChallenges; ++n) {
    out.push_back(leaf_challenge(size, randomness, sector_number, first + n));
  }
  return out;
}

std::vector<std::uint64_t> winning_sectors(const base::Bytes32& prover_id,
                                           const base::Bytes32& randomness,
                                           std::uint64_t sector_count, unsigned count) {
  base::require(sector_count > 0,
                "WinningPoSt sector selection among 0 sectors: there must be one");
  std::vector<std::uint64_t> out;
  for (std::uint64_t n = 0; n < count; ++n) {
    base::ByteWriter message;
    message.bytes(prover_id);
    message.bytes(randomness);
    message.u64_le(n);
    out.push_back(first_u64(hash::sha256(message.view())) % sector_count);
  }
  return out;
}

}  // namespace cuzk::filecoin::post
