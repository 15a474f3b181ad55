#pragma once

#include "curve/fr.hpp"
#include "filecoin/graph.hpp"
#include "filecoin/synthetic/random_source.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::filecoin::synthetic {

/// The labels of some or all nodes of a sector over its layers: of each node a column, layer 1
/// first. Immutable once made; threads may share const objects.
class Columns {
 public:
  /// The columns that PoRep openings of `challenges` (repetitions allowed) show: those of the
  /// challenges and of their parents in the graph. A challenged node has the label that its
  /// parents' labels give, in every layer. Any other node has random labels below 2^254, from
  /// `fillers`: its own parents are never shown.
  static Columns of_openings(const StackedGraph& graph, const curve::Fr& replica_id,
                             unsigned layers, std::span<const std::uint64_t> challenges,
                             const RandomSource& fillers);

  /// Every column, as sealing computes them: the graph in parallel, then each layer in one serial
  /// pass over the nodes.
  static Columns of_sector(const StackedGraph& graph, const curve::Fr& replica_id, unsigned layers);

  unsigned layers() const { return layers_; }
  /// Ascending.
  const std::vector<std::uint64_t>& nodes() const { return nodes_; }
  /// `layers()` labels of one of nodes().
  std::span<const curve::Fr> column(std::uint64_t node) const {
    return {&labels_[position(node) * layers_], layers_};
  }

 private:
  Columns(std::vector<std::uint64_t> nodes, unsigned layers);

  std::size_t position(std::uint64_t node) const;
  curve::Fr& label(unsigned layer, std::uint64_t node) {
    return labels_[position(node) * layers_ + layer - 1];
  }
  /// Labels nodes in every layer, in order; `nodes` ascending.
  void compute_labels(const StackedGraph& graph, const curve::Fr& replica_id,
                      const std::vector<std::uint64_t>& nodes);

  unsigned layers_;
  std::vector<std::uint64_t> nodes_;
  std::vector<curve::Fr> labels_;
};

}  // namespace cuzk::filecoin::synthetic
