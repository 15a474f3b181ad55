#pragma once

#include "groth16/ops/cuda/check.hpp"

#include <string>
#include <vector>

/// Large inputs with known results, made on the device.
///
/// Base i is s_i·G with s_i = sum over w < 4 of (d_w + 1)·2^(17 w), d_w the 16-bit digits of
/// mix(i): 2^64 different points, so none repeat. Scalar i is random_fr(seed + i). The expected sum
/// is (sum of k_i·s_i)·G, added up in Fr.
namespace cuzk::groth16::cuda::gpu_check {

using checks::HostPoint;
using curve::device::Fr;
using curve::device::StoredAffine;
using curve::device::testing::mix;

CUZK_HD Fr base_multiple(std::uint64_t i) {
  const std::uint64_t digits = mix(i);
  std::uint64_t low = 0, high = 0;
  for (int w = 0; w < 4; ++w) {
    const std::uint64_t term =
        ((digits >> (16 * w)) & 0xffff) + 1;  // 17 bits, so the terms do not overlap
    low |= term << (17 * w);
    if (w == 3) high = term >> 13;
  }
  return Fr{{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
             static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32), 0, 0, 0, 0}};
}

/// out[i] = base i. A thread (a pair) a point: three additions and an inversion.
template <class G>
static __global__ void __launch_bounds__(128)
    make_bases(const StoredAffine<G>* table, StoredAffine<G>* out, std::uint32_t n) {
  const std::uint32_t i = base::cuda::grid_thread() / G::kLanes;
  const std::uint64_t digits = mix(i);
  curve::device::Xyzz<typename G::Field> sum = curve::device::Xyzz<typename G::Field>::identity();
  CUZK_NO_UNROLL
  for (int w = 0; w < 4; ++w) {
    add_assign(sum, curve::device::load_point_readonly<G>(table + w * 65536 +
                                                          ((digits >> (16 * w)) & 0xffff)));
  }
  const curve::device::Affine<typename G::Field> point = to_affine(sum);
  if (i < n) curve::device::store_point<G>(out + i, point);
}

template <class G>
std::vector<StoredAffine<G>> base_table() {
  std::vector<HostPoint<G>> points(4 * 65536);
  for (std::size_t w = 0; w < 4; ++w) {
    const HostPoint<G> step = checks::small_multiple<G>(static_cast<__int128>(1) << (17 * w));
    for (std::size_t d = 0; d < 65536; ++d) {
      points[w * 65536 + d] = d == 0 ? step : curve::device::sum(points[w * 65536 + d - 1], step);
    }
  }
  std::vector<StoredAffine<G>> table(points.size());
  const HostPoint<G>* const all[2] = {points.data(), nullptr};  // blst: contiguous
  if constexpr (std::is_same_v<G, curve::device::G1>) {
    blst_p1s_to_affine(reinterpret_cast<blst_p1_affine*>(table.data()), all, points.size());
  } else {
    blst_p2s_to_affine(reinterpret_cast<blst_p2_affine*>(table.data()), all, points.size());
  }
  return table;
}

template <class G>
base::cuda::DeviceBuffer<StoredAffine<G>> large_bases(std::size_t n, base::cuda::StreamRef stream) {
  const auto table = checks::uploaded(base_table<G>(), "table of bases", stream);
  base::cuda::DeviceBuffer<StoredAffine<G>> bases(n, "bases");
  base::cuda::launch(make_bases<G>, {base::cuda::blocks_for(n * G::kLanes, 128), 128, 0}, stream,
                     table.data(), bases.data(), static_cast<std::uint32_t>(n));
  base::cuda::synchronize(stream);
  return bases;
}

static __global__ void __launch_bounds__(256)
    fill_random(Fr* out, std::uint32_t n, std::uint64_t seed) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i < n) out[i] = curve::device::testing::random_fr(seed + i);
}
inline void fill_random_scalars(Fr* out, std::size_t n, std::uint64_t seed,
                                base::cuda::StreamRef stream) {
  base::cuda::launch(fill_random, {base::cuda::blocks_for(n, 256), 256, 0}, stream, out,
                     static_cast<std::uint32_t>(n), seed);
}

inline constexpr unsigned kSumBlocks = 264, kSumBlockThreads = 128;
/// partial[thread] = sum of s_i·k_i (scalars not null) or of the s_i whose bit is one, over the
/// thread's i.
static __global__ void __launch_bounds__(kSumBlockThreads)
    weigh_bases(const Fr* scalars, const std::uint32_t* bits, std::uint32_t n, Fr* partial) {
  Fr sum = Fr::zero();
  for (std::uint32_t i = base::cuda::grid_thread(); i < n; i += base::cuda::grid_threads()) {
    const Fr s = base_multiple(i);
    if (scalars != nullptr) {
      sum = add(sum, mul_plain(s, scalars[i]));
    } else if ((bits[i / 32] >> (i % 32) & 1u) != 0) {
      sum = add(sum, s);
    }
  }
  partial[base::cuda::grid_thread()] = sum;
}
inline Fr add_up(const base::cuda::DeviceBuffer<Fr>& partial, base::cuda::StreamRef stream) {
  Fr total = Fr::zero();
  for (const Fr& x : partial.download(stream)) total = add(total, x);
  return canonical(total);
}
template <class G>
HostPoint<G> wanted_sum(const Fr* scalars, const std::uint32_t* bits, std::size_t n,
                        base::cuda::StreamRef stream) {
  const base::cuda::DeviceBuffer<Fr> partial(kSumBlocks * kSumBlockThreads, "partial sums");
  base::cuda::launch(weigh_bases, {kSumBlocks, kSumBlockThreads, 0}, stream, scalars, bits,
                     static_cast<std::uint32_t>(n), partial.data());
  return curve::device::testing::multiple_of_generator(HostPoint<G>{},
                                                       add_up(partial, stream).limbs);
}

}  // namespace cuzk::groth16::cuda::gpu_check
