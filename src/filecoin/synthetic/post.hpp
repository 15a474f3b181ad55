#pragma once

#include "base/bytes.hpp"
#include "filecoin/post/vanilla.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <vector>

namespace cuzk::filecoin::synthetic {

struct PostOptions {
  SectorSize sector_size;
  bool winning;
  ApiVersion api_version =
      ApiVersion::k1_2;  ///< of the challenges of window; those of winning are the same in all
  std::uint64_t seed = 0;
  std::uint64_t first_sector = 1;  ///< sector numbers are consecutive from here
  std::size_t num_sectors =
      1;  ///< exactly 1 for winning; for window any number, more than a partition's too
};

/// What a miner would prove in one PoSt, and its public values.
struct Post {
  base::Bytes32 randomness;                ///< top two bits clear, as the chain's is made
  std::vector<post::VanillaProof> proofs;  ///< one a sector
  std::vector<std::vector<std::uint64_t>>
      challenges;  ///< of each sector, the leaves that its proof opens
};

/// Valid vanilla proofs of a PoSt whose sectors do not exist: the challenges are derived from the
/// randomness, of each tree R-last only the challenged leaves and the nodes above them exist, all
/// else and comm_c are random field elements (see SparseTree). A function of the options alone.
/// Sectors are made in parallel; 32 GiB: 70 hashes a sector. Throws InvalidInput for a number of
/// sectors other than PostOptions allows.
Post make_post(const PostOptions& options);

}  // namespace cuzk::filecoin::synthetic
