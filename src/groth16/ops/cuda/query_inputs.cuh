#pragma once

#include "base/cuda/launch.hpp"
#include "base/cuda/span.hpp"
#include "base/error.hpp"
#include "curve/device/fr_mul.hpp"
#include "groth16/ops/cuda/fr_memory.cuh"
#include "groth16/ops/cuda/selection.hpp"

#include <cstdint>

/// From an uploaded witness to what the sums over a key's queries read: plain residues, and the
/// bits and elements that a query has points for, in the key's order.
///
/// (The scalars of the quotient need nothing of this kind: derivative_scalars() marks those that
/// are not zero, and list_ones() of index_list.cuh makes of the marks the list that msm() takes.)
namespace cuzk::groth16::cuda {

/// A Selection in device memory.
struct SelectionView {
  base::cuda::DeviceSpan<std::uint32_t> mask, starts;
  std::size_t count = 0;

  static SelectionView carve(const Selection& selection, base::cuda::Carver& carver) {
    SelectionView view;
    view.mask = carver.take<std::uint32_t>(selection.mask.size());
    view.starts = carver.take<std::uint32_t>(selection.starts.size());
    view.count = selection.count;
    return view;
  }
  /// Enqueues the copy of `selection`, which must stay until the stream has come so far.
  void upload(const Selection& selection, base::cuda::StreamRef stream) const {
    base::cuda::copy_bytes(mask.data, selection.mask.data(), mask.size_bytes(), stream);
    base::cuda::copy_bytes(starts.data, selection.starts.data(), starts.size_bytes(), stream);
  }
  /// 32-bit words of as many bits.
  std::size_t words() const { return starts.size; }
};

namespace query_inputs_detail {

using curve::device::Fr;

inline constexpr unsigned kThreads = 256;

CUZK_DEVICE std::uint32_t ones(std::uint32_t x) { return static_cast<std::uint32_t>(__popc(x)); }
/// 32 for zero.
CUZK_DEVICE std::uint32_t trailing_zeros(std::uint32_t x) { return ones(~x & (x - 1)); }
/// The lowest n bits, n = 1 .. 32.
CUZK_DEVICE std::uint32_t low_bits(std::uint32_t n) { return 0xffffffffu >> (32 - n); }
/// Position of the n-th one of x (n from 0), which has that many: halves, by the ones below.
CUZK_DEVICE std::uint32_t nth_one(std::uint32_t x, std::uint32_t n) {
  std::uint32_t position = 0;
  CUZK_UNROLL
  for (std::uint32_t width = 16; width > 0; width /= 2) {
    const std::uint32_t below = ones(x >> position & low_bits(width));
    if (n >= below) {
      n -= below;
      position += width;
    }
  }
  return position;
}

/// A thread a word of the output: it takes the selected bits run by run, starting where its first
/// one stands. Where most bits are selected it reads two words of mask and bits.
static __global__ void __launch_bounds__(kThreads)
    select_bits(const std::uint32_t* mask, std::uint32_t mask_words, const std::uint32_t* starts,
                std::uint32_t words, const std::uint32_t* bits, std::uint32_t* out) {
  const std::uint32_t k = base::cuda::grid_thread();
  if (k >= words) return;
  const std::uint32_t start = starts[k];
  std::uint32_t word = start / 32, wanted = mask[word] & ~0u << (start % 32);
  std::uint32_t result = 0, filled = 0;
  while (true) {
    const std::uint32_t value = wanted != 0 ? __ldg(bits + word) : 0;
    while (wanted != 0 && filled < 32) {
      const std::uint32_t first = trailing_zeros(wanted);
      const std::uint32_t length = trailing_zeros(~(wanted >> first));
      const std::uint32_t run = low_bits(length);
      // Those beyond the 32nd are shifted out: the last run of this word is the next one's first.
      result |= (value >> first & run) << filled;
      filled += length;
      wanted &= ~(run << first);
    }
    if (filled >= 32 || ++word == mask_words) break;
    wanted = mask[word];
  }
  out[k] = result;
}

/// A warp 32 elements of the output: it walks the mask from where the first one stands, all lanes
/// together, each until its own.
static __global__ void __launch_bounds__(kThreads)
    select_elements(const std::uint32_t* mask, std::uint32_t mask_words,
                    const std::uint32_t* starts, std::uint32_t count, const Fr* elements, Fr* out) {
  const std::uint32_t k = base::cuda::grid_thread();
  if (k >= count) return;
  const std::uint32_t rank = k % 32, start = starts[k / 32];
  std::uint32_t word = start / 32, wanted = mask[word] & ~0u << (start % 32), before = 0;
  while (before + ones(wanted) <= rank) {
    before += ones(wanted);
    if (++word == mask_words) return;  // not reached: `count` is that of the mask
    wanted = mask[word];
  }
  store_streaming(out + k, load_streaming(elements + 32 * static_cast<std::size_t>(word) +
                                          nth_one(wanted, rank - before)));
}

/// A thread an element: 64 bytes moved, half a product.
static __global__ void __launch_bounds__(kThreads)
    montgomery_to_plain(Fr* elements, std::uint32_t count) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= count) return;
  store_streaming(elements + i, canonical(mul(Fr::from_u32(1), load_streaming(elements + i))));
}

inline base::cuda::LaunchShape threads_shape(std::size_t threads) {
  return {base::cuda::blocks_for(threads, kThreads), kThreads, 0};
}

}  // namespace query_inputs_detail

/// Enqueues out = the selected bits, selection.words() words; zeros behind the last one.
inline void select_bits(const SelectionView& selection,
                        base::cuda::DeviceSpan<const std::uint32_t> bits,
                        base::cuda::DeviceSpan<std::uint32_t> out, base::cuda::StreamRef stream) {
  using namespace query_inputs_detail;
  base::require(out.size == selection.words() && bits.size >= selection.mask.size,
                "selection of {} bits from {} words: given {} words, and room for {}",
                selection.count, selection.mask.size, bits.size, out.size);
  base::cuda::launch(query_inputs_detail::select_bits, threads_shape(out.size), stream,
                     selection.mask.data, static_cast<std::uint32_t>(selection.mask.size),
                     selection.starts.data, static_cast<std::uint32_t>(out.size), bits.data,
                     out.data);
}

/// Enqueues out = the selected elements.
inline void select_elements(const SelectionView& selection, const curve::device::Fr* elements,
                            base::cuda::DeviceSpan<curve::device::Fr> out,
                            base::cuda::StreamRef stream) {
  using namespace query_inputs_detail;
  base::require(out.size == selection.count, "selection of {} elements: given room for {}",
                selection.count, out.size);
  base::cuda::launch(query_inputs_detail::select_elements, threads_shape(out.size), stream,
                     selection.mask.data, static_cast<std::uint32_t>(selection.mask.size),
                     selection.starts.data, static_cast<std::uint32_t>(out.size), elements,
                     out.data);
}

/// Enqueues the conversion of Montgomery forms (the bytes of curve::Fr) to canonical plain
/// residues, in place.
inline void montgomery_to_plain(base::cuda::DeviceSpan<curve::device::Fr> elements,
                                base::cuda::StreamRef stream) {
  using namespace query_inputs_detail;
  base::cuda::launch(query_inputs_detail::montgomery_to_plain, threads_shape(elements.size), stream,
                     elements.data, static_cast<std::uint32_t>(elements.size));
}

}  // namespace cuzk::groth16::cuda
