#pragma once

#include "filecoin/inclusion_proof.hpp"

#include <cstdint>
#include <vector>

namespace cuzk::filecoin::post {

/// What a PoSt opens of one sector: 10 challenges (window) or 66 (winning), all in tree R-last.
/// comm_r = Poseidon(comm_c, comm_r_last).
struct VanillaProof {
  std::uint64_t sector_number;
  curve::Fr comm_r;
  curve::Fr comm_c;
  curve::Fr comm_r_last;
  std::vector<InclusionProof> inclusions;

  friend bool operator==(const VanillaProof&, const VanillaProof&) = default;
};

}  // namespace cuzk::filecoin::post
