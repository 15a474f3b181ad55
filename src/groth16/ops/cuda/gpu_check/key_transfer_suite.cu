#include "groth16/cuda/key_transfer_check.cuh"
#include "groth16/ops/cuda/gpu_check/inputs.cuh"
#include "groth16/ops/cuda/gpu_check/report.hpp"

#include <algorithm>
#include <string>

// A key's way to the device: queries in chunks, and slices of points that stay in host memory. The
// copies run beside the kernels here, which emulated checks cannot show.

namespace cuzk::groth16::cuda::gpu_check {
namespace {

using curve::device::G1;
using curve::device::G2;

template <class G>
void test_transfer(const Context& context, const std::string& group) {
  for (const Placement placement : {Placement::kDevice, Placement::kTable, Placement::kHost}) {
    for (const std::size_t chunk : {1, 5, 33, 1000, 100000}) {
      // Small chunks get fewer points.
      const std::size_t words = std::min<std::size_t>(chunk * 20, 8 * context.test_scale) + 1;
      context.on_test({"key_transfer",
                       group + " query, chunk=" + std::to_string(chunk) +
                           " placement=" + std::to_string(static_cast<int>(placement)),
                       checks::check_query<G>(checks::random_layout(40, words, chunk), chunk,
                                              placement, context.sm_count, context.stream)});
    }
  }
  for (const std::size_t slice : {32, 512, 4096, 1 << 16}) {
    context.on_test({"key_transfer", group + " streamed sums, slice=" + std::to_string(slice),
                     checks::check_streamed_sums<G>(300 * context.test_scale + 7, slice,
                                                    context.sm_count, context.stream)});
  }
}

/// A pass over n points for `partitions` partitions, against sums of the same points on the device.
template <class G>
void time_pass(const Context& context, std::size_t n, std::size_t partitions,
               std::size_t slice_bytes) {
  const base::cuda::StreamRef stream = context.stream;
  const auto bases = large_bases<G>(n, stream);
  base::cuda::RegisteredArray<StoredAffine<G>> host(n, "points");
  base::cuda::copy_bytes(host.data(), bases.data(), n * sizeof(StoredAffine<G>), stream);
  const std::size_t words = (n + 31) / 32;
  std::vector<std::uint32_t> all_bits(partitions * words);
  for (std::size_t i = 0; i < all_bits.size(); ++i)
    all_bits[i] = static_cast<std::uint32_t>(mix(0x6666000000000000 + i));
  const auto device_bits = checks::uploaded(all_bits, "bits", stream);
  std::vector<base::cuda::DeviceSpan<const std::uint32_t>> bits;
  for (std::size_t p = 0; p < partitions; ++p)
    bits.push_back(device_bits.const_span().subspan(p * words, words));
  const base::cuda::DeviceBuffer<std::byte> buffers(2 * slice_bytes, "slices");
  const auto sums = StreamedSums<G>::make(n, partitions, buffers.size(), context.sm_count);
  const base::cuda::DeviceBuffer<std::byte> workspace(sums.workspace_bytes(), "workspace");
  const base::cuda::DeviceBuffer<StoredXyzz<G>> out(sums.results(), "sums");
  SlicePass pass;
  const auto work = [&] {
    sums.enqueue(pass, host.span(), bits, buffers.span(), workspace.span(), out.span(), stream);
  };
  work();
  Timing t;
  t.suite = "key_transfer";
  t.name = G::kLanes == 1 ? "pass over G1 points on the host" : "pass over G2 points on the host";
  t.parameters = {{"n", static_cast<double>(n)},
                  {"partitions", static_cast<double>(partitions)},
                  {"slice_MiB", static_cast<double>(slice_bytes >> 20)}};
  t.amount = static_cast<double>(n * sizeof(StoredAffine<G>));
  t.unit = "byte";
  const std::vector<StoredXyzz<G>> got = out.download(stream);
  for (std::size_t p = 0; p < partitions; ++p) {
    HostPoint<G> sum = curve::device::to_blst(got[p * sums.slices()]);
    for (std::size_t k = 1; k < sums.slices(); ++k)
      sum = curve::device::sum(sum, curve::device::to_blst(got[p * sums.slices() + k]));
    if (!curve::device::testing::same(sum, wanted_sum<G>(nullptr, bits[p].data, n, stream)))
      t.failure = "the sum of partition " + std::to_string(p) + " is wrong";
  }
  measure(context, t, work);
}

/// n points from pageable host memory through the pipe.
void time_pipe(const Context& context, std::size_t n) {
  const std::vector<StoredAffine<G1>> points(n, StoredAffine<G1>::identity());
  const auto point_at = [&](std::size_t i) { return &points[i]; };
  const HostPoints<G1, decltype(point_at)> source(point_at);
  ChunkPipe pipe(std::size_t{1} << 26, context.stream);
  Timing t;
  t.suite = "key_transfer";
  t.name = "pipe";
  t.parameters = {{"n", static_cast<double>(n)}};
  t.amount = static_cast<double>(n * sizeof(StoredAffine<G1>));
  t.unit = "byte";
  measure(context, t, [&] {
    pass_array<G1>(pipe, source, std::size_t{1} << 20, n, Placement::kDevice, "points");
  });
}

}  // namespace

void run_key_transfer_suite(const Context& context) {
  if (context.test) {
    test_transfer<G1>(context, "G1");
    test_transfer<G2>(context, "G2");
  }
  if (!context.time) return;
  const std::size_t n = std::size_t{1} << std::min(context.max_log, 25);
  time_pipe(context, n);
  for (const std::size_t partitions : {1, 4, 10}) {
    time_pass<G1>(context, n, partitions, std::size_t{256} << 20);
    time_pass<G2>(context, n / 4, partitions, std::size_t{256} << 20);
  }
  for (const std::size_t mebibytes : {64, 512, 1024})
    time_pass<G1>(context, n, 10, mebibytes << 20);
}

}  // namespace cuzk::groth16::cuda::gpu_check
