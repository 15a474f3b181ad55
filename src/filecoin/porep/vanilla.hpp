#pragma once

#include "base/bytes.hpp"
#include "filecoin/inclusion_proof.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace cuzk::filecoin::porep {

/// The labels of one node over all layers, and the proof that their hash is in tree C.
struct ColumnProof {
  std::uint64_t node;             ///< index of the column
  std::vector<curve::Fr> labels;  ///< one a layer, layer 1 first
  InclusionProof inclusion;       ///< in tree C; its leaf is the column's hash

  friend bool operator==(const ColumnProof&, const ColumnProof&) = default;
};

/// What one challenge of a PoRep opens. Only the parts that enter the circuit.
struct VanillaProof {
  std::uint64_t challenge;               ///< index of the challenged node
  InclusionProof comm_d_inclusion;       ///< the data node, in tree D
  InclusionProof comm_r_last_inclusion;  ///< the encoded node, in tree R-last
  ColumnProof column;                    ///< the challenged node's labels
  std::array<ColumnProof, kDrgParents>
      drg_parents;  ///< in the order of the graph, repetitions included
  std::array<ColumnProof, kExpParents> exp_parents;

  friend bool operator==(const VanillaProof&, const VanillaProof&) = default;
};

}  // namespace cuzk::filecoin::porep
