#include "curve/point.hpp"

#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace cuzk::curve {
namespace {

// The encoding as its specification says it, from canonical coordinates.
base::Bytes big_endian(const Fp& value) {
  const Limbs<6> limbs = value.to_canonical();
  base::Bytes out;
  for (std::size_t i = 6; i-- > 0;) {
    for (int shift = 56; shift >= 0; shift -= 8)
      out.push_back(static_cast<std::uint8_t>(limbs[i] >> shift));
  }
  return out;
}
base::Bytes big_endian(const Fp2& value) {
  base::Bytes out = big_endian(value.c1);
  const base::Bytes low = big_endian(value.c0);
  out.insert(out.end(), low.begin(), low.end());
  return out;
}

template <class F>
base::Bytes specified_uncompressed(const AffinePoint<F>& point) {
  base::Bytes out = big_endian(point.x);
  const base::Bytes y = big_endian(point.y);
  out.insert(out.end(), y.begin(), y.end());
  if (point.is_identity()) out[0] |= 0x40;
  return out;
}

template <class F>
base::Bytes specified_compressed(const AffinePoint<F>& point) {
  base::Bytes out = big_endian(point.x);
  out[0] |= 0x80;
  if (point.is_identity()) {
    out[0] |= 0x40;
  } else if (big_endian(point.y) > big_endian(-point.y)) {
    out[0] |= 0x20;
  }
  return out;
}

// A point on the curve outside the subgroup: the first x = 1, 2, ... with a square right-hand side
// will do, since nearly all points of the curve are outside.
std::optional<Fp> square_root(const Fp& value) {
  Fp root;
  return blst_fp_sqrt(root.blst(), value.blst()) ? std::optional(root) : std::nullopt;
}
std::optional<Fp2> square_root(const Fp2& value) {
  Fp2 root;
  return blst_fp2_sqrt(root.blst(), value.blst()) ? std::optional(root) : std::nullopt;
}
Fp curve_b(const Fp&) { return Fp::from_u64(kCurveB); }
Fp2 curve_b(const Fp2&) { return {Fp::from_u64(kCurveB), Fp::from_u64(kCurveB)}; }

template <class F>
AffinePoint<F> outside_the_subgroup() {
  F x = F::one();
  for (;; x += F::one()) {
    if (const auto y = square_root(x.square() * x + curve_b(x))) return {x, *y};
  }
}

template <class F>
class Group : public ::testing::Test {
 protected:
  using Affine = AffinePoint<F>;

