#include "curve/device/fr_mul.hpp"
#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/gpu_check/report.hpp"

#include <string>
#include <vector>

// Fields and groups: every function on the device against the same function on the host, which the
// unit tests compare with blst; and rates, as dependent chains in registers over the whole chip.

namespace cuzk::groth16::cuda::gpu_check {
namespace {

using namespace curve::device;
using curve::device::testing::random_fp;
using curve::device::testing::random_fr;

// ---- Same results on both sides

struct FrResults {
  Fr sum, difference, product, by_factor, small, combined, reduced;
};
CUZK_HD FrResults fr_results(const Fr& a, const Fr& b) {
  const Fr ca = canonical(a), cb = canonical(b);
  FrResults r;
  r.sum = add(ca, cb);
  r.difference = sub(ca, cb);
  r.product = mul(ca, b);
  r.by_factor = mul_by(b, make_factor(ca));
  r.small = mul_small(a, b.limbs[0] >> 2);
  r.combined = combine_small(ca, b.limbs[1] >> 4, cb, a.limbs[2] >> 4);
  r.reduced = negate_if(ca, (b.limbs[0] & 1) != 0);
  return r;
}
__global__ void __launch_bounds__(128)
    fr_kernel(const Fr* values, std::uint32_t count, FrResults* out) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i < count * count) out[i] = fr_results(values[i / count], values[i % count]);
}

struct FpResults {
  Fp sum, difference, negative, product, squared, combined, inverted, reduced;
};
CUZK_HD FpResults fp_results(const Fp& a, const Fp& b) {  // a, b in [0, 4p)
  FpResults r;
  r.sum = add(a, b);
  r.difference = sub<4>(a, b);
  r.negative = neg<5>(b);
  r.product = mul(a, b);
  r.squared = square(a);
  r.combined = mul_add(a, b, b, a);
  r.inverted = inverse(r.sum);
  r.reduced = canonical(r.sum);
  return r;
}
__global__ void __launch_bounds__(128)
    fp_kernel(const Fp* values, std::uint32_t count, FpResults* out) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i < count * count) out[i] = fp_results(values[i / count], values[i % count]);
}

// Sums of pairs by mixed addition, by full addition, by the shared-inversion formulas.
template <class G>
__global__ void __launch_bounds__(128)
    group_kernel(const StoredAffine<G>* a, const StoredAffine<G>* b, std::uint32_t count,
                 StoredXyzz<G>* mixed, StoredXyzz<G>* full, StoredAffine<G>* line) {
  using Field = typename G::Field;
  const std::uint32_t i = base::cuda::grid_thread() / G::kLanes, at = i < count ? i : 0;
  const Affine<Field> p = load_point<G>(a + at), q = load_point<G>(b + at);
  Xyzz<Field> s = to_xyzz(p), t = to_xyzz(p), scaled = to_xyzz(q);
  add_assign(s, q);
  add_assign(scaled, p);
  add_assign(scaled, negate_if(p, true));
  add_assign(t, scaled);
  const PairKind kind = classify_pair(p, q);
  const Affine<Field> sum =
      finish_pair(kind, p, q, inverse(denominator(kind, sub<2>(q.x, p.x), p.y)));
  if (i >= count) return;
  store_point<G>(mixed + i, s);
  store_point<G>(full + i, t);
  store_point<G>(line + i, sum);
}

template <class Value, class Results>
std::string compare(const Context& context, const std::vector<Value>& values,
                    void (*kernel)(const Value*, std::uint32_t, Results*),
                    Results (*host)(const Value&, const Value&)) {
  const auto count = static_cast<std::uint32_t>(values.size());
  const auto device_values = checks::uploaded(values, "values", context.stream);
  const base::cuda::DeviceBuffer<Results> out(std::size_t{count} * count, "results");
  base::cuda::launch(kernel, {base::cuda::blocks_for(std::size_t{count} * count, 128), 128, 0},
                     context.stream, device_values.data(), count, out.data());
  const std::vector<Results> got = out.download(context.stream);
  for (std::uint32_t i = 0; i < count * count; ++i) {
    const Results wanted = host(values[i / count], values[i % count]);
    if (std::memcmp(&wanted, &got[i], sizeof(Results)) != 0) {
      return "operands " + std::to_string(i / count) + ", " + std::to_string(i % count) +
             " differ from the host";
    }
  }
  return {};
}
FrResults host_fr(const Fr& a, const Fr& b) { return fr_results(a, b); }
FpResults host_fp(const Fp& a, const Fp& b) { return fp_results(a, b); }

template <class G>
std::string compare_group(const Context& context) {
  const checks::TestBases<G> few(checks::Bases::kFewPoints, 40, 3),
      distinct(checks::Bases::kDistinct, 5, 3);
  std::vector<StoredAffine<G>> points = few.points;
  points.insert(points.end(), distinct.points.begin(), distinct.points.end());
  std::vector<StoredAffine<G>> a, b;
  for (const auto& p : points) {
    for (const auto& q : points) {
      a.push_back(p);
      b.push_back(q);
    }
  }
  const auto count = static_cast<std::uint32_t>(a.size());
  const auto da = checks::uploaded(a, "points", context.stream),
             db = checks::uploaded(b, "points", context.stream);
  const base::cuda::DeviceBuffer<StoredXyzz<G>> mixed(count, "sums"), full(count, "sums");
  const base::cuda::DeviceBuffer<StoredAffine<G>> line(count, "sums");
  base::cuda::launch(
      group_kernel<G>, {base::cuda::blocks_for(std::size_t{count} * G::kLanes, 128), 128, 0},
      context.stream, da.data(), db.data(), count, mixed.data(), full.data(), line.data());
  const auto hm = mixed.download(context.stream), hf = full.download(context.stream);
  const auto hl = line.download(context.stream);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto wanted = sum(to_blst(a[i]), to_blst(b[i]));
    if (!testing::same(to_blst(hm[i]), wanted))
      return "mixed addition of pair " + std::to_string(i) + " is wrong";
    if (!testing::same(to_blst(hf[i]), wanted))
      return "full addition of pair " + std::to_string(i) + " is wrong";
    if (!testing::same(to_blst(hl[i]), wanted))
      return "affine addition of pair " + std::to_string(i) + " is wrong";
  }
  return {};
}

