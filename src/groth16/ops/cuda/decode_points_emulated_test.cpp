#include "groth16/ops/cuda/decode_points_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

using curve::device::G1;
using curve::device::G2;

TEST(DecodePointsEmulated, ThereAndBack) {
  for (const Bases kind : {Bases::kDistinct, Bases::kFewPoints, Bases::kAllIdentity}) {
    for (const std::size_t count : {0, 1, 16, 33, 129}) {
      EXPECT_EQ(check_point_round_trip<G1>(kind, count, {}), "");
      EXPECT_EQ(check_point_round_trip<G2>(kind, count, {}), "");
    }
  }
}

TEST(DecodePointsEmulated, NamesTheFirstBadPoint) {
  for (const PointDamage& damage : point_damages()) {
    EXPECT_EQ(check_point_damage<G1>(damage, {}), "") << "G1";
    EXPECT_EQ(check_point_damage<G2>(damage, {}), "") << "G2";
  }
}

// The damages are faults of those kinds to the host's decoder, too.
TEST(DecodePoints, HostAgreesOnDamage) {
  const TestBases<G1> bases(Bases::kDistinct, 1, 5);
  for (const PointDamage& damage : point_damages()) {
    std::vector<std::byte> bytes = encoded<G1>(bases.points);
    damage.apply(bytes);
    curve::AffinePoint<curve::Fp> point;
    const std::span<const std::uint8_t, 96> view(
        reinterpret_cast<const std::uint8_t*>(bytes.data()), 96);
    const curve::PointFault fault =
        curve::AffinePoint<curve::Fp>::from_uncompressed(view, curve::PointCheck::kOnCurve, point);
    EXPECT_EQ(fault, damage.wanted == curve::PointFault::kIdentity ? curve::PointFault::kNone
                                                                   : damage.wanted)
        << damage.name;
  }
}

TEST(DecodePointsEmulated, RejectsWhatDoesNotFit) {
  std::vector<std::byte> bytes(192);
  std::vector<curve::device::G1Affine> points(2);
  FaultWord fault = kNoFault;
  const auto decode = [&](std::size_t byte_count, std::size_t point_count) {
    decode_points<G1>({bytes.data(), byte_count}, 2, IdentityRule::kAllowed, 0,
                      {points.data(), point_count}, &fault, {});
  };
  EXPECT_THROW(decode(191, 2), base::InvalidInput);
  EXPECT_THROW(decode(192, 1), base::InvalidInput);
  EXPECT_THROW(encode_points<G1>({points.data(), 2}, 2, {bytes.data(), 191}, {}),
               base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
