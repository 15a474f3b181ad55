#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <vector>

namespace cuzk::hash {
namespace {

void poseidon_hash(benchmark::State& state) {
  const PoseidonDomain domain = merkle_domain(static_cast<unsigned>(state.range(0)));
  std::vector<curve::Fr> inputs;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    inputs.push_back(curve::Fr::from_u64(i).inverse());
  for (auto _ : state) inputs[0] = poseidon(domain, inputs);  // each hash depends on the one before
  benchmark::DoNotOptimize(inputs);
}
BENCHMARK(poseidon_hash)
    ->ArgName("arity")
    ->Arg(2)
    ->Arg(4)
    ->Arg(8)
    ->Arg(11)
    ->Unit(benchmark::kMicrosecond);

void derive_constants(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(derive_poseidon_constants(PoseidonDomain::kMerkle11));
}
BENCHMARK(derive_constants)->Unit(benchmark::kMillisecond);

void sha256_tree_node(benchmark::State& state) {
  base::Bytes32 node{};
  for (auto _ : state) node = sha256_node(node, node);
  benchmark::DoNotOptimize(node);
}
BENCHMARK(sha256_tree_node);

void sha256_stream(benchmark::State& state) {
  const base::Bytes chunk(1 << 20, 0x5a);
  Sha256 hasher;
  for (auto _ : state) hasher.update(chunk);
  benchmark::DoNotOptimize(hasher.finish());
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * chunk.size()));
}
BENCHMARK(sha256_stream);

}  // namespace
}  // namespace cuzk::hash
