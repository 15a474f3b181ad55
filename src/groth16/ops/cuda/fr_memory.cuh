#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/fr.hpp"

/// Moving elements of Fr in 16-byte halves.
namespace cuzk::groth16::cuda {

CUZK_DEVICE void set_half(curve::device::Fr& x, int half, const uint4& v) {
  x.limbs[4 * half] = v.x;
  x.limbs[4 * half + 1] = v.y;
  x.limbs[4 * half + 2] = v.z;
  x.limbs[4 * half + 3] = v.w;
}
CUZK_DEVICE uint4 get_half(const curve::device::Fr& x, int half) {
  return make_uint4(x.limbs[4 * half], x.limbs[4 * half + 1], x.limbs[4 * half + 2],
                    x.limbs[4 * half + 3]);
}

/// For data used once: it is not to push tables out of L1.
CUZK_DEVICE curve::device::Fr load_streaming(const curve::device::Fr* p) {
  curve::device::Fr x;
  set_half(x, 0, __ldcs(reinterpret_cast<const uint4*>(p)));
  set_half(x, 1, __ldcs(reinterpret_cast<const uint4*>(p) + 1));
  return x;
}
CUZK_DEVICE void store_streaming(curve::device::Fr* p, const curve::device::Fr& x) {
  __stcs(reinterpret_cast<uint4*>(p), get_half(x, 0));
  __stcs(reinterpret_cast<uint4*>(p) + 1, get_half(x, 1));
}
/// For data that is written and soon read again, by the same thread or a later kernel.
CUZK_DEVICE curve::device::Fr load_cached(const curve::device::Fr* p) {
  curve::device::Fr x;
  set_half(x, 0, reinterpret_cast<const uint4*>(p)[0]);
  set_half(x, 1, reinterpret_cast<const uint4*>(p)[1]);
  return x;
}
CUZK_DEVICE void store_cached(curve::device::Fr* p, const curve::device::Fr& x) {
  reinterpret_cast<uint4*>(p)[0] = get_half(x, 0);
  reinterpret_cast<uint4*>(p)[1] = get_half(x, 1);
}
/// For data that no one writes while the kernel runs.
CUZK_DEVICE curve::device::Fr load_readonly(const curve::device::Fr* p) {
  curve::device::Fr x;
  set_half(x, 0, __ldg(reinterpret_cast<const uint4*>(p)));
  set_half(x, 1, __ldg(reinterpret_cast<const uint4*>(p) + 1));
  return x;
}
CUZK_DEVICE curve::device::FrFactor load_readonly(const curve::device::FrFactor* p) {
  return {load_readonly(&p->w), load_readonly(&p->companion)};
}

}  // namespace cuzk::groth16::cuda
