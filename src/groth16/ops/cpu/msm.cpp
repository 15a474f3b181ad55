#include "groth16/ops/msm.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/ops/cpu/buckets.hpp"
#include "groth16/ops/cpu/digits.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace cuzk::groth16 {

using curve::AffinePoint;
using curve::Fr;
using curve::JacobianPoint;

namespace {

// Points that a task should at least have for each bucket, so that summing up the buckets stays a
// small part.
constexpr std::size_t kMinPointsPerBucket = 4;

std::size_t threads() {
  return static_cast<std::size_t>(std::max(tbb::this_task_arena::max_concurrency(), 1));
}

// In how many parts the points are cut, besides the windows: enough tasks for all threads.
std::size_t chunk_count(std::size_t n, unsigned windows, std::size_t buckets) {
  const std::size_t wanted = (2 * threads() + windows - 1) / windows;
  const std::size_t allowed = n / (kMinPointsPerBucket * buckets);
  return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(allowed, 1));
}

}  // namespace

unsigned msm_window_bits(std::size_t n) {
  unsigned best = 2;
  double best_cost = 0;
  for (unsigned bits = 2; bits <= 16; ++bits) {
    const unsigned windows = (Fr::kNumBits + bits - 1) / bits;
    // A bucket costs two additions, which share inversions less well.
    const double cost = windows * (static_cast<double>(n) +
                                   2.5 * static_cast<double>(std::size_t{1} << (bits - 1)));
    if (bits == 2 || cost < best_cost) {
      best = bits;
      best_cost = cost;
    }
  }
  return best;
}

template <class F>
JacobianPoint<F> msm(std::span<const AffinePoint<F>> bases, std::span<const Fr> scalars,
                     const MsmOptions& options) {
  base::require(bases.size() == scalars.size(), "msm: {} bases and {} scalars", bases.size(),
                scalars.size());
  const unsigned bits =
      options.window_bits == 0 ? msm_window_bits(bases.size()) : options.window_bits;
  base::require(bits >= 2 && bits <= kMaxWindowBits, "msm: window of {} bits; 2 to {} are possible",
                bits, kMaxWindowBits);
  const std::size_t bucket_count = std::size_t{1} << (bits - 1);
  const SignedDigits digits(scalars, bits);
  const std::size_t n = bases.size(), chunks = chunk_count(n, digits.windows(), bucket_count);

  std::vector<JacobianPoint<F>> partial(digits.windows() * chunks);
  base::parallel_tasks(partial.size(), [&](std::size_t task) {
    const unsigned window = static_cast<unsigned>(task / chunks);
    const std::size_t chunk = task % chunks;
    Buckets<F> buckets(bucket_count, options.arithmetic);
    for (std::size_t i = n * chunk / chunks; i < n * (chunk + 1) / chunks; ++i) {
      const std::int32_t digit = digits.digit(i, window);
      if (digit != 0) buckets.add(bases[i], digit);
    }
    partial[task] = buckets.weighted_sum();
  });

  JacobianPoint<F> sum = JacobianPoint<F>::identity();
  for (unsigned window = digits.windows(); window-- > 0;) {
    for (unsigned i = 0; i < bits && !sum.is_identity(); ++i) sum = sum.doubled();
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) sum += partial[window * chunks + chunk];
  }
  return sum;
}

template <class F>
JacobianPoint<F> batch_add(std::span<const AffinePoint<F>> points,
                           std::span<const std::uint64_t> mask,
                           std::span<const std::uint64_t> bits) {
  base::require(mask.size() == bits.size(), "batch_add: {} words of mask and {} of bits",
                mask.size(), bits.size());
  constexpr std::size_t kWordsPerChunk = 1024;
  const std::size_t chunks = (mask.size() + kWordsPerChunk - 1) / kWordsPerChunk;
  std::vector<std::size_t> first_point(chunks + 1);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    first_point[chunk + 1] = first_point[chunk];
    const std::size_t end = std::min((chunk + 1) * kWordsPerChunk, mask.size());
    for (std::size_t word = chunk * kWordsPerChunk; word < end; ++word) {
      first_point[chunk + 1] += static_cast<std::size_t>(std::popcount(mask[word]));
    }
  }
  base::require(first_point[chunks] == points.size(), "batch_add: {} points for {} variables",
                points.size(), first_point[chunks]);

  std::vector<JacobianPoint<F>> partial(chunks);
  base::parallel_tasks(chunks, [&](std::size_t chunk) {
    curve::PointSum<F> sum;
    std::size_t point = first_point[chunk];
    const std::size_t end = std::min((chunk + 1) * kWordsPerChunk, mask.size());
    for (std::size_t word = chunk * kWordsPerChunk; word < end; ++word) {
      for (std::uint64_t left = mask[word]; left != 0; left &= left - 1, ++point) {
        if ((bits[word] & left & -left) != 0) sum.add(points[point]);
      }
    }
    partial[chunk] = sum.finish();
  });
  JacobianPoint<F> sum = JacobianPoint<F>::identity();
  for (const JacobianPoint<F>& part : partial) sum += part;
  return sum;
}

template JacobianPoint<curve::Fp> msm(std::span<const curve::G1Affine>, std::span<const Fr>,
                                      const MsmOptions&);
template JacobianPoint<curve::Fp2> msm(std::span<const curve::G2Affine>, std::span<const Fr>,
                                       const MsmOptions&);
template JacobianPoint<curve::Fp> batch_add(std::span<const curve::G1Affine>,
                                            std::span<const std::uint64_t>,
                                            std::span<const std::uint64_t>);
template JacobianPoint<curve::Fp2> batch_add(std::span<const curve::G2Affine>,
                                             std::span<const std::uint64_t>,
                                             std::span<const std::uint64_t>);

}  // namespace cuzk::groth16
