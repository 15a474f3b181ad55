#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/sector.hpp"
#include "hash/blake2b.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace cuzk::filecoin {

/// The graph of a replica's labels: within a layer a depth-robust graph (DRG, by bucket sampling),
/// between a layer and the one before an expander (by a Feistel permutation of the edges). All
/// layers have the same. Constant after construction; any thread.
/// [rust-fil-proofs storage-proofs-core/src/drgraph.rs, src/crypto/feistel.rs,
///  storage-proofs-porep/src/stacked/vanilla/graph.rs]
class StackedGraph {
 public:
  StackedGraph(SectorSize size, const base::Bytes32& porep_id, ApiVersion version);

  std::uint64_t nodes() const { return nodes_; }

  /// Parents in the same layer, each less than `node`; repetitions are possible. Nodes 0 and 1 have
  /// only 0 (node 0 thus itself, which stands for "none"). Others have node - 1, first from API 1.1
  /// on, last before, and five of this kind, with m = 5·node and B the bit length of m:
  ///   floor((m - d) / 5), d uniform in [max(2, M/2), M], M = min(m, 2^b), b uniform in [1, B]
  /// but node - 1 where that is `node`. Randomness is ChaCha8, its key
  ///   SHA-256("Filecoin_DRSample" || porep_id)[0..28] || node as u32 LE.
  /// Throws InvalidInput if `node` is not below nodes().
  std::array<std::uint32_t, kDrgParents> drg_parents(std::uint64_t node) const;

  /// Parents in the layer before: the i-th is floor(P(8·node + i) / 8), P a permutation of the
  /// 8·nodes() edges, by a Feistel network of three rounds with BLAKE2b, repeated until the value
  /// is an edge; its keys are the first three u64 LE of SHA-256("Filecoin_Feistel" || porep_id).
  /// API 1.0 keeps only the low 32 bits of P before it divides. Throws InvalidInput if `node` is
  /// not below nodes().
  std::array<std::uint32_t, kExpParents> exp_parents(std::uint64_t node) const;

  /// The 28 bytes that seed all DRG parents.
  std::span<const std::uint8_t, 28> drg_seed() const { return drg_seed_; }

 private:
  void require_node(std::uint64_t node) const;
  std::uint64_t permute_edge(std::uint64_t edge, hash::Blake2b& hasher) const;

  std::uint64_t nodes_;
  ApiVersion version_;
  std::array<std::uint8_t, 28> drg_seed_;
  std::array<std::uint64_t, 3> feistel_keys_;
  unsigned feistel_half_bits_;  ///< half of the least even number of bits that holds every edge
};

/// A node's label, truncated to 254 bits:
///   SHA-256(replica_id || layer as u32 BE || node as u64 BE || 20 zeros || parents)
/// where the labels of `parents` are repeated in their order up to 37. Layers count from 1. Layer 1
/// has the 6 DRG parents, the others these and then the 8 expander parents; node 0 has none.
/// [rust-fil-proofs storage-proofs-porep/src/stacked/vanilla/create_label/single.rs]
/// Throws InvalidInput for another number of parents or layer 0.
base::Bytes32 create_label(const base::Bytes32& replica_id, std::uint32_t layer, std::uint64_t node,
                           std::span<const base::Bytes32> parents);
curve::Fr create_label(const curve::Fr& replica_id, std::uint32_t layer, std::uint64_t node,
                       std::span<const curve::Fr> parents);

}  // namespace cuzk::filecoin
