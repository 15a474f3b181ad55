#include "filecoin/graph.hpp"

#include "filecoin/ids.hpp"
#include "filecoin/porep/challenges.hpp"

#include <benchmark/benchmark.h>

#include <vector>

namespace cuzk::filecoin {
namespace {

constexpr RegisteredSealProof kProof = RegisteredSealProof::kStackedDrg32GiBV1_1;

StackedGraph graph_32_gib() {
  return StackedGraph(info(kProof).sector_size, porep_id(kProof), info(kProof).api_version);
}

void drg_parents(benchmark::State& state) {
  const StackedGraph graph = graph_32_gib();
  std::uint64_t node = 1 << 29;
  for (auto _ : state) benchmark::DoNotOptimize(graph.drg_parents(node++));
}
BENCHMARK(drg_parents);

void exp_parents(benchmark::State& state) {
  const StackedGraph graph = graph_32_gib();
  std::uint64_t node = 1 << 29;
  for (auto _ : state) benchmark::DoNotOptimize(graph.exp_parents(node++));
}
BENCHMARK(exp_parents);

void label(benchmark::State& state) {
  std::vector<base::Bytes32> parents(kDrgParents + kExpParents);
  for (auto _ : state) parents[0] = create_label(base::Bytes32{}, 2, 1, parents);
  benchmark::DoNotOptimize(parents);
}
BENCHMARK(label);

void synthetic_challenge_set(benchmark::State& state) {
  const SectorSize size = info(kProof).sector_size;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        porep::synthetic_challenge_set(size, curve::Fr::one(), curve::Fr::one()));
  }
}
BENCHMARK(synthetic_challenge_set)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::filecoin
