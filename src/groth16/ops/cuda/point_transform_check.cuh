#pragma once

#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/fixed_base_check.cuh"
#include "groth16/ops/cuda/instances/point_transform.hpp"

#include <string>
#include <vector>

namespace cuzk::groth16::cuda::checks {

using curve::device::G1;
using curve::device::G1Affine;
using curve::device::G1Xyzz;
using curve::device::StoredAffine;

/// Points on their way through sums.
class PointSums {
 public:
  PointSums(const std::vector<G1Affine>& points, base::cuda::StreamRef stream)
      : points_(points.size(), "points", stream),
        sums_(points.size(), "sums", stream),
        stream_(stream) {
    base::cuda::copy_bytes(points_.data(), points.data(), points.size() * sizeof(G1Affine), stream);
    lift_points(points_.span(), sums_.span(), stream);
  }
  base::cuda::DeviceSpan<G1Xyzz> sums() const { return sums_.span(); }
  std::vector<G1Affine> settled() const {
    settle_points(sums_.span(), points_.span(), stream_);
    return points_.download();
  }
  bool broken() const { return points_.broken() || sums_.broken(); }

 private:
  Guarded<G1Affine> points_;
  Guarded<G1Xyzz> sums_;
  base::cuda::StreamRef stream_;
};

inline std::string compare_points(const std::vector<G1Affine>& got,
                                  const std::vector<blst_p1>& wanted) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const G1Affine expected =
        blst_p1_is_inf(&wanted[i])
            ? G1Affine::identity()
            : curve::device::from_blst(curve::device::testing::affine(wanted[i]));
    if (std::memcmp(&got[i], &expected, sizeof(expected)) != 0)
      return "point " + std::to_string(i) + " is wrong";
  }
  return {};
}

/// k_i·P_i + P_(n-1-i), with special scalars and points of every kind. (A template as its like are:
/// nvcc 13.0 fails internally on TestBases<G1> outside of one.)
template <class G = G1>
std::string check_point_products(Bases kind, std::size_t count, base::cuda::StreamRef stream) {
  const TestBases<G> bases(kind, count, 5);
  const std::vector<Fr> scalars = fixed_base_scalars(count, 99);
  std::vector<Fr> montgomery;
  for (const Fr& k : scalars) montgomery.push_back(canonical(mul(Fr::montgomery_two(), k)));
  std::vector<StoredAffine<G>> reversed(count);
  for (std::size_t i = 0; i < count; ++i) reversed[i] = bases.points[count - 1 - i];
  const auto device_scalars = uploaded(montgomery, "scalars", stream);
  const auto addends = uploaded(reversed, "addends", stream);
  const PointSums sums(bases.points, stream);
  multiply_points(device_scalars.const_span(), sums.sums(), stream);
  add_points(addends.const_span(), sums.sums(), stream);
  const std::vector<G1Affine> got = sums.settled();
  if (sums.broken()) return "wrote beyond its output";
  std::vector<blst_p1> wanted;
  for (std::size_t i = 0; i < count; ++i) {
    const blst_p1 product =
        curve::device::testing::times(curve::device::to_blst(bases.points[i]), scalars[i].limbs);
    wanted.push_back(curve::device::testing::sum(product, curve::device::to_blst(reversed[i])));
  }
  return compare_points(got, wanted);
}

/// One stage of a piece against its definition. The root is no root of unity but any number: the
/// stage only multiplies its powers.
template <class G = G1>
std::string check_point_stage(const TransformPiece& piece, std::size_t half, Butterfly butterfly,
                              Bases kind, base::cuda::StreamRef stream) {
  const std::size_t count = piece.points();
  const TestBases<G> bases(kind, count, 8);
  constexpr unsigned kLowLog = 3;
  const std::size_t exponents =
      piece.rows / 2 * piece.row_stride * piece.root_step + piece.first_column + piece.columns;
  const Fr root = curve::device::testing::random_fr(4);
  const auto powers_of = [](const Fr& base, std::size_t n) {
    std::vector<Fr> out = {Fr::montgomery_one()};
    const Fr factor = canonical(mul(Fr::montgomery_two(), base));
    while (out.size() < n) out.push_back(canonical(mul(out.back(), factor)));
    return out;
  };
  const std::vector<Fr> low = powers_of(root, std::size_t{1} << kLowLog);
  // A Montgomery form times a plain number is plain: root^8.
  const Fr plain_step = canonical(mul(low.back(), root));
  const std::vector<Fr> high = powers_of(plain_step, exponents / (std::size_t{1} << kLowLog) + 1);
  const auto device_low = uploaded(low, "roots", stream),
             device_high = uploaded(high, "roots", stream);
  const PointSums sums(bases.points, stream);
  transform_stage(piece, half, butterfly,
                  {device_low.const_span(), device_high.const_span(), kLowLog}, sums.sums(),
                  stream);
  const std::vector<G1Affine> got = sums.settled();
  if (sums.broken()) return "wrote beyond its output";

  std::vector<blst_p1> wanted(count);
  for (std::size_t i = 0; i < count; ++i) wanted[i] = curve::device::to_blst(bases.points[i]);
  for (std::size_t block = 0; block < piece.blocks; ++block) {
    for (std::size_t row = 0; row < piece.rows; ++row) {
      if ((row & half) != 0) continue;
      for (std::size_t column = 0; column < piece.columns; ++column) {
        const std::size_t at = (block * piece.rows + row) * piece.columns + column;
        const std::size_t place = row % half * piece.row_stride + piece.first_column + column;
        std::size_t exponent = place * (piece.rows / (2 * half)) * piece.root_step;
        Fr power = Fr::montgomery_one();
        const Fr factor = canonical(mul(Fr::montgomery_two(), root));
        for (; exponent > 0; --exponent) power = canonical(mul(power, factor));
        const Fr plain = canonical(mul(power, Fr::from_u32(1)));
        blst_p1& upper = wanted[at];
        blst_p1& lower = wanted[at + half * piece.columns];
        const auto times_root = [&](const blst_p1& a) {
          return curve::device::testing::times(a, plain.limbs);
        };
        const auto difference = [](const blst_p1& a, blst_p1 b) {
          blst_p1_cneg(&b, true);
          return curve::device::testing::sum(a, b);
        };
        if (butterfly == Butterfly::kDecimationInTime) {
          const blst_p1 product = times_root(lower);
          lower = difference(upper, product);
          upper = curve::device::testing::sum(upper, product);
        } else {
          const blst_p1 rest = times_root(difference(upper, lower));
          upper = curve::device::testing::sum(upper, lower);
          lower = rest;
        }
      }
    }
  }
  return compare_points(got, wanted);
}

}  // namespace cuzk::groth16::cuda::checks
