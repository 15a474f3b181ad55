#pragma once

#include "filecoin/inclusion_proof.hpp"

#include <vector>

namespace cuzk::filecoin::update {

/// The three openings of one challenged node: old replica, new data, new replica.
struct ChallengeProof {
  InclusionProof r_old;
  InclusionProof d_new;
  InclusionProof r_new;

  friend bool operator==(const ChallengeProof&, const ChallengeProof&) = default;
};

/// What one partition of a sector update (SnapDeals) opens.
struct VanillaProof {
  curve::Fr comm_c;
  std::vector<curve::Fr> apex_leaves;  ///< this partition's part of a row of tree D
  std::vector<ChallengeProof> challenges;

  friend bool operator==(const VanillaProof&, const VanillaProof&) = default;
};

}  // namespace cuzk::filecoin::update
