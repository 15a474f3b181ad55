#pragma once

#include "curve/point.hpp"

namespace cuzk::curve {

/// The group of order r on y² = x³ + 4(1 + u) over Fp2: 96 bytes compressed, 192 uncompressed.
using G2Affine = AffinePoint<Fp2>;
using G2Jacobian = JacobianPoint<Fp2>;

static_assert(sizeof(G2Affine) == 192 && G2Affine::kCompressedBytes == 96);

}  // namespace cuzk::curve