  static PointFault decode_compressed(const base::Bytes& bytes, Affine& out,
                                      PointCheck check = PointCheck::kInGroup) {
    return Affine::from_compressed(std::span(bytes).template first<Affine::kCompressedBytes>(),
                                   check, out);
  }
  static PointFault decode_uncompressed(const base::Bytes& bytes, Affine& out,
                                        PointCheck check = PointCheck::kInGroup) {
    return Affine::from_uncompressed(std::span(bytes).template first<Affine::kUncompressedBytes>(),
                                     check, out);
  }
};
using Groups = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(Group, Groups);

TYPED_TEST(Group, FirstThousandMultiplesEncodeAsSpecified) {
  using F = TypeParam;
  JacobianPoint<F> point = JacobianPoint<F>::identity();
  std::vector<JacobianPoint<F>> points;
  for (int i = 0; i < 1000; ++i) {
    points.push_back(point);
    point += AffinePoint<F>::generator();
  }
  for (const AffinePoint<F>& affine : normalize<F>(points)) {
    const auto compressed = affine.to_compressed();
    const auto uncompressed = affine.to_uncompressed();
    const base::Bytes compressed_bytes(compressed.begin(), compressed.end());
    const base::Bytes uncompressed_bytes(uncompressed.begin(), uncompressed.end());
    ASSERT_EQ(compressed_bytes, specified_compressed(affine));
    ASSERT_EQ(uncompressed_bytes, specified_uncompressed(affine));
    AffinePoint<F> decoded;
    ASSERT_EQ(this->decode_compressed(compressed_bytes, decoded), PointFault::kNone);
    ASSERT_EQ(decoded, affine);
    ASSERT_EQ(this->decode_uncompressed(uncompressed_bytes, decoded), PointFault::kNone);
    ASSERT_EQ(decoded, affine);
  }
}

TYPED_TEST(Group, WrongFlagsAreRefused) {
  using F = TypeParam;
  const AffinePoint<F>& g = AffinePoint<F>::generator();
  AffinePoint<F> out = g;
  for (unsigned flags = 0; flags < 8; ++flags) {
    base::Bytes bytes = specified_compressed(g);
    bytes[0] = static_cast<std::uint8_t>((bytes[0] & 0x1f) | flags << 5);
    const bool valid = flags == 4 || flags == 5;  // compressed, either sign of y
    EXPECT_EQ(this->decode_compressed(bytes, out) == PointFault::kNone, valid) << flags;
    bytes = specified_uncompressed(g);
    bytes[0] = static_cast<std::uint8_t>((bytes[0] & 0x1f) | flags << 5);
    EXPECT_EQ(this->decode_uncompressed(bytes, out) == PointFault::kNone, flags == 0) << flags;
  }
}

TYPED_TEST(Group, IdentityHasOneEncoding) {
  using F = TypeParam;
  const AffinePoint<F> none = AffinePoint<F>::identity();
  AffinePoint<F> out = AffinePoint<F>::generator();
  for (const std::size_t extra : {std::size_t{0}, sizeof(F) - 1}) {
    base::Bytes compressed = specified_compressed(none),
                uncompressed = specified_uncompressed(none);
    EXPECT_EQ(this->decode_compressed(compressed, out), PointFault::kNone);
    EXPECT_TRUE(out.is_identity());
    compressed[extra] |= 1;
    uncompressed[extra] |= 1;
    EXPECT_EQ(this->decode_compressed(compressed, out), PointFault::kEncoding);
    EXPECT_EQ(this->decode_uncompressed(uncompressed, out), PointFault::kEncoding);
  }
  base::Bytes compressed = specified_compressed(none);
  compressed[0] |= 0x20;
  EXPECT_EQ(this->decode_compressed(compressed, out), PointFault::kEncoding);
  // All zeros are the coordinates (0, 0), which is no point.
  EXPECT_EQ(this->decode_uncompressed(base::Bytes(2 * sizeof(F)), out), PointFault::kNotOnCurve);
}

TYPED_TEST(Group, CoordinatesMustBeBelowTheModulus) {
  using F = TypeParam;
  base::Bytes modulus;
  for (std::size_t i = 6; i-- > 0;) {
    for (int shift = 56; shift >= 0; shift -= 8)
      modulus.push_back(static_cast<std::uint8_t>(kFpField.modulus[i] >> shift));
  }
  AffinePoint<F> out;
  const AffinePoint<F>& g = AffinePoint<F>::generator();
  for (std::size_t coordinate = 0; coordinate < 2 * sizeof(F) / 48; ++coordinate) {
    base::Bytes bytes = specified_uncompressed(g);
    std::copy(modulus.begin(), modulus.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(48 * coordinate));
    EXPECT_EQ(this->decode_uncompressed(bytes, out), PointFault::kEncoding) << coordinate;
  }
  for (std::size_t coordinate = 0; coordinate < sizeof(F) / 48; ++coordinate) {
    base::Bytes bytes = specified_compressed(g);
    std::copy(modulus.begin(), modulus.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(48 * coordinate));
    bytes[0] |= 0x80;
    EXPECT_EQ(this->decode_compressed(bytes, out), PointFault::kEncoding) << coordinate;
  }
}

TYPED_TEST(Group, PointsOffTheCurveOrTheSubgroupAreRefused) {
  using F = TypeParam;
  AffinePoint<F> off = AffinePoint<F>::generator();
  off.y += F::one();
  AffinePoint<F> out;
  EXPECT_FALSE(off.is_on_curve());
  EXPECT_EQ(this->decode_uncompressed(specified_uncompressed(off), out), PointFault::kNotOnCurve);
  const AffinePoint<F> outside = outside_the_subgroup<F>();
  EXPECT_TRUE(outside.is_on_curve());
  EXPECT_FALSE(outside.is_in_group());
  EXPECT_EQ(this->decode_uncompressed(specified_uncompressed(outside), out),
            PointFault::kNotInGroup);
  EXPECT_EQ(this->decode_compressed(specified_compressed(outside), out), PointFault::kNotInGroup);
  EXPECT_EQ(this->decode_uncompressed(specified_uncompressed(outside), out, PointCheck::kOnCurve),
            PointFault::kNone);
  EXPECT_EQ(out, outside);
}

TYPED_TEST(Group, AdditionIsComplete) {
  using F = TypeParam;
  using Jacobian = JacobianPoint<F>;
  const AffinePoint<F>& g = AffinePoint<F>::generator();
  const AffinePoint<F> none = AffinePoint<F>::identity();
  const Jacobian one = Jacobian::from(g), zero = Jacobian::identity();
  const Jacobian two = one.doubled();
  EXPECT_EQ(one + one, two);
  EXPECT_EQ(one + g, two);
  EXPECT_EQ(one + zero, one);
  EXPECT_EQ(one + none, one);
  EXPECT_EQ(zero + one, one);
  EXPECT_EQ(zero + g, one);
  EXPECT_EQ(zero + zero, zero);
  EXPECT_TRUE((one + -one).is_identity());
  EXPECT_TRUE((one + -g).is_identity());
  EXPECT_TRUE((zero + none).is_identity());
  EXPECT_TRUE(zero.to_affine().is_identity());
  EXPECT_EQ((two + -g).to_affine(), g);
  EXPECT_EQ(-none, none);
}

TYPED_TEST(Group, MultiplicationIsRepeatedAddition) {
  using F = TypeParam;
  using Jacobian = JacobianPoint<F>;
  const AffinePoint<F>& g = AffinePoint<F>::generator();
  Jacobian sum = Jacobian::identity();
  for (std::uint64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(g * Fr::from_u64(i), sum);
    EXPECT_EQ(g * -Fr::from_u64(i), -sum);
    sum += g;
  }
  EXPECT_TRUE((Jacobian::identity() * Fr::from_u64(5)).is_identity());
  const Fr a = Fr::from_u64(7).inverse(), b = Fr::from_u64(11).inverse();
  EXPECT_EQ(g * a + g * b, g * (a + b));
  EXPECT_EQ((g * a) * b, g * (a * b));
}

TYPED_TEST(Group, NormalizeKeepsInfinity) {
  using F = TypeParam;
  using Jacobian = JacobianPoint<F>;
  const AffinePoint<F>& g = AffinePoint<F>::generator();
  const std::vector<Jacobian> points = {Jacobian::identity(), g * Fr::from_u64(5),
                                        Jacobian::identity(), Jacobian::from(g)};
  const std::vector<AffinePoint<F>> affine = normalize<F>(points);
  ASSERT_EQ(affine.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(affine[i], points[i].to_affine());
  EXPECT_TRUE(normalize<F>({}).empty());
}

}  // namespace
}  // namespace cuzk::curve
