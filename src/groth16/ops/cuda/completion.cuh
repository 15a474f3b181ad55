#pragma once

#include "base/cuda/kernel.hpp"
#include "base/cuda/launch.hpp"
#include "base/cuda/span.hpp"
#include "base/error.hpp"
#include "curve/device/fr_mul.hpp"
#include "groth16/ops/cuda/completion_rows.hpp"
#include "groth16/ops/cuda/evaluate.cuh"
#include "groth16/ops/cuda/fr_memory.cuh"

#include <cstddef>
#include <cstdint>
#include <vector>

/// From a witness's given fields to all of them, by the constraints that imply the others
/// (r1cs/implied_fields.hpp).
namespace cuzk::groth16::cuda {

namespace completion_detail {

using curve::device::Fr;
using curve::device::FrFactor;
using evaluate_detail::bit_at;
using evaluate_detail::BlockView;
using evaluate_detail::resolve;

inline constexpr unsigned kPlaceThreads = 256;
/// A warp a block: chains are long and few, so the warps are to spread evenly.
inline constexpr unsigned kChainThreads = 32;

/// Given fields to their places, as plain residues: a thread each, copy after copy.
static __global__ void __launch_bounds__(kPlaceThreads)
    place_given(BlockView block, const std::uint32_t* refs, std::uint32_t given, const Fr* from,
                Fr* elements) {
  const std::uint32_t i = base::cuda::grid_thread();
  const std::uint32_t copy = i / given;
  if (copy >= block.copies) return;
  const std::uint32_t to = (refs[i % given] & kRefIndexMask) + copy * block.fields;
  store_cached(elements + to, canonical(mul(Fr::from_u32(1), load_streaming(from + i))));
}

struct Terms {
  const std::uint32_t* refs;
  const std::uint16_t* coefficients;
  const FrFactor* palette;
  const std::uint32_t* bits;
};

/// The terms from `at` on; lazy. All threads of a warp are at the same terms, each of its own copy.
CUZK_DEVICE Fr sum_terms(const BlockView& block, const Terms& terms, std::size_t at,
                         const TermCounts& counts, std::uint32_t copy, const Fr* elements) {
  Fr sum = Fr::zero();
#ifdef __CUDACC__
#pragma unroll 2  // one term's loads beside the other's product
#endif
  for (std::uint32_t k = 0; k < counts.products; ++k) {
    const std::uint32_t ref = resolve(block, __ldg(terms.refs + at + k), copy);
    const FrFactor factor = load_readonly(terms.palette + __ldg(terms.coefficients + at + k));
    sum = add(sum, mul_by(load_cached(elements + (ref & kRefIndexMask)), factor));
  }
  at += counts.products;
  CUZK_NO_UNROLL
  for (std::uint32_t k = 0; k < counts.others; ++k) {
    const std::uint32_t coefficient = __ldg(terms.coefficients + at + k);
    const std::uint32_t ref = resolve(block, __ldg(terms.refs + at + k), copy);
    const std::uint32_t index = ref & kRefIndexMask;
    if ((ref & kRefElement) != 0) {
      const Fr x = load_cached(elements + index);
      sum = coefficient == kPlusOne ? add(sum, x) : sub(sum, x);
    } else if (bit_at(terms.bits, index) != 0) {
      sum = add(sum, load_readonly(&terms.palette[coefficient].w));
    }
  }
  return sum;
}

/// A warp 32 copies of a chain, a thread each, step after step: a product a term, most of them of
/// Poseidon's linear layers. Bound by the latency of products and of what was just written.
static __global__ void __launch_bounds__(kChainThreads)
    complete_chains(BlockView block, const std::uint32_t* chains, const CompletionStep* steps,
                    Terms terms, FrFactor montgomery_one, Fr* elements) {
  const std::uint32_t warps = (block.copies + 31) / 32;
  const std::uint32_t chain = blockIdx.x / warps;
  const std::uint32_t copy = blockIdx.x % warps * 32 + threadIdx.x;
  if (copy >= block.copies) return;
  const std::uint32_t end = chains[chain + 1];
  CUZK_NO_UNROLL
  for (std::uint32_t i = chains[chain]; i < end; ++i) {
    const CompletionStep step = steps[i];
    std::size_t at = step.first_term;
    Fr value = sum_terms(block, terms, at, step.terms[0], copy, elements);
    at += step.terms[0].products + step.terms[0].others;
    const std::uint32_t b_terms = step.terms[1].products + step.terms[1].others;
    if (b_terms != 0) {
      const Fr b = sum_terms(block, terms, at, step.terms[1], copy, elements);
      value = mul_by(mul(canonical(value), b), montgomery_one);
    }
    at += b_terms;
    value = sub(value, sum_terms(block, terms, at, step.terms[2], copy, elements));
    if (step.negative != 0) value = sub(Fr::zero(), value);
    const std::uint32_t to = resolve(block, step.result, copy) & kRefIndexMask;
    store_cached(elements + to, canonical(value));
  }
}

}  // namespace completion_detail

/// The steps in device memory.
class WitnessCompletion {
 public:
  static std::size_t bytes(const CompletionRows& rows) {
    base::cuda::Carver measure;
    carve(rows, measure);
    return measure.bytes_used();
  }
  /// Enqueues the copy of `rows` to `memory`, bytes() of it, which must outlive this object; `rows`
  /// must stay until the stream has come so far.
  WitnessCompletion(const CompletionRows& rows, base::cuda::DeviceSpan<std::byte> memory,
                    base::cuda::StreamRef stream)
      : blocks_(rows.blocks), montgomery_one_(rows.palette.back()) {
    base::cuda::Carver carver(memory);
    arrays_ = carve(rows, carver);
    base::require(carver.fits(), "steps of a circuit need {} bytes of device memory, given {}",
                  carver.bytes_used(), memory.size);
    evaluate_detail::upload(arrays_.given, rows.given, stream);
    evaluate_detail::upload(arrays_.chains, rows.chains, stream);
    evaluate_detail::upload(arrays_.steps, rows.steps, stream);
    evaluate_detail::upload(arrays_.refs, rows.refs, stream);
    evaluate_detail::upload(arrays_.coefficients, rows.coefficients, stream);
    evaluate_detail::upload(arrays_.palette, rows.palette, stream);
  }

