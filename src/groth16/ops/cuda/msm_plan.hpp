#pragma once

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// How a dense multi-scalar multiplication is cut up; plain numbers, known before anything is
/// enqueued.
namespace cuzk::groth16::cuda {

/// Signed windows that together cover exactly 256 bits, widths differing by at most one, the wider
/// ones lowest: the top window is then as full as the others. With k' = k + sum over all windows
/// but the top one of 2^(position + bits - 1), a window's digit is (its bits of k') - 2^(bits - 1),
/// and the top one's its bits of k': no carry from window to window. For k < r = 0.453·2^256 every
/// digit is at most 2^(bits - 1) in size, if bits >= 6.
struct MsmWindows {
  static constexpr int kMin = 10, kMax = 40;

  int count = 0;
  std::array<int, kMax> position{}, bits{};
  /// First bucket of each window in the joint bucket array, and their total; bucket base[w] +
  /// |digit| - 1 belongs to digit.
  std::array<std::uint32_t, kMax + 1> base{};
  /// The constant k' - k.
  std::array<std::uint32_t, 8> shift{};

  static MsmWindows make(int count) {
    base::require(count >= kMin && count <= kMax, "{} windows: must be {} .. {}", count, kMin,
                  kMax);
    MsmWindows windows;
    windows.count = count;
    int position = 0;
    std::uint32_t bucket = 0;
    for (int w = 0; w < count; ++w) {
      const auto i = static_cast<std::size_t>(w);
      const int bits = 256 / count + (w < 256 % count ? 1 : 0);
      windows.position[i] = position;
      windows.bits[i] = bits;
      windows.base[i] = bucket;
      position += bits;
      bucket += 1u << (bits - 1);
      if (w + 1 < count) {
        const int top = position - 1;
        windows.shift[static_cast<std::size_t>(top / 32)] |= 1u << (top % 32);
      }
    }
    windows.base[static_cast<std::size_t>(count)] = bucket;
    return windows;
  }
  std::uint32_t buckets() const { return base[static_cast<std::size_t>(count)]; }
  int narrowest() const { return bits[static_cast<std::size_t>(count) - 1]; }
};

/// How the points of a bucket are added.
enum class Accumulation {
  kXyzz,    // a thread a bucket: 10.3 products and squares an addition
  kAffine,  // a thread many buckets, one addition each at a time, sharing an inversion: 6 an
            // addition; needs many buckets
};

struct MsmPlan {
  std::size_t n = 0;  // scalars, below 2^31
  unsigned sm_count = 1;
  MsmWindows windows;
  Accumulation accumulation = Accumulation::kXyzz;
  unsigned batch = 1;  // kAffine: buckets a thread
  /// Buckets with more points are cut into pieces that blocks add up, so that no thread is left
  /// with a long list.
  std::uint32_t heavy_limit = 0;
  /// Buckets are summed in levels; each takes 2^bits neighbours together.
  std::vector<int> levels;
  int windows_at_once =
      2;  // digits of this many windows are extracted in one pass over the scalars

  /// `buckets_at_once`: buckets that the device's threads hold at a time with a batch of one
  /// (MsmShape::points_at_once).
  static MsmPlan make(std::size_t n, unsigned sm_count, std::size_t buckets_at_once) {
    base::require(n < std::size_t{1} << 31, "sum of {} products: at most 2^31 - 1", n);
    MsmPlan plan;
    plan.n = n;
    plan.sm_count = sm_count;
    double best = 0;
    for (int count = MsmWindows::kMin; count <= MsmWindows::kMax; ++count) {
      const MsmWindows windows = MsmWindows::make(count);
      if (static_cast<std::uint64_t>(count) * n >= std::uint64_t{1} << 32)
        continue;  // positions are 32-bit
      // Additions of points to buckets, and about four times as much work a bucket to sum those up.
      const double cost =
          static_cast<double>(count) * static_cast<double>(n) + 4.0 * windows.buckets();
      if (plan.windows.count == 0 || cost < best) {
        best = cost;
        plan.windows = windows;
      }
    }
    plan.set_windows(plan.windows.count, buckets_at_once);
    return plan;
  }

  /// Chooses the number of windows by hand; the rest follows.
  void set_windows(int count, std::size_t buckets_at_once) {
    base::require(static_cast<std::uint64_t>(count) * n < std::uint64_t{1} << 32,
                  "sum of {} products in {} windows: more than 2^32 digits", n, count);
    windows = MsmWindows::make(count);
    const std::size_t buckets = windows.buckets(), mean = n >> (windows.narrowest() - 1);
    heavy_limit = static_cast<std::uint32_t>(std::clamp<std::size_t>(4 * mean, 256, 4095));
    // The affine way pays where every thread has dozens of buckets.
    accumulation = buckets >= 80 * buckets_at_once ? Accumulation::kAffine : Accumulation::kXyzz;
    // Four tiles a block, and no fifth with hardly anything in it; more than 84 buckets a thread
    // are slower by caches that they do not fit in.
    const std::size_t a_tile = 4 * buckets_at_once;
    batch = static_cast<unsigned>(std::clamp<std::size_t>((buckets + a_tile - 1) / a_tile, 1, 84));
    levels.clear();
    for (int left = windows.narrowest() - 1; left > 2;) {
      const int wanted = levels.empty() && buckets >= std::size_t{1} << 22 ? 5 : 3;
      levels.push_back(std::min(wanted, left));
      left -= levels.back();
    }
  }
  int level_bits() const {
    int total = 0;
    for (const int bits : levels) total += bits;
    return total;
  }
  /// Sums of either kind that are left for the host.
  std::size_t final_sums() const { return windows.buckets() >> level_bits(); }
};

}  // namespace cuzk::groth16::cuda