// ---- Rates

enum class Chain {
  kFrByFactor,
  kFrProduct,
  kFpProduct,
  kFpSquare,
  kFpMulAdd,
  kFpInverse,
  kG1Mixed,
  kG1Chord
};

template <Chain kChain>
__device__ std::uint32_t run_chain(std::uint32_t t, int steps) {
  if constexpr (kChain == Chain::kFrByFactor || kChain == Chain::kFrProduct) {
    Fr x = random_fr(t);
    const FrFactor f = make_factor(random_fr(t + 1));
    CUZK_NO_UNROLL
    for (int i = 0; i < steps; ++i) x = kChain == Chain::kFrByFactor ? mul_by(x, f) : mul(f.w, x);
    return x.limbs[0];
  } else if constexpr (kChain == Chain::kG1Mixed) {
    const Affine<Fp> p{random_fp(t), random_fp(t + 1)};
    Xyzz<Fp> s{random_fp(t + 2), random_fp(t + 3), Fp::one(),
               Fp::one()};  // no curve point, the same work
    CUZK_NO_UNROLL
    for (int i = 0; i < steps; ++i) add_assign(s, p);
    return s.x.limbs[0] ^ s.zzz.limbs[0] ^ s.y.limbs[3];
  } else if constexpr (kChain == Chain::kG1Chord) {
    Affine<Fp> p{random_fp(t), random_fp(t + 1)};
    const Affine<Fp> q{random_fp(t + 2), random_fp(t + 3)};
    Fp running = Fp::one(), inverted = random_fp(t + 4);
    CUZK_NO_UNROLL
    for (int i = 0; i < steps; ++i) {
      const Fp d = sub<2>(q.x, p.x);
      running = mul(running, d);
      const Fp mine = mul(inverted, running);
      inverted = mul(inverted, d);
      p = finish_chord(p, q, mine);
    }
    return p.x.limbs[0] ^ p.y.limbs[0] ^ inverted.limbs[0];
  } else {
    Fp x = random_fp(t);
    const Fp y = random_fp(t + 1);
    CUZK_NO_UNROLL
    for (int i = 0; i < steps; ++i) {
      if (kChain == Chain::kFpProduct) x = mul(x, y);
      if (kChain == Chain::kFpSquare) x = square(x);
      if (kChain == Chain::kFpMulAdd) x = mul_add(x, y, y, x);
      if (kChain == Chain::kFpInverse) x = inverse(add(x, y));
    }
    return x.limbs[0];
  }
}
template <Chain kChain, int kThreads, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) chain_kernel(std::uint32_t* out, int steps) {
  const std::uint32_t t = base::cuda::grid_thread();
  out[t] = run_chain<kChain>(t, steps);
}
template <Chain kChain, int kThreads, int kBlocks>
void time_chain(const Context& context, const char* name, int steps) {
  const unsigned grid = context.sm_count * kBlocks;
  const base::cuda::DeviceBuffer<std::uint32_t> out(std::size_t{grid} * kThreads, "results");
  Timing t;
  t.suite = "field";
  t.name = name;
  t.parameters = {{"threads", kThreads}, {"blocks_an_sm", kBlocks}};
  t.amount = static_cast<double>(grid) * kThreads * steps;
  t.unit = "operation";
  measure(context, t, [&] {
    base::cuda::launch(chain_kernel<kChain, kThreads, kBlocks>, {grid, kThreads, 0}, context.stream,
                       out.data(), steps);
  });
}

}  // namespace

void run_field_suite(const Context& context) {
  if (context.test) {
    const std::vector<Fr> fr = testing::loose_fr_values(100);
    const std::vector<Fp> fp = testing::lazy_fp_values(4, 30);
    context.on_test(
        {"field", "Fr against the host", compare<Fr, FrResults>(context, fr, fr_kernel, host_fr)});
    context.on_test(
        {"field", "Fp against the host", compare<Fp, FpResults>(context, fp, fp_kernel, host_fp)});
    context.on_test({"field", "G1 against blst", compare_group<G1>(context)});
    context.on_test({"field", "G2 against blst", compare_group<G2>(context)});
  }
  if (!context.time) return;
  time_chain<Chain::kFrByFactor, 256, 2>(context, "Fr product by a factor", 4000);
  time_chain<Chain::kFrProduct, 256, 2>(context, "Fr product", 4000);
  time_chain<Chain::kFpProduct, 256, 2>(context, "Fp product", 2000);
  time_chain<Chain::kFpSquare, 256, 2>(context, "Fp square", 2000);
  time_chain<Chain::kFpMulAdd, 256, 2>(context, "Fp a·b + c·d", 2000);
  time_chain<Chain::kFpInverse, 128, 4>(context, "Fp inverse", 20);
  time_chain<Chain::kG1Mixed, 128, 3>(context, "G1 XYZZ += affine", 500);
  time_chain<Chain::kG1Mixed, 384, 1>(context, "G1 XYZZ += affine", 500);
  time_chain<Chain::kG1Chord, 128, 4>(context, "G1 affine, shared inversion", 500);
}

}  // namespace cuzk::groth16::cuda::gpu_check
