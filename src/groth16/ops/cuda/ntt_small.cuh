#pragma once

#include "groth16/ops/cuda/fr_memory.cuh"
#include "groth16/ops/cuda/ntt_pass.cuh"

/// What surrounds the passes: transforms that fit one block, element-wise steps, and the making of
/// tables.
namespace cuzk::groth16::cuda {

/// A whole transform of at most 2^kSmallLog points by one block in shared memory, radix 2.
inline constexpr int kSmallLog = 11;
inline constexpr int kSmallThreads = 256;
enum class SmallTransform { kDif, kDit, kDerivative };

/// powers[j] = w^j for j < n/2: of ω^-1 in `dif`, of ω in `dit`.
static __global__ void __launch_bounds__(kSmallThreads)
    small_transform(Fr* x, int log_n, SmallTransform kind, const FrFactor* dif,
                    const FrFactor* dit) {
  Fr* y = reinterpret_cast<Fr*>(base::cuda::dynamic_shared_words());
  const std::uint32_t n = 1u << log_n, half = n / 2;
  for (std::uint32_t i = threadIdx.x; i < n; i += kSmallThreads) y[i] = x[i];
  __syncthreads();
  if (kind != SmallTransform::kDit) {
    for (int level = log_n - 1; level >= 0; --level) {  // distance 2^level
      for (std::uint32_t k = threadIdx.x; k < half; k += kSmallThreads) {
        const std::uint32_t j = k & ((1u << level) - 1), i = ((k >> level) << (level + 1)) | j;
        Fr& low = y[i];
        Fr& high = y[i + (1u << level)];
        butterfly(low, high);
        high = mul_by(high, dif[j << (log_n - 1 - level)]);
      }
      __syncthreads();
    }
  }
  if (kind == SmallTransform::kDerivative) {
    for (std::uint32_t i = threadIdx.x; i < n; i += kSmallThreads) {
      y[i] = mul_small(y[i], log_n == 0 ? 0 : reverse_bits(i, log_n));
    }
    __syncthreads();
  }
  if (kind != SmallTransform::kDif) {
    for (int level = 0; level < log_n; ++level) {
      for (std::uint32_t k = threadIdx.x; k < half; k += kSmallThreads) {
        const std::uint32_t j = k & ((1u << level) - 1), i = ((k >> level) << (level + 1)) | j;
        Fr& low = y[i];
        Fr& high = y[i + (1u << level)];
        high = mul_by(high, dit[j << (log_n - 1 - level)]);
        butterfly(low, high);
      }
      __syncthreads();
    }
  }
  for (std::uint32_t i = threadIdx.x; i < n; i += kSmallThreads) x[i] = y[i];
}

/// Small elements from codes where the first pass cannot take them itself. A thread an element.
static __global__ void __launch_bounds__(256)
    expand_codes(Fr* x, const std::int8_t* codes, std::uint32_t n) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= n) return;
  const int code = __ldg(codes + i);
  if (code != kWideCode) store_streaming(x + i, curve::device::fr_from_small(code));
}

/// Element k (at position reverse(k) if BitReversed) times low[k mod 2^low_bits]·high[k >>
/// low_bits]; with Canonical the result is canonical. A thread an element; 2 products.
template <bool BitReversed>
__global__ void __launch_bounds__(256)
    scale_by_powers(Fr* x, int log_n, const FrFactor* low, const FrFactor* high, int low_bits) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= 1u << log_n) return;
  const std::uint32_t k = BitReversed && log_n > 0 ? reverse_bits(i, log_n) : i;
  const Fr y =
      mul_by(mul_by(load_streaming(x + i), low[k & ((1u << low_bits) - 1)]), high[k >> low_bits]);
  store_streaming(x + i, curve::device::canonical(y));
}

// ---- Tables, made on the device. A thread an entry.

/// out[i] = scale·root^(i·step), as a factor; scale and root canonical and plain.
static __global__ void __launch_bounds__(128)
    fill_powers(FrFactor* out, std::uint32_t count, Fr root, std::uint32_t step, Fr scale) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= count) return;
  const Fr power = pow_plain(root, static_cast<std::uint64_t>(i) * step);
  out[i] = curve::device::make_factor(mul_plain(scale, power));
}
/// Planes of the inner factors of a 2^log_points-point column; root of that order.
static __global__ void __launch_bounds__(128) fill_inner(uint4* planes, int log_points, Fr root) {
  const std::uint32_t points = 1u << log_points, first_twist = points, count = points + points / 8;
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= count) return;
  const bool second = i >= first_twist;
  const std::uint32_t s = second ? points / 64 : points / 8, within = second ? i - first_twist : i;
  const std::uint32_t e = within / s, g = within % s;
  // base = root^(points / 8s), of order 8s; the factor is base^(g·reverse(e)).
  const std::uint64_t exponent =
      static_cast<std::uint64_t>(points / (8 * s)) * g *
      static_cast<std::uint64_t>(reverse_in_radix(static_cast<int>(e), 8));
  const FrFactor f = curve::device::make_factor(pow_plain(root, exponent));
  CUZK_UNROLL
  for (int j = 0; j < 2; ++j) {
    planes[static_cast<std::uint32_t>(j) * count + i] = get_half(f.w, j);
    planes[static_cast<std::uint32_t>(2 + j) * count + i] = get_half(f.companion, j);
  }
}
/// Entry [position][column] of a full twist table is w^(column·reverse(position)), from two short
/// tables of powers.
static __global__ void __launch_bounds__(128)
    fill_twist(Fr* w, Fr* companion, int log_points, std::uint32_t stride, const FrFactor* low,
               const FrFactor* high, int low_bits) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<std::uint64_t>(stride) << log_points) return;
  const std::uint32_t column = static_cast<std::uint32_t>(i % stride),
                      position = static_cast<std::uint32_t>(i / stride);
  const std::uint32_t exponent = column * reverse_bits(position, log_points);
  const Fr power = curve::device::canonical(
      mul_by(low[exponent & ((1u << low_bits) - 1)].w, high[exponent >> low_bits]));
  const FrFactor f = curve::device::make_factor(power);
  w[i] = f.w;
  companion[i] = f.companion;
}

}  // namespace cuzk::groth16::cuda
