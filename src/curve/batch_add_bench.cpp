#include "curve/batch_add.hpp"

#include "curve/decode_points.hpp"
#include "curve/testing.hpp"

#include <benchmark/benchmark.h>

// What sums of points and the reading of keys rest on, on one thread; items are points.
namespace cuzk::curve {
namespace {

using testing::multiples;

template <class F>
void add(benchmark::State& state, Arithmetic arithmetic) {
  if (!is_available(arithmetic)) return state.SkipWithError("not available");
  constexpr std::size_t kCount = BatchAdder<F>::kCapacity;
  const std::vector<AffinePoint<F>> points = multiples<F>(2 * kCount);
  std::vector<AffinePoint<F>> sums(points.begin(), points.begin() + kCount);
  std::vector<PointAddition<F>> additions;
  for (std::size_t i = 0; i < kCount; ++i)
    additions.push_back({&sums[i], &points[kCount + i], i % 2 == 1});
  BatchAdder<F> adder(arithmetic);
  for (auto _ : state) adder.add(additions);
  state.SetItemsProcessed(static_cast<std::int64_t>(kCount) * state.iterations());
}

template <class F>
void decode(benchmark::State& state, Arithmetic arithmetic) {
  if (!is_available(arithmetic)) return state.SkipWithError("not available");
  constexpr std::size_t kCount = 1024;
  std::vector<AffinePoint<F>> points = multiples<F>(kCount);
  base::Bytes bytes;
  std::vector<AffinePoint<F>*> targets;
  for (AffinePoint<F>& point : points) {
    const auto encoding = point.to_uncompressed();
    bytes.insert(bytes.end(), encoding.begin(), encoding.end());
    targets.push_back(&point);
  }
  for (auto _ : state) {
    if (decode_run<F>(bytes, targets, arithmetic)) return state.SkipWithError("wrong result");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kCount) * state.iterations());
}

void add_g1(benchmark::State& state, Arithmetic arithmetic) { add<Fp>(state, arithmetic); }
void add_g2(benchmark::State& state, Arithmetic arithmetic) { add<Fp2>(state, arithmetic); }
void decode_g1(benchmark::State& state, Arithmetic arithmetic) { decode<Fp>(state, arithmetic); }
void decode_g2(benchmark::State& state, Arithmetic arithmetic) { decode<Fp2>(state, arithmetic); }

BENCHMARK_CAPTURE(add_g1, scalar, Arithmetic::kScalar);
BENCHMARK_CAPTURE(add_g1, avx2, Arithmetic::kAvx2);
BENCHMARK_CAPTURE(add_g1, ifma, Arithmetic::kIfma);
BENCHMARK_CAPTURE(add_g2, scalar, Arithmetic::kScalar);
BENCHMARK_CAPTURE(add_g2, avx2, Arithmetic::kAvx2);
BENCHMARK_CAPTURE(add_g2, ifma, Arithmetic::kIfma);
BENCHMARK_CAPTURE(decode_g1, scalar, Arithmetic::kScalar);
BENCHMARK_CAPTURE(decode_g1, avx2, Arithmetic::kAvx2);
BENCHMARK_CAPTURE(decode_g1, ifma, Arithmetic::kIfma);
BENCHMARK_CAPTURE(decode_g2, scalar, Arithmetic::kScalar);
BENCHMARK_CAPTURE(decode_g2, avx2, Arithmetic::kAvx2);
BENCHMARK_CAPTURE(decode_g2, ifma, Arithmetic::kIfma);

}  // namespace
}  // namespace cuzk::curve
