#include "groth16/ops/cuda/gpu_check/inputs.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"
#include "groth16/ops/cuda/ntt_check.cuh"

#include <string>

// Small transforms are compared with the host in full. Large ones are checked by identities that
// involve every element: the polynomial evaluated at a random z from its coefficients and, by the
// barycentric formula, from its values.

namespace cuzk::groth16::cuda::gpu_check {
namespace {

using curve::device::mul_plain;
using curve::device::pow_plain;

__device__ Fr inverted(const Fr& x) {  // x^(r-2)
  Fr result = Fr::from_u32(1), power = x;
  for (int limb = 0; limb < 8; ++limb) {
    const std::uint32_t exponent = limb == 0 ? 0xffffffffu
                                   : limb == 1
                                       ? curve::device::fr_constants::modulus_limb<false>(1) - 1
                                       : curve::device::fr_constants::modulus_limb<false>(limb);
    for (int bit = 0; bit < 32; ++bit) {
      if ((exponent >> bit & 1u) != 0) result = mul_plain(result, power);
      power = mul_plain(power, power);
    }
  }
  return result;
}
/// partial[thread] = sum of y[reverse(k)]·weight(k)·z^k, weight = 1 or k.
__global__ void __launch_bounds__(kSumBlockThreads)
    evaluate_coefficients(const Fr* y, int log_n, Fr z, bool weighted, Fr* partial) {
  Fr sum = Fr::zero();
  for (std::uint32_t k = base::cuda::grid_thread(); k < 1u << log_n;
       k += base::cuda::grid_threads()) {
    Fr term = mul_plain(y[reverse_bits(k, log_n)], pow_plain(z, k));
    if (weighted) term = mul_plain(term, Fr::from_u32(k));
    sum = add(sum, term);
  }
  partial[base::cuda::grid_thread()] = sum;
}
/// partial[thread] = sum of x_i·ω^i / (z - ω^i).
__global__ void __launch_bounds__(kSumBlockThreads)
    evaluate_values(const Fr* x, int log_n, Fr omega, Fr z, Fr* partial) {
  Fr sum = Fr::zero();
  for (std::uint32_t i = base::cuda::grid_thread(); i < 1u << log_n;
       i += base::cuda::grid_threads()) {
    const Fr at = pow_plain(omega, i);
    sum = add(sum, mul_plain(mul_plain(x[i], at), inverted(canonical(sub(z, at)))));
  }
  partial[base::cuda::grid_thread()] = sum;
}
/// Counts the elements of x that are not factor times those of `original`.
__global__ void __launch_bounds__(256)
    count_not_multiple(const Fr* x, const Fr* original, std::uint32_t n, FrFactor factor,
                       std::uint32_t* count) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i < n && !equal(canonical(x[i]), canonical(mul_by(original[i], factor))))
    atomicAdd(count, 1u);
}

struct LargeCheck {
  base::cuda::StreamRef stream;
  const Ntt& ntt;
  base::cuda::DeviceBuffer<Fr> partial{kSumBlocks * kSumBlockThreads, "partial sums"};
  Fr z = curve::device::testing::random_fr(77);

  curve::Fr from_coefficients(const Fr* y, bool weighted) const {
    base::cuda::launch(evaluate_coefficients, {kSumBlocks, kSumBlockThreads, 0}, stream, y,
                       ntt.log_n(), z, weighted, partial.data());
    return checks::residue(add_up(partial, stream));
  }
  /// n·X(z) = (z^n - 1)·sum of x_i·ω^i / (z - ω^i).
  curve::Fr from_values(const Fr* x) const {
    base::cuda::launch(evaluate_values, {kSumBlocks, kSumBlockThreads, 0}, stream, x, ntt.log_n(),
                       curve::device::root_of_unity(ntt.log_n()), z, partial.data());
    const curve::Fr zn = checks::residue(z).pow(ntt.n());
    return checks::residue(add_up(partial, stream)) * (zn - curve::Fr::one());
  }
};

/// intt_unscaled, ntt_from_bit_reversed and derivative of random vectors of this size.
std::string check_large(const Ntt& ntt, Fr* x, Fr* original, base::cuda::StreamRef stream) {
  const LargeCheck check{stream, ntt};
  const auto n = static_cast<std::uint32_t>(ntt.n());
  fill_random_scalars(original, n, 3, stream);
  base::cuda::copy_bytes(x, original, n * sizeof(Fr), stream);
  const curve::Fr values = check.from_values(original);
  ntt.intt_unscaled(x, stream);
  if (check.from_coefficients(x, false) != values) return "intt_unscaled is wrong";
  const curve::Fr weighted = check.from_coefficients(x, true);  // n·(zX')(z)
  ntt.ntt_from_bit_reversed(x, stream);
  const base::cuda::DeviceBuffer<std::uint32_t> count(1, "count");
  base::cuda::fill_bytes(count.data(), 0, 4, stream);
  base::cuda::launch(count_not_multiple, {base::cuda::blocks_for(n, 256), 256, 0}, stream, x,
                     original, n, curve::device::make_factor(Fr::from_u32(n)), count.data());
  if (count.download(stream)[0] != 0) return "ntt_from_bit_reversed(intt_unscaled(x)) is not n·x";
  ntt.derivative(original, stream);
  // The values of n/2^32·xX', of which from_values gives n·(...)(z) = n²/2^32·(zX')(z).
  const curve::Fr scale = curve::Fr::from_u64(n) * curve::Fr::power_of_two(32).inverse();
  if (check.from_values(original) != weighted * scale) return "derivative is wrong";
  return {};
}

