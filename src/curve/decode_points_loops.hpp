// decode_run() with vectors. One text for all vector arithmetics, included by their sources, hence
// in an unnamed namespace and without an include guard: their functions need each its own target
// attribute. CUZK_ARITHMETIC is the arithmetic's namespace in cuzk::curve, with its Field8, and
// CUZK_TARGET the attribute.
#ifndef CUZK_ARITHMETIC
#error "this text is included by an arithmetic's source"
#endif

#include "curve/decode_points.hpp"

#include <algorithm>
#include <cstring>

namespace cuzk::curve::decode_kernels::CUZK_ARITHMETIC {

namespace {

namespace vectors = curve::CUZK_ARITHMETIC;
using vectors::Field8;
using vectors::Fp8;

constexpr std::size_t kGroup = 8;

// Flags of an encoding's first byte: compressed, infinity, sign.
constexpr std::uint8_t kFlags = 0xe0;

// An integer below p in all lanes.
Fp8 in_all_lanes(const Limbs<6>& words) {
  const auto limbs = vectors::split<vectors::FpVectorField>(words);
  Fp8 out;
  for (unsigned k = 0; k < limbs.size(); ++k) {
    for (auto& lane : out.limb[k]) lane = limbs[k];
  }
  return out;
}

// 2^2s, s = kHalfShift: what products lack.
constexpr std::uint64_t kLacking = std::uint64_t{1} << 2 * vectors::kHalfShift;

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

// Integers to Montgomery form: a product with 2^2s·R².
CUZK_TARGET void load_integers(const Limbs<6> (&integers)[kGroup], Fp8& out) {
  static const Fp8 factor =
      in_all_lanes(kFpField.multiply(kFpField.r2, kFpField.from_u64(kLacking)));
  const std::uint64_t* sources[kGroup];
  for (std::size_t lane = 0; lane < kGroup; ++lane) sources[lane] = integers[lane].data();
  vectors::load_fp(sources, out);
  vectors::multiply_fp(out, factor, out);
}

// One coordinate of eight points.
CUZK_TARGET bool read_coordinate(const std::uint8_t* encodings, std::size_t stride,
                                 Field8<Fp>& out) {
  Limbs<6> integers[kGroup];
  const bool good = read_integers(encodings, stride, integers);
  load_integers(integers, out.value);
  return good;
}
// c1 comes first.
CUZK_TARGET bool read_coordinate(const std::uint8_t* encodings, std::size_t stride,
                                 Field8<Fp2>& out) {
  Limbs<6> integers[kGroup];
  bool good = read_integers(encodings, stride, integers);
  load_integers(integers, out.c1);
  good &= read_integers(encodings + Fp::kBytes, stride, integers);
  load_integers(integers, out.c0);
  return good;
}

// 4/2^2s, and 4(1 + u)/2^2s.
Fp8 curve_coefficient() {
  const Fp b = Fp::from_u64(kCurveB) * Fp::from_u64(kLacking).inverse();
  Limbs<6> limbs;
  std::copy_n(b.limbs(), limbs.size(), limbs.begin());
  return in_all_lanes(limbs);
}
Field8<Fp> curve_constant(const Fp*) { return {curve_coefficient()}; }
Field8<Fp2> curve_constant(const Fp2*) { return {curve_coefficient(), curve_coefficient()}; }

// (y² - x³ - b)/2^2s in all lanes. Bounds of non-negative values, in multiples of p: x and y are
// below 2.1, so y² is; 2^2s·x times x² is below 3.7.
template <class F>
CUZK_TARGET bool on_curve(const Field8<F>& x, const Field8<F>& y) {
  static const Field8<F> b = curve_constant(static_cast<const F*>(nullptr));
  Field8<F> shifted = x, cube, difference;
  Field8<F>::square(x, cube);
  shifted.times_shift();
  shifted.times_shift();
  Field8<F>::multiply(shifted, cube, cube);
  Field8<F>::square(y, difference);
  Field8<F>::template subtract<5>(difference, difference, cube, b);
  F values[kGroup];
  std::uint64_t* targets[kGroup];
  for (std::size_t lane = 0; lane < kGroup; ++lane) targets[lane] = values[lane].limbs();
  difference.store(targets);
  bool good = true;
  for (const F& value : values) good &= value.is_zero();
  return good;
}

template <class F>
CUZK_TARGET bool decode_eight(const std::uint8_t* encodings, AffinePoint<F>* const* targets) {
  constexpr std::size_t kBytes = AffinePoint<F>::kUncompressedBytes;
  std::uint8_t flags = 0;
  for (std::size_t lane = 0; lane < kGroup; ++lane) flags |= encodings[lane * kBytes];
  if ((flags & kFlags) != 0) return false;
  Field8<F> x, y;
  if (!read_coordinate(encodings, kBytes, x)) return false;
  if (!read_coordinate(encodings + kBytes / 2, kBytes, y)) return false;
  std::uint64_t *x_targets[kGroup], *y_targets[kGroup];
  for (std::size_t lane = 0; lane < kGroup; ++lane) {
    x_targets[lane] = targets[lane]->x.limbs();
    y_targets[lane] = targets[lane]->y.limbs();
  }
  x.store(x_targets);
  y.store(y_targets);
  return on_curve(x, y);
}

}  // namespace

}  // namespace cuzk::curve::decode_kernels::CUZK_ARITHMETIC

#undef CUZK_ARITHMETIC
#undef CUZK_TARGET
