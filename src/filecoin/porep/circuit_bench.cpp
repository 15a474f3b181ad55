#include "filecoin/porep/circuit.hpp"

#include "base/parallel.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "filecoin/synthetic/porep.hpp"

#include <benchmark/benchmark.h>

#include <fstream>
#include <string>

namespace cuzk::filecoin {
namespace {

// Both are made once: the shape takes seconds at 32 GiB.
struct Fixture {
  explicit Fixture(SectorSize sector_size)
      : size(sector_size),
        shape(build_shape(CircuitKind::kPorep, size)),
        c1(synthetic::make_porep({.sector_size = size,
                                  .registered_proof = synthetic::default_seal_proof(size),
                                  .seed = 1})) {}

  r1cs::Witness witness(std::size_t partition) const {
    r1cs::WitnessBuilder builder(shape);
    porep::synthesize(builder, size,
                      {c1.replica_id, c1.comm_d, c1.comm_r, c1.partitions[partition]});
    return builder.finish();
  }

  SectorSize size;
  r1cs::Shape shape;
  porep::SealCommitPhase1Output c1;
};

const Fixture& fixture(const char* size) {
  static const Fixture small(SectorSize::parse("2KiB"));
  static const Fixture* const production = new Fixture(SectorSize::parse("32GiB"));
  return size[0] == '2' ? small : *production;
}

// A line of /proc/self/status, in MiB.
double process_memory(const std::string& line) {
  std::ifstream status("/proc/self/status");
  for (std::string text; std::getline(status, text);) {
    if (text.starts_with(line)) return std::stod(text.substr(line.size() + 1)) / 1024;
  }
  return 0;
}

// How much the process's resident memory grows at its peak while `run` runs.
template <class F>
double peak_growth(F&& run) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets VmHWM
  const double before = process_memory("VmRSS");
  run();
  return process_memory("VmHWM") - before;
}

void BM_Shape(benchmark::State& state, const char* size) {
  double growth = 0;
  for (auto _ : state) {
    growth = peak_growth([&] {
      benchmark::DoNotOptimize(build_shape(CircuitKind::kPorep, SectorSize::parse(size)));
    });
  }
  state.counters["peak_growth_MiB"] = growth;
}

// One partition. CPU time is that of all threads.
void BM_PartitionWitness(benchmark::State& state, const char* size) {
  const Fixture& from = fixture(size);
  std::uint64_t bytes = 0;
  for (auto _ : state) bytes = from.witness(0).bytes();
  state.counters["witness_MiB"] = static_cast<double>(bytes) / (1 << 20);
  state.counters["aux"] = from.shape.num_aux();
  state.counters["peak_growth_MiB"] =
      peak_growth([&] { benchmark::DoNotOptimize(from.witness(1 % from.c1.partitions.size())); });
}

// All partitions of a proof, one after the other as a pipeline takes them.
void BM_ProofWitness(benchmark::State& state, const char* size) {
  const Fixture& from = fixture(size);
  for (auto _ : state) {
    for (std::size_t k = 0; k < from.c1.partitions.size(); ++k)
      benchmark::DoNotOptimize(from.witness(k));
  }
  state.counters["partitions"] = static_cast<double>(from.c1.partitions.size());
}

BENCHMARK_CAPTURE(BM_Shape, 32GiB, "32GiB")
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_PartitionWitness, 2KiB, "2KiB")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_PartitionWitness, 32GiB, "32GiB")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_ProofWitness, 32GiB, "32GiB")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace cuzk::filecoin
