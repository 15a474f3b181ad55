#pragma once

#include "base/cuda/kernel.hpp"
#include "base/cuda/stream_ref.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#ifdef __CUDACC__
#include "base/cuda/error.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#endif

/// CUB's device-wide sort and prefix sum; outside nvcc the standard library's, at once. Counts are
/// below 2^31: CUB counts in 32 bits for them, which is faster.
namespace cuzk::base::cuda {

/// Scratch bytes of sort_pairs() for up to `count` pairs.
inline std::size_t sort_pairs_scratch(std::size_t count) {
#ifdef __CUDACC__
  std::size_t up = 0, down = 0;
  const std::uint32_t* none = nullptr;
  std::uint32_t* out = nullptr;
  check(cub::DeviceRadixSort::SortPairs(nullptr, up, none, out, none, out,
                                        static_cast<std::uint32_t>(count), 0, 32),
        "sort");
  check(cub::DeviceRadixSort::SortPairsDescending(nullptr, down, none, out, none, out,
                                                  static_cast<std::uint32_t>(count), 0, 32),
        "sort");
  return std::max(up, down);
#else
  static_cast<void>(count);
  return 16;
#endif
}

enum class SortOrder { kAscending, kDescending };

/// Stable sort of pairs by the low `key_bits` bits of the key. In and out do not overlap.
inline void sort_pairs(void* scratch, std::size_t scratch_bytes, const std::uint32_t* keys_in,
                       std::uint32_t* keys_out, const std::uint32_t* values_in,
                       std::uint32_t* values_out, std::size_t count, int key_bits, SortOrder order,
                       StreamRef stream) {
  if (count == 0) return;
#ifdef __CUDACC__
  if (order == SortOrder::kAscending) {
    check(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys_in, keys_out, values_in,
                                          values_out, static_cast<std::uint32_t>(count), 0,
                                          key_bits, stream.handle),
          "sort");
  } else {
    check(cub::DeviceRadixSort::SortPairsDescending(
              scratch, scratch_bytes, keys_in, keys_out, values_in, values_out,
              static_cast<std::uint32_t>(count), 0, key_bits, stream.handle),
          "sort");
  }
#else
  static_cast<void>(scratch), static_cast<void>(scratch_bytes), static_cast<void>(stream);
  const std::uint32_t mask = key_bits >= 32 ? ~0u : (1u << key_bits) - 1;
  std::vector<std::size_t> permutation(count);
  std::iota(permutation.begin(), permutation.end(), std::size_t{0});
  std::stable_sort(permutation.begin(), permutation.end(), [&](std::size_t i, std::size_t j) {
    const std::uint32_t a = keys_in[i] & mask, b = keys_in[j] & mask;
    return order == SortOrder::kAscending ? a < b : a > b;
  });
  for (std::size_t i = 0; i < count; ++i) {
    keys_out[i] = keys_in[permutation[i]];
    values_out[i] = values_in[permutation[i]];
  }
#endif
}

/// Scratch bytes of exclusive_sum() for `count` items.
inline std::size_t exclusive_sum_scratch(std::size_t count) {
#ifdef __CUDACC__
  std::size_t bytes = 0;
  const std::uint32_t* none = nullptr;
  std::uint32_t* out = nullptr;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, none, out, static_cast<std::uint32_t>(count)),
        "scan");
  return bytes;
#else
  static_cast<void>(count);
  return 16;
#endif
}

/// out[i] = in[0] + ... + in[i-1].
inline void exclusive_sum(void* scratch, std::size_t scratch_bytes, const std::uint32_t* in,
                          std::uint32_t* out, std::size_t count, StreamRef stream) {
  if (count == 0) return;
#ifdef __CUDACC__
  check(cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, in, out,
                                      static_cast<std::uint32_t>(count), stream.handle),
        "scan");
#else
  static_cast<void>(scratch), static_cast<void>(scratch_bytes), static_cast<void>(stream);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t item = in[i];
    out[i] = sum;
    sum += item;
  }
#endif
}

}  // namespace cuzk::base::cuda