  /// `given`: the given fields, canonical Montgomery form. `elements`: inputs, canonical plain
  /// residues, which are there already, then all fields, which are written. `bits` as in
  /// WitnessView.
  void run(const curve::device::Fr* given, const std::uint32_t* bits, curve::device::Fr* elements,
           base::cuda::StreamRef stream) const {
    using namespace completion_detail;
    for (const CompletionRows::Block& block : blocks_) {
      if (block.given.count == 0) continue;
      const std::size_t threads = std::size_t{block.copies} * block.given.count;
      base::cuda::launch(place_given,
                         {base::cuda::blocks_for(threads, kPlaceThreads), kPlaceThreads, 0}, stream,
                         view(block), arrays_.given.data + block.given.first, block.given.count,
                         given + block.first_given, elements);
    }
    for (const CompletionRows::Block& block : blocks_) {
      const std::size_t warps = std::size_t{(block.copies + 31) / 32} * block.chains.count;
      base::cuda::launch(
          complete_chains, {static_cast<unsigned>(warps), kChainThreads, 0}, stream, view(block),
          arrays_.chains.data + block.chains.first, arrays_.steps.data,
          Terms{arrays_.refs.data, arrays_.coefficients.data, arrays_.palette.data, bits},
          montgomery_one_, elements);
    }
  }

 private:
  struct Arrays {
    base::cuda::DeviceSpan<std::uint32_t> given, chains;
    base::cuda::DeviceSpan<CompletionStep> steps;
    base::cuda::DeviceSpan<std::uint32_t> refs;
    base::cuda::DeviceSpan<std::uint16_t> coefficients;
    base::cuda::DeviceSpan<curve::device::FrFactor> palette;
  };
  static Arrays carve(const CompletionRows& rows, base::cuda::Carver& carver) {
    using evaluate_detail::take;
    return {take(carver, rows.given), take(carver, rows.chains),       take(carver, rows.steps),
            take(carver, rows.refs),  take(carver, rows.coefficients), take(carver, rows.palette)};
  }
  static evaluate_detail::BlockView view(const CompletionRows::Block& block) {
    evaluate_detail::BlockView view{};
    view.copies = block.copies;
    view.bits = block.bits;
    view.fields = block.fields;
    return view;
  }

  std::vector<CompletionRows::Block> blocks_;
  Arrays arrays_;
  curve::device::FrFactor montgomery_one_;
};

}  // namespace cuzk::groth16::cuda
