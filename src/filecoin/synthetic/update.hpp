#pragma once

#include "filecoin/sector.hpp"
#include "filecoin/update/vanilla.hpp"

#include <cstdint>
#include <vector>

namespace cuzk::filecoin::synthetic {

/// Every partition's vanilla proof of one sector update (SnapDeals), and its public values.
struct Update {
  curve::Fr comm_r_old;
  curve::Fr comm_r_last_new;
  curve::Fr comm_r_new;
  curve::Fr comm_d_new;
  unsigned h;  ///< high bits that select rho: the size's default
  std::vector<update::VanillaProof> partitions;
};

/// Valid vanilla proofs of an update whose sector does not exist; a function of size and seed
/// alone.
///
/// The challenges come from comm_r_new, so the root of tree R-new must be known before it is known
/// which of its leaves are opened, and at each of them r_new = r_old + d_new · rho must hold, with
/// a rho for each value of the index's h high bits. Up to 8 MiB every node exists, with random
/// r_old and d_new. Above, r_old and d_new are random functions of a leaf's kind, which makes r_new
/// one of kind and high bits: all three are FoldedTrees, whose regions are those of rho. Their
/// leaves thus take 16 values (R-old, D-new) and 2^h · 16 values (R-new), none of them special;
/// every partition's challenges, paths, apex leaves and encodings are as valid as a real sector's.
/// Cost at 32 GiB: 100,000 Poseidon hashes for the roots.
///
/// Throws InvalidInput for 1 GiB, for which the protocol has no update.
Update make_update(SectorSize sector_size, std::uint64_t seed);

}  // namespace cuzk::filecoin::synthetic
