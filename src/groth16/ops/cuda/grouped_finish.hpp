#pragma once

#include "curve/device/blst.hpp"

namespace cuzk::groth16::cuda {

namespace grouped_finish_detail {

/// (r + 1) / 2, 32 bytes, least significant first: 1/2 mod r.
inline constexpr unsigned char kHalf[32] = {
    0x01, 0x00, 0x00, 0x80, 0xff, 0xff, 0xff, 0x7f, 0xff, 0x2d, 0xff, 0x7f, 0x01, 0xd2, 0xde, 0xa9,
    0x02, 0xec, 0xd0, 0x04, 0x04, 0xec, 0x9c, 0x19, 0xa4, 0xbe, 0xce, 0x94, 0xa9, 0xd3, 0xf6, 0x39};

}  // namespace grouped_finish_detail

/// (signed_sum + all) / 2: the 0/1 sum, from batch_add_grouped()'s result and the sum of all bases,
/// both in the subgroup of order r. On the host.
inline blst_p1 finish_grouped_sum(const blst_p1& signed_sum, const blst_p1& all) {
  const blst_p1 twice = curve::device::sum(signed_sum, all);
  blst_p1 half;
  blst_p1_mult(&half, &twice, grouped_finish_detail::kHalf, 255);
  return half;
}
inline blst_p2 finish_grouped_sum(const blst_p2& signed_sum, const blst_p2& all) {
  const blst_p2 twice = curve::device::sum(signed_sum, all);
  blst_p2 half;
  blst_p2_mult(&half, &twice, grouped_finish_detail::kHalf, 255);
  return half;
}

}  // namespace cuzk::groth16::cuda
