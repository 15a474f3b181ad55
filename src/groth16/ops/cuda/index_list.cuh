#pragma once

#include "base/cuda/launch.hpp"
#include "base/cuda/sort.hpp"
#include "base/cuda/span.hpp"

/// The positions of the ones of a bit vector, ascending, and how many they are; all on the device.
/// Bit i is bit i % 32 of word i / 32. Three passes over the bits (0.12 ms for 2^27 on H200).
namespace cuzk::groth16::cuda {

namespace index_list_detail {

inline constexpr unsigned kThreads = 256;
inline constexpr unsigned kWordsAThread = 4;
inline constexpr unsigned kWordsABlock = kThreads * kWordsAThread;

/// Word w of n bits, the bits beyond the end cut off.
CUZK_DEVICE std::uint32_t word_at(const std::uint32_t* bits, std::uint32_t n, std::uint32_t w) {
  const std::uint32_t words = n / 32;
  if (w < words) return bits[w];
  return w == words && n % 32 != 0 ? bits[w] & ((1u << (n % 32)) - 1) : 0;
}
CUZK_DEVICE std::uint32_t popcount(std::uint32_t x) {
  return static_cast<std::uint32_t>(__popc(x));
}

/// Sum of the values of the threads before this one; `total` is that of all. Contains barriers.
CUZK_DEVICE std::uint32_t block_exclusive_sum(std::uint32_t value, std::uint32_t& total) {
  __shared__ std::uint32_t warp_sums[kThreads / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint32_t inclusive = value;
  CUZK_UNROLL
  for (unsigned delta = 1; delta < 32; delta *= 2) {
    const std::uint32_t below = __shfl_up_sync(base::cuda::kFullWarp, inclusive, delta);
    if (lane >= delta) inclusive += below;
  }
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  std::uint32_t before = 0;
  total = 0;
  CUZK_UNROLL
  for (unsigned w = 0; w < kThreads / 32; ++w) {
    before += w < warp ? warp_sums[w] : 0;
    total += warp_sums[w];
  }
  return before + inclusive - value;
}

/// A block counts the ones of its kWordsABlock words; the entry after the last block's is 0.
static __global__ void __launch_bounds__(kThreads)
    count_ones(const std::uint32_t* bits, std::uint32_t n, std::uint32_t* counts) {
  std::uint32_t mine = 0, total = 0;
  for (unsigned j = 0; j < kWordsAThread; ++j) {
    mine += popcount(word_at(bits, n, (blockIdx.x * kThreads + threadIdx.x) * kWordsAThread + j));
  }
  static_cast<void>(block_exclusive_sum(mine, total));
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
  if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x) counts[gridDim.x] = 0;
}
/// A warp walks its 128 words together: lane l looks at bit l of each, ones take consecutive
/// places.
static __global__ void __launch_bounds__(kThreads)
    list_ones(const std::uint32_t* bits, std::uint32_t n, const std::uint32_t* offsets,
              std::uint32_t* indices) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t first = (blockIdx.x * kThreads + threadIdx.x) * kWordsAThread;
  std::uint32_t words[kWordsAThread], mine = 0, total = 0;
  CUZK_UNROLL
  for (unsigned j = 0; j < kWordsAThread; ++j) {
    words[j] = word_at(bits, n, first + j);
    mine += popcount(words[j]);
  }
  const std::uint32_t before = block_exclusive_sum(mine, total);
  std::uint32_t place = __shfl_sync(base::cuda::kFullWarp, before, 0) + offsets[blockIdx.x];
  const std::uint32_t first_of_warp = first - lane * kWordsAThread;
  for (unsigned owner = 0; owner < 32; ++owner) {
    CUZK_UNROLL
    for (unsigned j = 0; j < kWordsAThread; ++j) {
      const std::uint32_t word =
          __shfl_sync(base::cuda::kFullWarp, words[j], static_cast<int>(owner));
      if ((word >> lane & 1u) != 0) {
        indices[place + popcount(word & ((1u << lane) - 1))] =
            (first_of_warp + owner * kWordsAThread + j) * 32 + lane;
      }
      place += popcount(word);
    }
  }
}

}  // namespace index_list_detail

/// Memory of a list of up to n ones.
struct IndexList {
  base::cuda::DeviceSpan<std::uint32_t> indices;  // n
  base::cuda::DeviceSpan<std::uint32_t> counts, offsets;
  base::cuda::DeviceSpan<std::byte> scratch;

  static unsigned blocks(std::size_t n) {
    return base::cuda::blocks_for(n, 32 * index_list_detail::kWordsABlock);
  }
  static IndexList carve(std::size_t n, base::cuda::Carver& carver) {
    const std::size_t entries = blocks(n) + 1;
    IndexList list;
    list.indices = carver.take<std::uint32_t>(n);
    list.counts = carver.take<std::uint32_t>(entries);
    list.offsets = carver.take<std::uint32_t>(entries);
    list.scratch = carver.take<std::byte>(base::cuda::exclusive_sum_scratch(entries));
    return list;
  }
  /// Where the number of ones stands once list_ones() of n bits has run.
  const std::uint32_t* count(std::size_t n) const { return offsets.data + blocks(n); }
};

/// Enqueues the listing of the ones among the first n > 0 bits, n at most what `list` was carved
/// for and below 2^32.
inline void list_ones(const std::uint32_t* bits, std::size_t n, const IndexList& list,
                      base::cuda::StreamRef stream) {
  const unsigned blocks = IndexList::blocks(n);
  const auto length = static_cast<std::uint32_t>(n);
  base::cuda::launch(index_list_detail::count_ones, {blocks, index_list_detail::kThreads, 0},
                     stream, bits, length, list.counts.data);
  base::cuda::exclusive_sum(list.scratch.data, list.scratch.size, list.counts.data,
                            list.offsets.data, blocks + 1, stream);
  base::cuda::launch(index_list_detail::list_ones, {blocks, index_list_detail::kThreads, 0}, stream,
                     bits, length, list.offsets.data, list.indices.data);
}

}  // namespace cuzk::groth16::cuda
