#pragma once

#include "curve/fp2.hpp"
#include "curve/fr.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Points of the two curves, generic in the coordinate field: F = Fp for G1, Fp2 for G2 (g1.hpp and
/// g2.hpp name them). Encodings are zcash's: big-endian coordinates, c1 before c0 in Fp2; three
/// flags in the top bits of the first byte:
///   0x80 compressed (x only), 0x40 point at infinity (all other bits zero), 0x20 compressed and y
///   is the larger root.
/// [zkcrypto/bls12_381 src/notes/serialization.rs]
namespace cuzk::curve {

/// Why bytes are not the point that was asked for.
enum class PointFault {
  kNone,
  kEncoding,  ///< wrong flags, or a coordinate that is not below p
  kNotOnCurve,
  kNotInGroup,  ///< on the curve, outside the subgroup of order r
  kIdentity,    ///< the point at infinity where a key or proof cannot have it
};
/// For error texts: "a bad encoding", "a point that is not on the curve", ...
std::string_view describe(PointFault fault);

/// How far a decoder looks. All encodings and the curve equation are checked always.
enum class PointCheck { kOnCurve, kInGroup };

template <class F>
struct JacobianPoint;

/// (x, y), or the point at infinity as (0, 0). A plain value without invariants; is_on_curve()
/// tells.
template <class F>
struct AffinePoint {
  static constexpr std::size_t kCompressedBytes = sizeof(F);
  static constexpr std::size_t kUncompressedBytes = 2 * sizeof(F);

  F x, y;

  static constexpr AffinePoint identity() { return {}; }
  static const AffinePoint& generator();

  bool is_identity() const { return x.is_zero() && y.is_zero(); }
  bool is_on_curve() const;
  /// In the subgroup of order r; for a point on the curve. 60 µs in G1, 80 µs in G2: a batch is
  /// cheaper by subgroup_check.hpp.
  bool is_in_group() const;

  AffinePoint operator-() const { return {x, is_identity() ? y : -y}; }
  friend bool operator==(const AffinePoint&, const AffinePoint&) = default;

  std::array<std::uint8_t, kCompressedBytes> to_compressed() const;
  std::array<std::uint8_t, kUncompressedBytes> to_uncompressed() const;

  /// Decoders leave `out` alone unless they return kNone; they accept the identity.
  static PointFault from_compressed(std::span<const std::uint8_t, kCompressedBytes> bytes,
                                    PointCheck check, AffinePoint& out);
  static PointFault from_uncompressed(std::span<const std::uint8_t, kUncompressedBytes> bytes,
                                      PointCheck check, AffinePoint& out);
};

/// Asks for a point's cache lines before it is read or written. `kLocality` is that of
/// __builtin_prefetch.
enum class Access { kRead, kWrite };
template <Access kAccess, int kLocality, class F>
inline void prefetch(const AffinePoint<F>& point) {
  for (std::size_t line = 0; line < sizeof(point); line += 64) {
    __builtin_prefetch(reinterpret_cast<const char*>(&point) + line, static_cast<int>(kAccess),
                       kLocality);
  }
}

/// (X, Y, Z) for x = X/Z², y = Y/Z³; infinity has Z = 0. Addition is complete: any two points.
template <class F>
struct JacobianPoint {
  F x, y, z;

  static constexpr JacobianPoint identity() { return {}; }
  static JacobianPoint from(const AffinePoint<F>& point);

  bool is_identity() const { return z.is_zero(); }
  AffinePoint<F> to_affine() const;
  JacobianPoint doubled() const;
  JacobianPoint operator-() const { return {x, -y, z}; }

  JacobianPoint& operator+=(const JacobianPoint& other);
  JacobianPoint& operator+=(const AffinePoint<F>& other);
  friend JacobianPoint operator+(JacobianPoint a, const JacobianPoint& b) { return a += b; }
  friend JacobianPoint operator+(JacobianPoint a, const AffinePoint<F>& b) { return a += b; }
  /// Same point, whatever the representatives.
  friend bool operator==(const JacobianPoint& a, const JacobianPoint& b) { return equal(a, b); }

 private:
  static bool equal(const JacobianPoint& a, const JacobianPoint& b);
};

/// scalar·point. Not in constant time with regard to either.
template <class F>
JacobianPoint<F> operator*(const JacobianPoint<F>& point, const Fr& scalar);
template <class F>
JacobianPoint<F> operator*(const AffinePoint<F>& point, const Fr& scalar) {
  return JacobianPoint<F>::from(point) * scalar;
}

/// All points in affine form with one inversion.
template <class F>
std::vector<AffinePoint<F>> normalize(std::span<const JacobianPoint<F>> points);

extern template struct AffinePoint<Fp>;
extern template struct AffinePoint<Fp2>;
extern template struct JacobianPoint<Fp>;
extern template struct JacobianPoint<Fp2>;

}  // namespace cuzk::curve
