#include "curve/decode_points.hpp"

#include "base/error.hpp"
#include "curve/arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cuzk::curve {
namespace {

// What from_uncompressed() says of the points one by one, and what decode_run() says of all, must
// be the same.
template <class F>
class DecodeRun : public ::testing::Test {
 protected:
  using Point = AffinePoint<F>;
  static constexpr std::size_t kBytes = Point::kUncompressedBytes;

  static std::vector<Point> multiples(std::size_t count) {
    std::vector<JacobianPoint<F>> out;
    JacobianPoint<F> point = JacobianPoint<F>::identity();
    for (std::size_t i = 0; i < count; ++i) out.push_back(point += Point::generator());
    return normalize<F>(out);
  }
  static base::Bytes encode(const std::vector<Point>& points) {
    base::Bytes out;
    for (const Point& point : points) {
      const auto bytes = point.to_uncompressed();
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
    return out;
  }
  // Into places in reverse order, so that a target's place matters.
  static std::optional<RunFault> decode(const base::Bytes& bytes, std::vector<Point>& out,
                                        Arithmetic arithmetic) {
    out.assign(bytes.size() / kBytes, Point::generator());
    std::vector<Point*> targets;
    for (std::size_t i = out.size(); i-- > 0;) targets.push_back(&out[i]);
    const auto fault = decode_run<F>(bytes, targets, arithmetic);
    std::reverse(out.begin(), out.end());
    return fault;
  }
};

std::vector<Arithmetic> available() {
  std::vector<Arithmetic> out = {Arithmetic::kBest, Arithmetic::kScalar};
  for (const auto arithmetic : {Arithmetic::kAvx2, Arithmetic::kIfma}) {
    if (is_available(arithmetic)) out.push_back(arithmetic);
  }
  return out;
}

using Groups = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(DecodeRun, Groups);

TYPED_TEST(DecodeRun, GivesThePointsForAllLengths) {
  using Affine = AffinePoint<TypeParam>;
  for (const std::size_t count : {0, 1, 7, 8, 9, 16, 17, 100}) {
    std::vector<Affine> points = this->multiples(count), decoded;
    for (std::size_t i = 3; i < count; i += 11) points[i] = Affine::identity();
    for (std::size_t i = 0; i < count; i += 3) points[i] = -points[i];
    for (const auto arithmetic : available()) {
      EXPECT_FALSE(this->decode(this->encode(points), decoded, arithmetic).has_value());
      EXPECT_EQ(decoded, points) << count;
    }
  }
}

TYPED_TEST(DecodeRun, EveryFaultIsFoundWhereItIs) {
  using Affine = AffinePoint<TypeParam>;
  constexpr std::size_t kPointBytes = Affine::kUncompressedBytes, kCount = 19;
  const base::Bytes good = this->encode(this->multiples(kCount));
  const auto write_modulus = [](std::uint8_t* coordinate, std::uint64_t above) {
    Limbs<6> value = kFpField.modulus;
    wide::add(value, Limbs<6>{above});
    for (unsigned i = 0; i < 48; ++i)
      coordinate[47 - i] = static_cast<std::uint8_t>(value[i / 8] >> 8 * (i % 8));
  };
  using Damage = std::function<void(std::uint8_t*)>;
  const std::vector<std::pair<std::string, Damage>> damages = {
      {"y is another", [](std::uint8_t* p) { p[kPointBytes - 1] ^= 1; }},
      {"x is another", [](std::uint8_t* p) { p[kPointBytes / 2 - 1] ^= 2; }},
      {"x = p", [&](std::uint8_t* p) { write_modulus(p, 0); }},
      {"the last coordinate is p + 5",
       [&](std::uint8_t* p) { write_modulus(p + kPointBytes - 48, 5); }},
      {"all ones",
       [](std::uint8_t* p) { std::fill_n(p + 1, kPointBytes - 1, std::uint8_t{0xff}); }},
      {"compressed", [](std::uint8_t* p) { p[0] |= 0x80; }},
      {"infinity with x", [](std::uint8_t* p) { p[0] |= 0x40; }},
      {"sign", [](std::uint8_t* p) { p[0] |= 0x20; }},
      {"(0, 0) without the flag",
       [](std::uint8_t* p) { std::fill_n(p, kPointBytes, std::uint8_t{0}); }},
  };
  for (const auto& [name, damage] : damages) {
    for (std::size_t i = 0; i < kCount; ++i) {
      base::Bytes bytes = good;
      damage(&bytes[i * kPointBytes]);
      Affine ignored;
      const PointFault expected = Affine::from_uncompressed(std::span<const std::uint8_t>(bytes)
                                                                .subspan(i * kPointBytes)
                                                                .template first<kPointBytes>(),
                                                            PointCheck::kOnCurve, ignored);
      ASSERT_NE(expected, PointFault::kNone) << name;
      for (const auto arithmetic : available()) {
        std::vector<Affine> decoded;
        const auto fault = this->decode(bytes, decoded, arithmetic);
        ASSERT_TRUE(fault.has_value()) << name << " at " << i;
        EXPECT_EQ(fault->index, i) << name;
        EXPECT_EQ(fault->fault, expected) << name << " at " << i;
      }
    }
  }
}

TYPED_TEST(DecodeRun, EdgeCoordinatesDecodeLikeOneByOne) {
  using Affine = AffinePoint<TypeParam>;
  // Small and large x: whether there is a point is chance, so only the agreement is tested.
  constexpr std::size_t kPointBytes = Affine::kUncompressedBytes;
  base::Bytes bytes(8 * kPointBytes);
  for (std::size_t lane = 0; lane < 8; ++lane) {
    Limbs<6> value = lane < 4 ? Limbs<6>{lane} : kFpField.modulus;
    if (lane >= 4) wide::subtract(value, Limbs<6>{lane - 3});
    for (std::size_t coordinate = 0; coordinate < kPointBytes; coordinate += 48) {
      for (unsigned i = 0; i < 48; ++i)
        bytes[lane * kPointBytes + coordinate + 47 - i] =
            static_cast<std::uint8_t>(value[i / 8] >> 8 * (i % 8));
    }
  }
  std::vector<Affine> points;
  const auto scalar = this->decode(bytes, points, Arithmetic::kScalar);
  ASSERT_TRUE(scalar.has_value());
  for (const auto arithmetic : available()) {
    const auto fault = this->decode(bytes, points, arithmetic);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->index, scalar->index);
    EXPECT_EQ(fault->fault, scalar->fault);
  }
}

// What a kernel rejects is decoded one by one, so a kernel that rejects everything would go unseen.
TYPED_TEST(DecodeRun, KernelsAcceptGoodPointsAndNothingElse) {
  using Affine = AffinePoint<TypeParam>;
  using Kernel = bool (*)(const std::uint8_t*, Affine* const*);
  const std::vector<std::pair<Arithmetic, Kernel>> kernels = {
#if defined(__x86_64__)
    {Arithmetic::kAvx2, decode_kernels::decode_eight_avx2},
    {Arithmetic::kIfma, decode_kernels::decode_eight_ifma},
#endif
  };
  const std::vector<Affine> points = this->multiples(8);
  const base::Bytes good = this->encode(points);
  for (const auto& [arithmetic, kernel] : kernels) {
    if (!is_available(arithmetic)) continue;
    std::vector<Affine> decoded(8, Affine::identity());
    std::vector<Affine*> targets;
    for (Affine& point : decoded) targets.push_back(&point);
    ASSERT_TRUE(kernel(good.data(), targets.data()));
    EXPECT_EQ(decoded, points);
    for (std::size_t lane = 0; lane < 8; ++lane) {
      base::Bytes bad = good;
      bad[(lane + 1) * Affine::kUncompressedBytes - 1] ^= 1;
      EXPECT_FALSE(kernel(bad.data(), targets.data())) << lane;
    }
  }
}

TYPED_TEST(DecodeRun, WrongLengthsAreRefused) {
  using Affine = AffinePoint<TypeParam>;
  Affine point;
  Affine* const target = &point;
  const base::Bytes bytes(Affine::kUncompressedBytes + 1);
  EXPECT_THROW(decode_run<TypeParam>(bytes, std::span(&target, 1)), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::curve
