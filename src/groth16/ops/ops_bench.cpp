#include "groth16/ops/evaluate.hpp"
#include "groth16/ops/fixed_base.hpp"
#include "groth16/ops/msm.hpp"
#include "groth16/ops/ntt.hpp"
#include "groth16/ops/quotient.hpp"
#include "groth16/testing.hpp"

#include <benchmark/benchmark.h>

#include <random>

// The prover's operations with all threads; items are elements, points, or rows. Arguments are log2
// of the size.
namespace cuzk::groth16 {
namespace {

using curve::AffinePoint;
using curve::Fr;

// Distinct points: 2^16 multiples of the generator, over and over.
template <class F>
std::vector<AffinePoint<F>> points(std::size_t count) {
  static const std::vector<AffinePoint<F>> some = testing::multiples<F>(std::size_t{1} << 16);
  std::vector<AffinePoint<F>> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = some[i % some.size()];
  return out;
}

void count_items(benchmark::State& state, std::size_t n) {
  state.SetItemsProcessed(static_cast<std::int64_t>(n) * state.iterations());
}

void in_wall_milliseconds(benchmark::internal::Benchmark* one) {
  one->UseRealTime()->Unit(benchmark::kMillisecond);
}

void ntt_pair(benchmark::State& state, curve::Arithmetic arithmetic) {
  if (!is_available(arithmetic)) return state.SkipWithError("not available");
  const Domain domain(static_cast<unsigned>(state.range(0)));
  std::vector<Fr> values = testing::random_scalars(domain.n(), 1);
  for (auto _ : state) {
    intt_unscaled(domain, values, arithmetic);
    ntt_from_bit_reversed(domain, values, arithmetic);
  }
  count_items(state, 2 * domain.n());
}
BENCHMARK_CAPTURE(ntt_pair, best, curve::Arithmetic::kBest)
    ->Arg(15)
    ->Arg(17)
    ->Arg(20)
    ->Arg(22)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(ntt_pair, scalar, curve::Arithmetic::kScalar)
    ->Arg(15)
    ->Arg(20)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(ntt_pair, avx2, curve::Arithmetic::kAvx2)
    ->Arg(15)
    ->Arg(20)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(ntt_pair, ifma, curve::Arithmetic::kIfma)
    ->Arg(15)
    ->Arg(20)
    ->Apply(in_wall_milliseconds);

template <class F>
void dense_msm(benchmark::State& state, const MsmOptions& options) {
  if (!curve::is_available(options.arithmetic)) return state.SkipWithError("not available");
  const std::size_t n = std::size_t{1} << state.range(0);
  const auto bases = points<F>(n);
  const auto scalars = testing::random_scalars(n, 2);
  // One result is checked: the sum over a part, twice as two halves.
  const std::size_t half = std::min<std::size_t>(n / 2, 256);
  const auto part = [&](std::size_t first, std::size_t count) {
    return msm<F>(std::span(bases).subspan(first, count), std::span(scalars).subspan(first, count),
                  options);
  };
  if (part(0, 2 * half) != part(0, half) + part(half, half))
    return state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(msm<F>(bases, scalars, options));
  count_items(state, n);
}
void dense_msm_g1(benchmark::State& state, const MsmOptions& options) {
  dense_msm<curve::Fp>(state, options);
}
void dense_msm_g2(benchmark::State& state, const MsmOptions& options) {
  dense_msm<curve::Fp2>(state, options);
}
constexpr MsmOptions kScalarArithmetic{.arithmetic = curve::Arithmetic::kScalar};
constexpr MsmOptions kAvx2Arithmetic{.arithmetic = curve::Arithmetic::kAvx2};
constexpr MsmOptions kIfmaArithmetic{.arithmetic = curve::Arithmetic::kIfma};
constexpr MsmOptions kWholeScalars{.split = ScalarSplit::kNever};
BENCHMARK_CAPTURE(dense_msm_g1, best, MsmOptions{})
    ->Arg(12)
    ->Arg(15)
    ->Arg(17)
    ->Arg(20)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(dense_msm_g1, scalar, kScalarArithmetic)
    ->Arg(15)
    ->Arg(17)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(dense_msm_g1, avx2, kAvx2Arithmetic)
    ->Arg(15)
    ->Arg(17)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(dense_msm_g1, ifma, kIfmaArithmetic)
    ->Arg(15)
    ->Arg(17)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(dense_msm_g2, avx2, kAvx2Arithmetic)
    ->Arg(15)
    ->Arg(17)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(dense_msm_g2, ifma, kIfmaArithmetic)
    ->Arg(15)
    ->Arg(17)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(dense_msm_g2, best, MsmOptions{})
    ->Arg(12)
    ->Arg(15)
    ->Arg(17)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(dense_msm_g1, whole_scalars, kWholeScalars)
    ->Arg(15)
    ->Arg(17)
    ->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(dense_msm_g2, whole_scalars, kWholeScalars)
    ->Arg(15)
    ->Arg(17)
    ->Apply(in_wall_milliseconds);

template <class F>
void bit_sum(benchmark::State& state) {
  const std::size_t n = std::size_t{1} << state.range(0);
  const auto bases = points<F>(n);
  const std::vector<std::uint64_t> mask(n / 64, ~std::uint64_t{0});
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> bits(n / 64);
  for (auto& word : bits) word = random();
  for (auto _ : state) benchmark::DoNotOptimize(batch_add<F>(bases, mask, bits));
  count_items(state, n);
}
BENCHMARK(bit_sum<curve::Fp>)->Arg(20)->Apply(in_wall_milliseconds);
BENCHMARK(bit_sum<curve::Fp2>)->Arg(18)->Apply(in_wall_milliseconds);

template <class F>
void fixed_base(benchmark::State& state) {
  const std::size_t n = std::size_t{1} << state.range(0);
  const FixedBase<F> base(AffinePoint<F>::generator(), std::size_t{1} << 22);
  const auto scalars = testing::random_scalars(n, 4);
  std::vector<AffinePoint<F>> out(n);
  for (auto _ : state) base.multiply(scalars, out);
  count_items(state, n);
}
BENCHMARK(fixed_base<curve::Fp>)->Arg(16)->Apply(in_wall_milliseconds);
BENCHMARK(fixed_base<curve::Fp2>)->Arg(14)->Apply(in_wall_milliseconds);

void quotient(benchmark::State& state, bool derivative) {
  const Domain domain(static_cast<unsigned>(state.range(0)));
  const std::vector<Fr> a = testing::random_scalars(domain.n(), 5),
                        b = testing::random_scalars(domain.n(), 6);
  std::vector<Fr> a_work = a, b_work = b, c_work = a;
  for (auto _ : state) {
    if (derivative) {
      benchmark::DoNotOptimize(quotient_derivative(domain, a, b));
    } else {
      quotient_textbook(domain, a_work, b_work, c_work);
    }
  }
  count_items(state, domain.n());
}
BENCHMARK_CAPTURE(quotient, textbook, false)->Arg(17)->Arg(20)->Apply(in_wall_milliseconds);
BENCHMARK_CAPTURE(quotient, derivative, true)->Arg(17)->Arg(20)->Apply(in_wall_milliseconds);

void evaluate_toy(benchmark::State& state) {
  const testing::ToyCircuit toy(std::size_t{1} << state.range(0), 60);
  const VariableMap variables(toy.shape);
  std::vector<Fr> rows(toy.shape.num_rows());
  for (auto _ : state) evaluate(toy.shape, variables, toy.witness, Matrix::kA, rows);
  count_items(state, rows.size());
}
BENCHMARK(evaluate_toy)->Arg(12)->Apply(in_wall_milliseconds);

}  // namespace
}  // namespace cuzk::groth16
