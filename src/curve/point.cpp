#include "curve/point.hpp"

#include "curve/batch_invert.hpp"

namespace cuzk::curve {

namespace {

// blst's functions for each group under one name. The C structs have the layout of ours.
template <class F>
struct Blst;

template <>
struct Blst<Fp> {
  using Affine = blst_p1_affine;
  using Jacobian = blst_p1;
  static constexpr auto generator = blst_p1_affine_generator;
  static constexpr auto on_curve = blst_p1_affine_on_curve;
  static constexpr auto in_group = blst_p1_affine_in_g1;
  static constexpr auto compress = blst_p1_affine_compress;
  static constexpr auto serialize = blst_p1_affine_serialize;
  static constexpr auto uncompress = blst_p1_uncompress;
  static constexpr auto deserialize = blst_p1_deserialize;
  static constexpr auto from_affine = blst_p1_from_affine;
  static constexpr auto to_affine = blst_p1_to_affine;
  static constexpr auto twice = blst_p1_double;
  static constexpr auto add = blst_p1_add_or_double;
  static constexpr auto add_affine = blst_p1_add_or_double_affine;
  static constexpr auto is_equal = blst_p1_is_equal;
  static constexpr auto multiply = blst_p1_mult;
};

template <>
struct Blst<Fp2> {
  using Affine = blst_p2_affine;
  using Jacobian = blst_p2;
  static constexpr auto generator = blst_p2_affine_generator;
  static constexpr auto on_curve = blst_p2_affine_on_curve;
  static constexpr auto in_group = blst_p2_affine_in_g2;
  static constexpr auto compress = blst_p2_affine_compress;
  static constexpr auto serialize = blst_p2_affine_serialize;
  static constexpr auto uncompress = blst_p2_uncompress;
  static constexpr auto deserialize = blst_p2_deserialize;
  static constexpr auto from_affine = blst_p2_from_affine;
  static constexpr auto to_affine = blst_p2_to_affine;
  static constexpr auto twice = blst_p2_double;
  static constexpr auto add = blst_p2_add_or_double;
  static constexpr auto add_affine = blst_p2_add_or_double_affine;
  static constexpr auto is_equal = blst_p2_is_equal;
  static constexpr auto multiply = blst_p2_mult;
};

static_assert(sizeof(AffinePoint<Fp>) == sizeof(blst_p1_affine) &&
              sizeof(JacobianPoint<Fp>) == sizeof(blst_p1));
static_assert(sizeof(AffinePoint<Fp2>) == sizeof(blst_p2_affine) &&
              sizeof(JacobianPoint<Fp2>) == sizeof(blst_p2));

template <class F>
auto raw(const AffinePoint<F>& point) {
  return reinterpret_cast<const typename Blst<F>::Affine*>(&point);
}
template <class F>
auto raw(AffinePoint<F>& point) {
  return reinterpret_cast<typename Blst<F>::Affine*>(&point);
}
template <class F>
auto raw(const JacobianPoint<F>& point) {
  return reinterpret_cast<const typename Blst<F>::Jacobian*>(&point);
}
template <class F>
auto raw(JacobianPoint<F>& point) {
  return reinterpret_cast<typename Blst<F>::Jacobian*>(&point);
}

// What a decoder of blst returned, and what it leaves open.
template <class F>
PointFault accept(BLST_ERROR error, const AffinePoint<F>& point, PointCheck check,
                  AffinePoint<F>& out) {
  if (error == BLST_POINT_NOT_ON_CURVE) return PointFault::kNotOnCurve;
  if (error != BLST_SUCCESS) return PointFault::kEncoding;
  if (check == PointCheck::kInGroup && !point.is_in_group()) return PointFault::kNotInGroup;
  out = point;
  return PointFault::kNone;
}

}  // namespace

std::string_view describe(PointFault fault) {
  switch (fault) {
    case PointFault::kNone:
      return "a valid point";
    case PointFault::kEncoding:
      return "a bad encoding (flags, or a coordinate not below p)";
    case PointFault::kNotOnCurve:
      return "a point that is not on the curve";
    case PointFault::kNotInGroup:
      return "a point outside the subgroup of order r";
    case PointFault::kIdentity:
      return "the point at infinity";
  }
  return "an unknown fault";
}

template <class F>
const AffinePoint<F>& AffinePoint<F>::generator() {
  return *reinterpret_cast<const AffinePoint*>(Blst<F>::generator());
}

template <class F>
bool AffinePoint<F>::is_on_curve() const {
  return is_identity() || Blst<F>::on_curve(raw(*this));
}

template <class F>
bool AffinePoint<F>::is_in_group() const {
  return is_identity() || Blst<F>::in_group(raw(*this));
}

template <class F>
std::array<std::uint8_t, AffinePoint<F>::kCompressedBytes> AffinePoint<F>::to_compressed() const {
  std::array<std::uint8_t, kCompressedBytes> out;
  Blst<F>::compress(out.data(), raw(*this));
  return out;
}

template <class F>
std::array<std::uint8_t, AffinePoint<F>::kUncompressedBytes> AffinePoint<F>::to_uncompressed()
    const {
  std::array<std::uint8_t, kUncompressedBytes> out;
  Blst<F>::serialize(out.data(), raw(*this));
  return out;
}

template <class F>
PointFault AffinePoint<F>::from_compressed(std::span<const std::uint8_t, kCompressedBytes> bytes,
                                           PointCheck check, AffinePoint& out) {
  AffinePoint point;
  const BLST_ERROR error = Blst<F>::uncompress(raw(point), bytes.data());
  return accept(error, point, check, out);
}

template <class F>
PointFault AffinePoint<F>::from_uncompressed(
    std::span<const std::uint8_t, kUncompressedBytes> bytes, PointCheck check, AffinePoint& out) {
  // blst takes a compressed encoding here, too; the format does not.
  if ((bytes[0] & 0x80) != 0) return PointFault::kEncoding;
  AffinePoint point;
  const BLST_ERROR error = Blst<F>::deserialize(raw(point), bytes.data());
  return accept(error, point, check, out);
}

template <class F>
JacobianPoint<F> JacobianPoint<F>::from(const AffinePoint<F>& point) {
  JacobianPoint out;
  Blst<F>::from_affine(raw(out), raw(point));
  return out;
}

template <class F>
AffinePoint<F> JacobianPoint<F>::to_affine() const {
  if (is_identity()) return AffinePoint<F>::identity();
  AffinePoint<F> out;
  Blst<F>::to_affine(raw(out), raw(*this));
  return out;
}

template <class F>
JacobianPoint<F> JacobianPoint<F>::doubled() const {
  JacobianPoint out;
  Blst<F>::twice(raw(out), raw(*this));
  return out;
}

template <class F>
JacobianPoint<F>& JacobianPoint<F>::operator+=(const JacobianPoint& other) {
  Blst<F>::add(raw(*this), raw(*this), raw(other));
  return *this;
}

template <class F>
JacobianPoint<F>& JacobianPoint<F>::operator+=(const AffinePoint<F>& other) {
  Blst<F>::add_affine(raw(*this), raw(*this), raw(other));
  return *this;
}

template <class F>
bool JacobianPoint<F>::equal(const JacobianPoint& a, const JacobianPoint& b) {
  return Blst<F>::is_equal(raw(a), raw(b));
}

template <class F>
JacobianPoint<F> operator*(const JacobianPoint<F>& point, const Fr& scalar) {
  JacobianPoint<F> out;
  const base::Bytes32 bytes = scalar.to_bytes_le();
  Blst<F>::multiply(raw(out), raw(point), bytes.data(), Fr::kNumBits);
  return out;
}

template <class F>
std::vector<AffinePoint<F>> normalize(std::span<const JacobianPoint<F>> points) {
  std::vector<F> z_inverses(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) z_inverses[i] = points[i].z;
  invert_all<F>(z_inverses);
  std::vector<AffinePoint<F>> out(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const F square = z_inverses[i].square();  // zero for infinity, which makes (0, 0)
    out[i] = {points[i].x * square, points[i].y * square * z_inverses[i]};
  }
  return out;
}

template struct AffinePoint<Fp>;
template struct AffinePoint<Fp2>;
template struct JacobianPoint<Fp>;
template struct JacobianPoint<Fp2>;
template JacobianPoint<Fp> operator*(const JacobianPoint<Fp>&, const Fr&);
template JacobianPoint<Fp2> operator*(const JacobianPoint<Fp2>&, const Fr&);
template std::vector<AffinePoint<Fp>> normalize(std::span<const JacobianPoint<Fp>>);
template std::vector<AffinePoint<Fp2>> normalize(std::span<const JacobianPoint<Fp2>>);

}  // namespace cuzk::curve
