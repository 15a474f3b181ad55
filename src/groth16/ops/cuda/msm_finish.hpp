#pragma once

#include "base/error.hpp"
#include "curve/device/blst.hpp"
#include "groth16/ops/cuda/msm_plan.hpp"

#include <span>

/// The host's part of a dense MSM: from the sums that msm() left, the result. About 0.3 ms.
namespace cuzk::groth16::cuda {

namespace msm_finish_detail {

template <class Sum>
auto finish(const MsmPlan& plan, std::span<const Sum> sums) {
  using curve::device::sum;
  using curve::device::to_blst;
  using Point = decltype(to_blst(sums[0]));
  const std::size_t count = plan.final_sums();
  base::require(sums.size() >= 2 * count, "sum of {} products leaves {} points, given {}", plan.n,
                2 * count, sums.size());
  const std::span<const Sum> plain = sums.first(count), weighted = sums.subspan(count, count);
  const int level_bits = plan.level_bits();
  Point total{};
  for (int w = plan.windows.count - 1; w >= 0; --w) {
    const auto i = static_cast<std::size_t>(w);
    const std::size_t first = plan.windows.base[i] >> level_bits,
                      last = plan.windows.base[i + 1] >> level_bits;
    // sum of weighted_c + 2^level_bits·sum of c·plain_c + sum of plain_c, as bucket 0 belongs to
    // digit 1.
    Point running{}, scaled{}, rest{};
    for (std::size_t c = last; c-- > first;) {
      running = sum(running, to_blst(plain[c]));
      rest = sum(rest, to_blst(weighted[c]));
      if (c > first) scaled = sum(scaled, running);
    }
    for (int k = 0; k < level_bits; ++k) scaled = sum(scaled, scaled);
    const Point window = sum(sum(scaled, rest), running);
    if (w + 1 < plan.windows.count) {
      for (int k = 0; k < plan.windows.bits[i]; ++k) total = sum(total, total);
    }
    total = sum(total, window);
  }
  return total;
}

}  // namespace msm_finish_detail

/// The result of msm(plan, ...) from the 2·plan.final_sums() points that it wrote. Throws
/// InvalidInput if there are fewer.
inline blst_p1 finish_msm(const MsmPlan& plan, std::span<const curve::device::G1Xyzz> sums) {
  return msm_finish_detail::finish(plan, sums);
}
inline blst_p2 finish_msm(const MsmPlan& plan, std::span<const curve::device::G2Xyzz> sums) {
  return msm_finish_detail::finish(plan, sums);
}

}  // namespace cuzk::groth16::cuda
