#include "base/error.hpp"
#include "groth16/ops/cuda/point_transform_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

constexpr Bases kKinds[] = {Bases::kDistinct, Bases::kFewPoints, Bases::kAllEqual,
                            Bases::kAllIdentity};

TEST(PointTransformEmulated, ProductsAndSums) {
  for (const Bases kind : kKinds) EXPECT_EQ(check_point_products(kind, 130, {}), "");
  EXPECT_EQ(check_point_products(Bases::kDistinct, 1, {}), "");
}

TEST(PointTransformEmulated, Stages) {
  const TransformPiece columns{.rows = 8, .columns = 3, .row_stride = 5, .first_column = 2};
  const TransformPiece rows{.blocks = 3, .rows = 8, .root_step = 2};
  for (const Butterfly butterfly :
       {Butterfly::kDecimationInFrequency, Butterfly::kDecimationInTime}) {
    for (const Bases kind : kKinds) {
      for (const std::size_t half : {1, 2, 4}) {
        EXPECT_EQ(check_point_stage(columns, half, butterfly, kind, {}), "") << half;
        EXPECT_EQ(check_point_stage(rows, half, butterfly, kind, {}), "") << half;
      }
    }
  }
}

TEST(PointTransformEmulated, WhatDoesNotFitIsRefused) {
  std::vector<G1Affine> points(7);
  std::vector<G1Xyzz> sums(7);
  const base::cuda::DeviceSpan<G1Xyzz> room(sums.data(), sums.size());
  EXPECT_THROW(transform_stage({.rows = 8}, 4, Butterfly::kDecimationInTime, {}, room, {}),
               base::InvalidInput);
  EXPECT_THROW(transform_stage({.rows = 6}, 2, Butterfly::kDecimationInTime, {}, room, {}),
               base::InvalidInput);
  EXPECT_THROW(lift_points({points.data(), 7}, room.first(6), {}), base::InvalidInput);
  EXPECT_THROW(settle_points(room, {points.data(), 6}, {}), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
