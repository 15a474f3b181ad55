#include "groth16/ops/cuda/gpu_check/inputs.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"
#include "groth16/ops/cuda/point_transform_check.cuh"

#include <string>

/// Products of points by scalars, and the stages of a transform of points.
namespace cuzk::groth16::cuda::gpu_check {

namespace {

using checks::Bases;
using checks::G1;
using checks::G1Affine;
using checks::G1Xyzz;

constexpr const char* kSuite = "point_transform";

void test(const Context& context) {
  for (const Bases kind :
       {Bases::kDistinct, Bases::kFewPoints, Bases::kAllEqual, Bases::kAllIdentity}) {
    const std::string kind_name = " kind=" + std::to_string(static_cast<int>(kind));
    for (const std::size_t count : {std::size_t{1}, std::size_t{31}, std::size_t{128},
                                    std::size_t{1025}, 100 * context.test_scale}) {
      context.on_test({kSuite, "products n=" + std::to_string(count) + kind_name,
                       checks::check_point_products(kind, count, context.stream)});
    }
    for (const Butterfly butterfly :
         {Butterfly::kDecimationInFrequency, Butterfly::kDecimationInTime}) {
      for (const std::size_t half : {1, 4, 16}) {
        const std::string name = "half=" + std::to_string(half) +
                                 " kind=" + std::to_string(static_cast<int>(butterfly)) + kind_name;
        const TransformPiece columns{
            .rows = 32, .columns = 37, .row_stride = 64, .first_column = 5};
        const TransformPiece rows{.blocks = 29, .rows = 32, .root_step = 4};
        context.on_test(
            {kSuite, "stage of columns " + name,
             checks::check_point_stage(columns, half, butterfly, kind, context.stream)});
        context.on_test({kSuite, "stage of rows " + name,
                         checks::check_point_stage(rows, half, butterfly, kind, context.stream)});
      }
    }
  }
}

/// n products with random scalars, the last ones compared with blst.
void time_products(const Context& context, std::size_t n) {
  const base::cuda::StreamRef stream = context.stream;
  const auto bases = large_bases<G1>(n, stream);
  const base::cuda::DeviceBuffer<G1Xyzz> sums(n, "sums");
  const base::cuda::DeviceBuffer<G1Affine> points(n, "points");
  const base::cuda::DeviceBuffer<Fr> scalars(n, "scalars");
  fill_random_scalars(scalars.data(), n, 0x1234, stream);
  Timing t;
  t.suite = kSuite;
  t.parameters = {{"n", static_cast<double>(n)}};
  t.amount = static_cast<double>(n);
  t.unit = "point";

  lift_points(bases.const_span(), sums.span(), stream);
  multiply_points(scalars.const_span(), sums.span(), stream);
  settle_points(sums.const_span(), points.span(), stream);
  const std::size_t sample = std::min<std::size_t>(n, 200);
  const auto got = points.download(n - sample, sample, stream);
  const auto base = bases.download(n - sample, sample, stream);
  const auto k = scalars.download(n - sample, sample, stream);
  for (std::size_t i = 0; i < sample; ++i) {
    const Fr plain = canonical(mul(k[i], Fr::from_u32(1)));  // scalars are Montgomery forms
    if (!curve::device::testing::same(
            curve::device::to_blst(got[i]),
            curve::device::testing::times(curve::device::to_blst(base[i]), plain.limbs)))
      t.failure = "a product is wrong";
  }
  t.name = "product by a scalar";
  measure(context, t, [&] { multiply_points(scalars.const_span(), sums.span(), stream); });
  t.name = "sum to affine";
  measure(context, t, [&] { settle_points(sums.const_span(), points.span(), stream); });

  // The scalars serve as roots: 2^10 low ones, 2^10 high ones.
  constexpr unsigned kLog = 10;
  const RootPowers powers{scalars.const_span().first(std::size_t{1} << kLog),
                          scalars.const_span().first(std::size_t{1} << kLog), kLog};
  const std::size_t rows = std::size_t{1} << kLog;
  const TransformPiece piece{n / rows, rows, 1, 1, 0, rows};
  t.name = "butterflies of a stage";
  t.amount = static_cast<double>(n) / 2;
  t.unit = "butterfly";
  t.failure.clear();
  measure(context, t, [&] {
    transform_stage(piece, rows / 2, Butterfly::kDecimationInFrequency, powers, sums.span(),
                    stream);
  });
}

}  // namespace

void run_point_transform_suite(const Context& context) {
  if (context.test) test(context);
  if (context.time) time_products(context, std::size_t{1} << std::min(context.max_log, 21));
}

}  // namespace cuzk::groth16::cuda::gpu_check
