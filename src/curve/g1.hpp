#pragma once

#include "curve/point.hpp"

namespace cuzk::curve {

/// The group of order r on y² = x³ + 4 over Fp: 48 bytes compressed, 96 uncompressed.
using G1Affine = AffinePoint<Fp>;
using G1Jacobian = JacobianPoint<Fp>;

static_assert(sizeof(G1Affine) == 96 && G1Affine::kCompressedBytes == 48);

}  // namespace cuzk::curve
