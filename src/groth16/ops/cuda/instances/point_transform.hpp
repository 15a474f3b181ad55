#pragma once

#include "base/cuda/span.hpp"
#include "base/cuda/stream_ref.hpp"
#include "curve/device/fr.hpp"
#include "curve/device/group.hpp"

#include <cstddef>
#include <cstdint>

/// Number-theoretic transforms of points of G1, in pieces: what turns a key's H into the derivative
/// form's Q and R. Every butterfly multiplies a point by a root of unity
/// (curve/device/multiple.hpp), which is nearly all there is to do: a piece goes through memory
/// once a stage.
namespace cuzk::groth16::cuda {

/// Powers of a root of unity ω, for exponents below 2^(low_log + high_log): ω^(i + j·2^low_log) =
/// low[i]·high[j]. In device memory, Montgomery form.
struct RootPowers {
  base::cuda::DeviceSpan<const curve::device::Fr> low, high;
  unsigned low_log = 0;
};

/// Where a piece of a transform of n points lies: `blocks` blocks of `rows`·`columns` points, point
/// (b, r, c) at (b·rows + r)·columns + c. Butterflies are between rows of a block, so all points of
/// the transform that a piece's stages mix are in the piece.
struct TransformPiece {
  std::size_t blocks = 1, rows = 1, columns = 1;
  /// Place of (b, r, c) in its sub-transform: r·row_stride + first_column + c. A sub-transform is
  /// what a block belongs to after the stages above: rows·row_stride points.
  std::size_t row_stride = 1, first_column = 0;
  /// n / (rows·row_stride): the sub-transform's root is ω to this power.
  std::size_t root_step = 1;

  std::size_t points() const { return blocks * rows * columns; }
};

enum class Butterfly {
  kDecimationInFrequency,  ///< (u, v) -> (u + v, (u - v)·w): natural to bit-reversed order
  kDecimationInTime,       ///< (u, v) -> (u + v·w, u - v·w): bit-reversed to natural order
};

/// Enqueues one stage: butterflies between rows r and r + half, half < rows a power of two. Waits
/// for nothing. Throws InvalidInput if the piece does not fit `points`.
void transform_stage(const TransformPiece& piece, std::size_t half, Butterfly butterfly,
                     const RootPowers& powers, base::cuda::DeviceSpan<curve::device::G1Xyzz> points,
                     base::cuda::StreamRef stream);

/// Enqueues sums[i] = points[i]. Affine points with coordinates in [0, 2p].
void lift_points(base::cuda::DeviceSpan<const curve::device::G1Affine> points,
                 base::cuda::DeviceSpan<curve::device::G1Xyzz> sums, base::cuda::StreamRef stream);
/// Enqueues sums[i] += points[i].
void add_points(base::cuda::DeviceSpan<const curve::device::G1Affine> points,
                base::cuda::DeviceSpan<curve::device::G1Xyzz> sums, base::cuda::StreamRef stream);
/// Enqueues sums[i] *= scalars[i]; loose Montgomery forms.
void multiply_points(base::cuda::DeviceSpan<const curve::device::Fr> scalars,
                     base::cuda::DeviceSpan<curve::device::G1Xyzz> sums,
                     base::cuda::StreamRef stream);
/// Enqueues points[i] = sums[i], canonical.
void settle_points(base::cuda::DeviceSpan<const curve::device::G1Xyzz> sums,
                   base::cuda::DeviceSpan<curve::device::G1Affine> points,
                   base::cuda::StreamRef stream);

}  // namespace cuzk::groth16::cuda
