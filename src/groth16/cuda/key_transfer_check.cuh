#pragma once

#include "groth16/cuda/key_points.cuh"
#include "groth16/cuda/slice_pass.cuh"
#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/grouped_finish.hpp"

#include <cstring>
#include <string>
#include <vector>

/// Checks of how keys reach the device, for unit tests and gpu_check; see ops/cuda/check.hpp.
namespace cuzk::groth16::cuda::checks {

/// Inputs and aux variables at random, with words that are empty and words that are full.
inline QueryLayout random_layout(std::size_t inputs, std::size_t aux_words, std::uint64_t seed) {
  QueryLayout layout;
  for (std::size_t i = 0; i < inputs; ++i)
    layout.inputs.push_back(static_cast<std::uint32_t>(3 * i));
  for (std::size_t word = 0; word < aux_words; ++word) {
    std::uint64_t mask = mix(seed + 2 * word);
    if (word % 5 == 1) mask = 0;
    if (word % 5 == 2) mask = ~std::uint64_t{0};
    layout.aux_mask.push_back(mask);
    layout.bit_mask.push_back(mask & mix(seed + 2 * word + 1));
    layout.bit_count += static_cast<std::size_t>(std::popcount(layout.bit_mask.back()));
    const auto others = static_cast<std::size_t>(std::popcount(mask & ~layout.bit_mask.back()));
    layout.fields.resize(layout.fields.size() + others);
  }
  return layout;
}

template <class T>
std::vector<T> downloaded(base::cuda::DeviceSpan<const T> span, base::cuda::StreamRef stream) {
  std::vector<T> out(span.size);
  base::cuda::copy_bytes(out.data(), span.data, span.size_bytes(), stream);
  base::cuda::synchronize(stream);
  return out;
}
template <class T>
bool same_bytes(std::span<const T> a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (b.empty() || std::memcmp(a.data(), b.data(), b.size() * sizeof(T)) == 0);
}

/// A query of `layout`'s variables, its points pushed through a pipe in chunks of `chunk`.
template <class G>
std::string check_query(const QueryLayout& layout, std::size_t chunk, Placement placement,
                        unsigned sm_count, base::cuda::StreamRef stream) {
  const KeyOrder order(layout);
  const TestBases<G> bases(Bases::kDistinct, order.size(), 1);
  std::vector<StoredAffine<G>> fields, bits;
  std::vector<std::int64_t> bit_multiples;
  for (std::size_t p = 0; p < order.size(); ++p) {
    const bool is_bit = order.bits_before(p + 1) != order.bits_before(p);
    (is_bit ? bits : fields).push_back(bases.points[p]);
    if (is_bit) bit_multiples.push_back(bases.multiples[p]);
  }
  ChunkPipe pipe(std::max<std::size_t>(chunk, 1) * sizeof(StoredAffine<G>), stream);
  const auto point_at = [&](std::size_t p) { return &bases.points[p]; };
  const QueryMemory<G> memory =
      pass_query<G>(pipe, HostPoints<G, decltype(point_at)>(point_at), chunk, order, placement);
  const DeviceQuery<G>& query = memory.query;
  const std::string what = std::to_string(order.size()) + " points in chunks of " +
                           std::to_string(chunk) + ", placement " +
                           std::to_string(static_cast<int>(placement));
  if (query.bit_count != bits.size()) return what + ": wrong number of bits";
  if (!same_bytes<StoredAffine<G>>(downloaded(query.fields, stream), fields))
    return what + ": fields are wrong";
  if (placement == Placement::kHost)
    return same_bytes(query.host_bits, bits) ? "" : what + ": host bits are wrong";
  if (placement == Placement::kDevice) {
    return same_bytes<StoredAffine<G>>(downloaded(query.bits, stream), bits)
               ? ""
               : what + ": bits are wrong";
  }
  // A table by what it is for.
  const BatchAddPlan plan = make_grouped_plan<G>(bits.size(), sm_count);
  std::vector<std::uint32_t> some((bits.size() + 31) / 32);
  __int128 wanted = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (mix(i) % 3 == 0) continue;
    some[i / 32] |= std::uint32_t{1} << i % 32;
    wanted += bit_multiples[i];
  }
  const auto device_bits = uploaded(some, "bits", stream);
  const Guarded<std::byte> workspace(grouped_workspace<G>(plan), "workspace", stream);
  const Guarded<StoredXyzz<G>> result(1, "result", stream);
  batch_add_grouped<G>(plan, query.table, device_bits.const_span(), workspace.span(), result.data(),
                       stream);
  const HostPoint<G> got =
      finish_grouped_sum(curve::device::to_blst(result.download()[0]), query.all_bits);
  return curve::device::testing::same(got, small_multiple<G>(wanted))
             ? ""
             : what + ": the table gives a wrong sum";
}

/// Sums of three partitions over points in host memory, in slices of `slice` points.
template <class G>
std::string check_streamed_sums(std::size_t points, std::size_t slice, unsigned sm_count,
                                base::cuda::StreamRef stream) {
  constexpr std::size_t kPartitions = 3;
  const TestBases<G> bases(Bases::kDistinct, points, 9);
  base::cuda::RegisteredArray<StoredAffine<G>> host(points, "points");
  std::memcpy(host.data(), bases.points.data(), points * sizeof(StoredAffine<G>));
  const std::size_t words = (points + 31) / 32;
  std::vector<std::uint32_t> words_of_all(kPartitions * words);
  std::vector<__int128> wanted(kPartitions);
  for (std::size_t p = 0; p < kPartitions; ++p) {
    for (std::size_t i = 0; i < points; ++i) {
      if (mix(1000003 * p + i) % 3 > p) continue;
      words_of_all[p * words + i / 32] |= std::uint32_t{1} << i % 32;
      wanted[p] += bases.multiples[i];
    }
  }
  const auto device_bits = uploaded(words_of_all, "bits", stream);
  std::vector<base::cuda::DeviceSpan<const std::uint32_t>> bits;
  for (std::size_t p = 0; p < kPartitions; ++p)
    bits.push_back(device_bits.const_span().subspan(p * words, words));
  const Guarded<std::byte> buffers(2 * slice * sizeof(StoredAffine<G>), "slices", stream);
  const auto sums =
      StreamedSums<G>::make(points, kPartitions, 2 * slice * sizeof(StoredAffine<G>), sm_count);
  const Guarded<std::byte> workspace(sums.workspace_bytes(), "workspace", stream);
  const Guarded<StoredXyzz<G>> out(sums.results(), "sums", stream);
  SlicePass pass;
  sums.enqueue(pass, host.span(), bits, buffers.span(), workspace.span(), out.span(), stream);
  const std::vector<StoredXyzz<G>> got = out.download();
  const std::string what = std::to_string(points) + " points in slices of " + std::to_string(slice);
  if (buffers.broken() || workspace.broken() || out.broken())
    return what + ": wrote beyond buffers, workspace or results";
  for (std::size_t p = 0; p < kPartitions; ++p) {
    HostPoint<G> sum = curve::device::to_blst(got[p * sums.slices()]);
    for (std::size_t k = 1; k < sums.slices(); ++k)
      sum = curve::device::sum(sum, curve::device::to_blst(got[p * sums.slices() + k]));
    if (!curve::device::testing::same(sum, small_multiple<G>(wanted[p])))
      return what + ": the sum of partition " + std::to_string(p) + " is wrong";
  }
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