void time_transforms(const Context& context, int log_n, bool full_table) {
  const base::cuda::StreamRef stream = context.stream;
  const NttOptions options{full_table};
  const base::cuda::DeviceBuffer<std::byte> tables(Ntt::table_bytes(log_n, options),
                                                   "transform tables");
  base::cuda::Event start, end;
  start.record(stream);
  const Ntt ntt(log_n, options, tables.span(), stream);
  end.record(stream);
  end.synchronize();
  const base::cuda::DeviceBuffer<Fr> x(ntt.n(), "vector"), y(ntt.n(), "vector");
  const std::string failure = check_large(ntt, x.data(), y.data(), stream);
  const auto timing = [&](const char* name) {
    Timing t;
    t.suite = "ntt";
    t.name = name;
    t.parameters = {{"log_n", log_n}, {"full_table", full_table ? 1 : 0}};
    t.amount = static_cast<double>(ntt.n());
    t.unit = "element";
    t.failure = failure;
    return t;
  };
  Timing t = timing("making of the tables");
  t.milliseconds = {end.milliseconds_since(start)};
  t.amount = static_cast<double>(tables.size());
  t.unit = "byte";
  context.on_timing(t);
  measure(context, timing("intt_unscaled"), [&] { ntt.intt_unscaled(x.data(), stream); });
  measure(context, timing("ntt_from_bit_reversed"),
          [&] { ntt.ntt_from_bit_reversed(x.data(), stream); });
  measure(context, timing("derivative"), [&] { ntt.derivative(x.data(), stream); });
}

/// One row in a hundred wide, the others small, as in a PoRep circuit.
__global__ void __launch_bounds__(256) fill_rows(std::int8_t* a, std::int8_t* b, std::uint32_t n) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= n) return;
  const std::uint64_t draw = mix(i);
  const bool wide = i % 100 == 37;
  a[i] = static_cast<std::int8_t>(wide ? kWideCode : static_cast<int>(draw % 5) - 2);
  b[i] = static_cast<std::int8_t>(wide ? kWideCode : static_cast<int>(draw >> 32 & 1));
}
__global__ void __launch_bounds__(256) fill_wide(WideRow* rows, std::uint32_t count) {
  const std::uint32_t k = base::cuda::grid_thread();
  if (k >= count) return;
  rows[k] = {curve::device::testing::random_fr(2 * std::uint64_t{k}),
             curve::device::testing::random_fr(2 * std::uint64_t{k} + 1),
             100 * k + 37,
             {}};
}

void time_quotient(const Context& context, int log_n) {
  const base::cuda::StreamRef stream = context.stream;
  const base::cuda::DeviceBuffer<std::byte> tables(Ntt::table_bytes(log_n, {}), "transform tables");
  const Ntt ntt(log_n, {}, tables.span(), stream);
  const auto n = static_cast<std::uint32_t>(ntt.n()), wide_count = (n - 37 + 99) / 100;
  const base::cuda::DeviceBuffer<Fr> a(n, "a"), b(n, "b");
  const base::cuda::DeviceBuffer<std::int8_t> code_a(n, "codes"), code_b(n, "codes");
  const base::cuda::DeviceBuffer<WideRow> wide(wide_count, "wide rows");
  const base::cuda::DeviceBuffer<std::uint32_t> beta(n / 32, "offsets"), nonzero(n / 32, "flags");
  base::cuda::launch(fill_rows, {base::cuda::blocks_for(n, 256), 256, 0}, stream, code_a.data(),
                     code_b.data(), n);
  base::cuda::launch(fill_wide, {base::cuda::blocks_for(wide_count, 256), 256, 0}, stream,
                     wide.data(), wide_count);
  base::cuda::fill_bytes(beta.data(), 0x5a, n / 8, stream);
  fill_random_scalars(a.data(), n, 11, stream);
  fill_random_scalars(b.data(), n, 12, stream);
  const ConstraintValues values{code_a.data(), code_b.data(), wide.data(), wide_count, beta.data()};
  Timing t;
  t.suite = "ntt";
  t.name = "derivative quotient";
  t.parameters = {{"log_n", log_n}};
  t.amount = n;
  t.unit = "row";
  measure(context, t,
          [&] { derivative_scalars(ntt, a.data(), b.data(), values, nonzero.data(), stream); });
  const base::cuda::DeviceBuffer<Fr> c(n, "c");
  fill_random_scalars(c.data(), n, 13, stream);
  const base::cuda::DeviceBuffer<std::byte> more(TextbookQuotient::table_bytes(log_n),
                                                 "quotient tables");
  const TextbookQuotient quotient(log_n, more.span(), stream);
  t.name = "textbook quotient";
  measure(context, t, [&] { quotient.run(ntt, a.data(), b.data(), c.data(), stream); });
}

}  // namespace

void run_ntt_suite(const Context& context) {
  if (context.test) {
    for (int log_n = 0; log_n <= 20; ++log_n) {
      for (const bool full : {true, false}) {
        const checks::NttCase c{log_n, full};
        const std::string name = "2^" + std::to_string(log_n) + (full ? "" : " short tables");
        context.on_test({"ntt", "transforms " + name, checks::check_ntt(c, context.stream)});
        context.on_test({"ntt", "derivative " + name, checks::check_derivative(c, context.stream)});
        if (full && log_n <= 18)
          context.on_test({"ntt", "textbook " + name, checks::check_textbook(c, context.stream)});
      }
    }
  }
  if (!context.time) return;
  for (int log_n = 20; log_n <= context.max_log; ++log_n) time_transforms(context, log_n, true);
  if (context.max_log >= 27) time_transforms(context, 27, false);
  time_quotient(context, context.max_log);
}

}  // namespace cuzk::groth16::cuda::gpu_check
