#include "base/cuda/launch.hpp"
#include "base/error.hpp"
#include "groth16/ops/cuda/instances/point_transform.hpp"
#include "groth16/ops/cuda/point_transform.cuh"

namespace cuzk::groth16::cuda {

using base::cuda::DeviceSpan;
using base::cuda::StreamRef;
using namespace point_transform_detail;

namespace {

std::uint32_t checked_count(std::size_t count, std::size_t room, const char* what) {
  base::require(count <= room && count <= std::size_t{1} << 30,
                "{}: {} points, room for {}; at most 2^30 at a time", what, count, room);
  return static_cast<std::uint32_t>(count);
}
base::cuda::LaunchShape shape_for(std::size_t count, std::size_t shared_bytes = 0) {
  return {base::cuda::blocks_for(count, kThreads), kThreads, shared_bytes};
}

}  // namespace

void transform_stage(const TransformPiece& piece, std::size_t half, Butterfly butterfly,
                     const RootPowers& powers, DeviceSpan<G1Xyzz> points, StreamRef stream) {
  base::require(half >= 1 && piece.rows % (2 * half) == 0,
                "transform of points: a stage of {} rows among {}", half, piece.rows);
  const std::uint32_t butterflies =
      checked_count(piece.points(), points.size, "transform of points") / 2;
  base::cuda::launch(stage, shape_for(butterflies), stream, piece, half,
                     butterfly == Butterfly::kDecimationInTime, powers, butterflies, points.data);
}

void lift_points(DeviceSpan<const G1Affine> points, DeviceSpan<G1Xyzz> sums, StreamRef stream) {
  base::cuda::launch(lift, shape_for(points.size), stream, points.data,
                     checked_count(points.size, sums.size, "lifting points"), sums.data);
}
void add_points(DeviceSpan<const G1Affine> points, DeviceSpan<G1Xyzz> sums, StreamRef stream) {
  base::cuda::launch(add, shape_for(points.size), stream, points.data,
                     checked_count(points.size, sums.size, "adding points"), sums.data);
}
void multiply_points(DeviceSpan<const Fr> scalars, DeviceSpan<G1Xyzz> sums, StreamRef stream) {
  base::cuda::launch(multiply, shape_for(scalars.size), stream, scalars.data,
                     checked_count(scalars.size, sums.size, "multiplying points"), sums.data);
}
void settle_points(DeviceSpan<const G1Xyzz> sums, DeviceSpan<G1Affine> points, StreamRef stream) {
  const std::uint32_t count = checked_count(sums.size, points.size, "settling points");
  base::cuda::launch(settle, shape_for(count, kInverseWords<kThreads, kShare> * sizeof(uint4)),
                     stream, sums.data, count, points.data);
}

}  // namespace cuzk::groth16::cuda
