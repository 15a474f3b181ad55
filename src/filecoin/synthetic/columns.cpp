#include "filecoin/synthetic/columns.hpp"

#include "base/parallel.hpp"
#include "filecoin/synthetic/distinct.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace cuzk::filecoin::synthetic {

Columns::Columns(std::vector<std::uint64_t> nodes, unsigned layers)
    : layers_(layers), nodes_(std::move(nodes)), labels_(nodes_.size() * layers) {}

Columns Columns::of_openings(const StackedGraph& graph, const curve::Fr& replica_id,
                             unsigned layers, std::span<const std::uint64_t> challenges,
                             const RandomSource& fillers) {
  const std::vector<std::uint64_t> challenged = distinct({challenges.begin(), challenges.end()});
  std::vector<std::uint64_t> nodes = challenged;
  for (const std::uint64_t challenge : challenged) {
    for (const std::uint32_t parent : graph.drg_parents(challenge)) nodes.push_back(parent);
    for (const std::uint32_t parent : graph.exp_parents(challenge)) nodes.push_back(parent);
  }
  Columns columns(distinct(std::move(nodes)), layers);
  for (std::size_t i = 0; i < columns.nodes_.size(); ++i) {
    for (unsigned layer = 1; layer <= layers; ++layer) {
      columns.labels_[i * layers + layer - 1] = fillers.truncated(layer, columns.nodes_[i]);
    }
  }
  columns.compute_labels(graph, replica_id, challenged);
  return columns;
}

Columns Columns::of_sector(const StackedGraph& graph, const curve::Fr& replica_id,
                           unsigned layers) {
  std::vector<std::uint64_t> nodes(graph.nodes());
  std::iota(nodes.begin(), nodes.end(), std::uint64_t{0});
  Columns columns(std::move(nodes), layers);
  columns.compute_labels(graph, replica_id, columns.nodes_);
  return columns;
}

void Columns::compute_labels(const StackedGraph& graph, const curve::Fr& replica_id,
                             const std::vector<std::uint64_t>& nodes) {
  struct Parents {
    std::array<std::uint32_t, kDrgParents> drg;
    std::array<std::uint32_t, kExpParents> exp;
  };
  std::vector<Parents> parents(nodes.size());
  base::parallel_for(nodes.size(), [&](std::size_t i) {
    parents[i] = {graph.drg_parents(nodes[i]), graph.exp_parents(nodes[i])};
  });

  // A label needs lower nodes of its layer and any of the layer before, which may be among `nodes`
  // themselves.
  std::array<curve::Fr, kDrgParents + kExpParents> labels;
  for (unsigned layer = 1; layer <= layers_; ++layer) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::size_t count = 0;
      if (nodes[i] > 0) {
        for (const std::uint32_t parent : parents[i].drg) labels[count++] = label(layer, parent);
      }
      if (nodes[i] > 0 && layer > 1) {
        for (const std::uint32_t parent : parents[i].exp)
          labels[count++] = label(layer - 1, parent);
      }
      label(layer, nodes[i]) =
          create_label(replica_id, layer, nodes[i], std::span(labels.data(), count));
    }
  }
}

std::size_t Columns::position(std::uint64_t node) const {
  if (node < nodes_.size() && nodes_[node] == node) return node;  // nothing below `node` is missing
  return static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) -
                                  nodes_.begin());
}

}  // namespace cuzk::filecoin::synthetic
