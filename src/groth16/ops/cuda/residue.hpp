#pragma once

#include "curve/device/fr.hpp"
#include "curve/fr.hpp"

#include <cstring>

/// Between the two types of Fr, for checks.
namespace cuzk::groth16::cuda::checks {

/// What plain, loose x stands for.
inline curve::Fr residue(const curve::device::Fr& x) {
  base::Bytes32 bytes;
  std::memcpy(bytes.data(), x.limbs, 32);
  return curve::Fr::from_bytes_le_reduced(bytes);
}
/// Canonical and plain.
inline curve::device::Fr plain(const curve::Fr& x) {
  const base::Bytes32 bytes = x.to_bytes_le();
  curve::device::Fr d;
  std::memcpy(d.limbs, bytes.data(), 32);
  return d;
}

/// The same bytes.
inline curve::device::Fr montgomery(const curve::Fr& x) {
  curve::device::Fr d;
  std::memcpy(d.limbs, x.limbs(), 32);
  return d;
}

}  // namespace cuzk::groth16::cuda::checks
