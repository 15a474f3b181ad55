#pragma once

#include "groth16/derivation.hpp"

#include <cstddef>
#include <memory>

namespace cuzk::groth16::cuda {

/// Points that the device works on at a time unless said otherwise: 2 x 0.8 GiB of device memory.
inline constexpr std::size_t kPointsAPiece = std::size_t{1} << 21;

/// PointTransforms on the current device. The points stay in host memory; pieces of up to
/// `points_a_piece` points go to the device and come back, twice a transform, while the device
/// works on the piece before, so that domains of any size do. Used by one thread, with the device
/// current. Throws InvalidInput if a piece is smaller than the square root of the domain (2^((log2
/// n + 1) / 2)); ResourceExhausted and DeviceError where the device fails.
std::unique_ptr<PointTransforms> make_point_transforms(const Domain& domain,
                                                       std::size_t points_a_piece = kPointsAPiece);

}  // namespace cuzk::groth16::cuda
