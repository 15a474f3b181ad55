#pragma once

#include "groth16/ops/cuda/decode_points_check.cuh"
#include "groth16/ops/cuda/fixed_base_check.cuh"
#include "groth16/ops/cuda/gpu_check/inputs.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"
#include "groth16/ops/cuda/instances/key_points_templates.cuh"

#include <string>

namespace cuzk::groth16::cuda {

// Compiled in ops/cuda/instances.
CUZK_DECODE_POINTS_TEMPLATES(extern, curve::device::G1)
CUZK_DECODE_POINTS_TEMPLATES(extern, curve::device::G2)
CUZK_FIXED_BASE_TEMPLATES(extern, curve::device::G1)
CUZK_FIXED_BASE_TEMPLATES(extern, curve::device::G2)

}  // namespace cuzk::groth16::cuda

/// Making a key's points: decoding and encoding, multiples of a fixed base.
namespace cuzk::groth16::cuda::gpu_check {

template <class G>
void test_key_points(const Context& context, const std::string& suite) {
  using checks::Bases;
  for (const Bases kind :
       {Bases::kDistinct, Bases::kFewPoints, Bases::kAllEqual, Bases::kAllIdentity}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{31}, std::size_t{128},
                                    std::size_t{1025}, 1000 * context.test_scale}) {
      context.on_test(
          {suite,
           "coding n=" + std::to_string(count) + " kind=" + std::to_string(static_cast<int>(kind)),
           checks::check_point_round_trip<G>(kind, count, context.stream)});
    }
  }
  for (const checks::PointDamage& damage : checks::point_damages()) {
    context.on_test({suite, std::string("decoding: ") + damage.name,
                     checks::check_point_damage<G>(damage, context.stream)});
  }
  for (const unsigned bits : {2u, 8u, 13u, 16u, 18u}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{385}, 100 * context.test_scale}) {
      context.on_test({suite,
                       "multiples n=" + std::to_string(count) + " window=" + std::to_string(bits),
                       checks::check_fixed_base<G>(bits, count, context.stream)});
    }
  }
}

/// n points there and back. The round trip is the check: encoding must give what was decoded.
template <class G>
void time_coding(const Context& context, const std::string& suite, std::size_t n) {
  const auto bases = large_bases<G>(n, context.stream);
  const base::cuda::DeviceBuffer<std::byte> encoded(n * kEncodedBytes<G>, "encoded points");
  const base::cuda::DeviceBuffer<StoredAffine<G>> decoded(n, "points");
  const base::cuda::DeviceBuffer<FaultWord> fault(1, "fault");
  base::cuda::fill_bytes(fault.data(), 0xff, sizeof(FaultWord), context.stream);
  const auto encode = [&] {
    encode_points<G>(bases.const_span(), n, encoded.span(), context.stream);
  };
  const auto decode = [&] {
    decode_points<G>(encoded.const_span(), n, IdentityRule::kForbidden, 0, decoded.span(),
                     fault.data(), context.stream);
  };
  Timing t;
  t.suite = suite;
  t.parameters = {{"n", static_cast<double>(n)}};
  t.amount = static_cast<double>(n);
  t.unit = "point";
  t.name = "encode";
  measure(context, t, encode);
  decode();
  // The points that the encoding came from may have coordinates that are not reduced.
  const std::size_t sample = std::min<std::size_t>(n, 4096);
  const auto wanted = bases.download(n - sample, sample, context.stream);
  const auto got = decoded.download(n - sample, sample, context.stream);
  for (std::size_t i = 0; i < sample; ++i) {
    const auto point = wanted[i];
    if (!curve::device::testing::same(curve::device::to_blst(point),
                                      curve::device::to_blst(got[i])))
      t.failure = "a decoded point is wrong";
  }
  if (fault.download(context.stream)[0] != kNoFault) t.failure = "a good point is called bad";
  t.name = "decode and check";
  measure(context, t, decode);
}

/// n multiples with random scalars, the last ones compared with blst.
template <class G>
void time_multiples(const Context& context, const std::string& suite, std::size_t n,
                    unsigned window_bits) {
  const base::cuda::StreamRef stream = context.stream;
  const FixedBasePlan plan = FixedBasePlan::make(window_bits);
  const auto base = checks::small_multiple<G>(1);
  const auto bases = checks::uploaded(
      window_bases<G>(plan, curve::device::from_blst(curve::device::testing::affine(base))),
      "window bases", stream);
  const base::cuda::DeviceBuffer<StoredAffine<G>> table(plan.table_points(), "table"),
      out(n, "multiples");
  const base::cuda::DeviceBuffer<Fr> scalars(n, "scalars");
  fill_random_scalars(scalars.data(), n, 0x77770000, stream);
  Timing t;
  t.suite = suite;
  t.parameters = {{"n", static_cast<double>(n)}, {"window", static_cast<double>(window_bits)}};
  t.name = "fixed base: table";
  t.amount = static_cast<double>(plan.table_points());
  t.unit = "point";
  measure(context, t,
          [&] { make_fixed_base_table<G>(plan, bases.const_span(), table.span(), stream); });
  const auto work = [&] {
    multiply_fixed_base<G>(plan, table.const_span(), scalars.const_span(), n, out.span(), stream);
  };
  work();
  const std::size_t sample = std::min<std::size_t>(n, 200);
  const auto got = out.download(n - sample, sample, stream);
  const auto k = scalars.download(n - sample, sample, stream);
  for (std::size_t i = 0; i < sample; ++i) {
    // The scalars are Montgomery forms.
    const Fr plain = canonical(mul(k[i], Fr::from_u32(1)));
    if (!curve::device::testing::same(curve::device::to_blst(got[i]),
                                      curve::device::testing::times(base, plain.limbs)))
      t.failure = "a multiple is wrong";
  }
  t.name = "fixed base: multiples";
  t.amount = static_cast<double>(n);
  t.unit = "point";
  measure(context, t, work);
}

template <class G>
void run_key_points_suite(const Context& context, const std::string& suite, int largest_log) {
  if (context.test) test_key_points<G>(context, suite);
  if (!context.time) return;
  const std::size_t n = std::size_t{1} << std::min(context.max_log, largest_log);
  time_coding<G>(context, suite, n);
  for (const unsigned bits : {14u, 15u, 16u, 17u, 18u, 20u, 22u})
    time_multiples<G>(context, suite, n, bits);
}

}  // namespace cuzk::groth16::cuda::gpu_check
