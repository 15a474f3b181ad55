#include "curve/decode_points.hpp"
#include "curve/field8_avx2.hpp"

#include <cstring>

#if defined(__x86_64__)

namespace cuzk::curve::decode_kernels {

namespace {

using avx2::Field8;
using avx2::Fp8;

constexpr std::size_t kGroup = 8;

// Flags of an encoding's first byte: compressed, infinity, sign.
constexpr std::uint8_t kFlags = 0xe0;

// A canonical integer in all lanes.
Fp8 in_all_lanes(const Limbs<6>& words) {
  const auto limbs = avx2::split<avx2::FpVectorField>(words);
  Fp8 out;
  for (unsigned k = 0; k < avx2::FpVectorField::limbs; ++k) {
    for (double& lane : out.limb[k]) lane = limbs[k];
  }
  return out;
}

bool below_modulus(const Limbs<6>& value) {
  const std::uint64_t top = kFpField.modulus[5];
  return value[5] < top || (value[5] == top && wide::less(value, kFpField.modulus));
}

// 48 big-endian bytes of each point, the first at `encodings`, as integers; false if one is not
// below p.
bool read_integers(const std::uint8_t* encodings, std::size_t stride, Limbs<6> (&out)[kGroup]) {
  bool good = true;
  for (std::size_t lane = 0; lane < kGroup; ++lane) {
    for (unsigned word = 0; word < 6; ++word) {
      std::uint64_t bytes;
      std::memcpy(&bytes, encodings + lane * stride + 8 * word, 8);
      out[lane][5 - word] = __builtin_bswap64(bytes);
    }
    good &= below_modulus(out[lane]);
  }
  return good;
}

// Integers to Montgomery form: a product with R².
CUZK_AVX2 void load_integers(const Limbs<6> (&integers)[kGroup], Fp8& out) {
  static const Fp8 r2 = in_all_lanes(kFpField.r2);
  const std::uint64_t* sources[kGroup];
  for (std::size_t lane = 0; lane < kGroup; ++lane) sources[lane] = integers[lane].data();
  avx2::load_fp(sources, out);
  avx2::multiply_fp(out, r2, out);
}

// One coordinate of eight points.
CUZK_AVX2 bool read_coordinate(const std::uint8_t* encodings, std::size_t stride, Field8<Fp>& out) {
  Limbs<6> integers[kGroup];
  const bool good = read_integers(encodings, stride, integers);
  load_integers(integers, out.value);
  return good;
}
// c1 comes first.
CUZK_AVX2 bool read_coordinate(const std::uint8_t* encodings, std::size_t stride,
                               Field8<Fp2>& out) {
  Limbs<6> integers[kGroup];
  bool good = read_integers(encodings, stride, integers);
  load_integers(integers, out.c1);
  good &= read_integers(encodings + Fp::kBytes, stride, integers);
  load_integers(integers, out.c0);
  return good;
}

// 4, and 4(1 + u).
Field8<Fp> curve_constant(const Fp*) { return {in_all_lanes(kFpField.from_u64(kCurveB))}; }
Field8<Fp2> curve_constant(const Fp2*) {
  return {in_all_lanes(kFpField.from_u64(kCurveB)), in_all_lanes(kFpField.from_u64(kCurveB))};
}

std::uint64_t* words(Fp& value) { return value.blst()->l; }
std::uint64_t* words(Fp2& value) { return value.c0.blst()->l; }

// y² - x³ - b in all lanes.
template <class F>
CUZK_AVX2 bool on_curve(const Field8<F>& x, const Field8<F>& y) {
  static const Field8<F> b = curve_constant(static_cast<const F*>(nullptr));
  Field8<F> cube, difference;
  Field8<F>::square(x, cube);
  Field8<F>::multiply(cube, x, cube);
  Field8<F>::square(y, difference);
  Field8<F>::subtract(difference, cube, difference);
  Field8<F>::subtract(difference, b, difference);
  F values[kGroup];
  std::uint64_t* targets[kGroup];
  for (std::size_t lane = 0; lane < kGroup; ++lane) targets[lane] = words(values[lane]);
  difference.store(targets);
  bool good = true;
  for (const F& value : values) good &= value.is_zero();
  return good;
}

template <class F>
CUZK_AVX2 bool decode_eight(const std::uint8_t* encodings, AffinePoint<F>* const* targets) {
  constexpr std::size_t kBytes = AffinePoint<F>::kUncompressedBytes;
  std::uint8_t flags = 0;
  for (std::size_t lane = 0; lane < kGroup; ++lane) flags |= encodings[lane * kBytes];
  if ((flags & kFlags) != 0) return false;
  Field8<F> x, y;
  if (!read_coordinate(encodings, kBytes, x)) return false;
  if (!read_coordinate(encodings + kBytes / 2, kBytes, y)) return false;
  std::uint64_t *x_targets[kGroup], *y_targets[kGroup];
  for (std::size_t lane = 0; lane < kGroup; ++lane) {
    x_targets[lane] = words(targets[lane]->x);
    y_targets[lane] = words(targets[lane]->y);
  }
  x.store(x_targets);
  y.store(y_targets);
  return on_curve(x, y);
}

}  // namespace

bool decode_eight_avx2(const std::uint8_t* encodings, G1Affine* const* targets) {
  return decode_eight(encodings, targets);
}
bool decode_eight_avx2(const std::uint8_t* encodings, G2Affine* const* targets) {
  return decode_eight(encodings, targets);
}

}  // namespace cuzk::curve::decode_kernels

#endif
