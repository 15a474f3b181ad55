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
// Buckets that fill a batch without many conflicts, and stay in cache.
constexpr std::size_t kBucketsPerTask = 8192;

std::size_t threads() {
  return static_cast<std::size_t>(std::max(tbb::this_task_arena::max_concurrency(), 1));
}

// The work cut into tasks: runs of windows, and runs of points where the windows are too few for
// all threads.
struct Tasks {
  std::size_t groups, chunks;

  Tasks(std::size_t n, const DigitWindows& windows) {
    const std::size_t buckets = windows.limit(0), count = windows.count();
    const std::size_t by_size = std::max<std::size_t>(count * buckets / kBucketsPerTask, 1);
    groups = std::min((by_size + threads() - 1) / threads() * threads(), count);
    const std::size_t wanted = (2 * threads() + groups - 1) / groups;
    chunks = std::clamp<std::size_t>(wanted, 1,
                                     std::max<std::size_t>(n / (kMinPointsPerBucket * buckets), 1));
  }
};

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
  const DigitWindows windows(bits);
  const SignedDigits digits(scalars, windows);
  const std::size_t n = bases.size();
  const Tasks tasks(n, windows);

  std::vector<JacobianPoint<F>> partial(windows.count() * tasks.chunks);
  base::parallel_tasks(tasks.groups * tasks.chunks, [&](std::size_t task) {
    const std::size_t group = task / tasks.chunks, chunk = task % tasks.chunks;
    const auto first = static_cast<unsigned>(windows.count() * group / tasks.groups);
    const auto last = static_cast<unsigned>(windows.count() * (group + 1) / tasks.groups);
    std::vector<std::size_t> counts;
    for (unsigned w = first; w < last; ++w) counts.push_back(windows.limit(w));
    Buckets<F> buckets(counts, options.arithmetic);
    for (std::size_t i = n * chunk / tasks.chunks; i < n * (chunk + 1) / tasks.chunks; ++i) {
      for (unsigned w = first; w < last; ++w) {
        const std::int32_t digit = digits.digit(i, w);
        if (digit != 0) buckets.add(bases[i], w - first, digit);
      }
    }
    const std::vector<JacobianPoint<F>> sums = buckets.weighted_sums();
    for (unsigned w = first; w < last; ++w) partial[w * tasks.chunks + chunk] = sums[w - first];
  });

  JacobianPoint<F> sum = JacobianPoint<F>::identity();
  for (unsigned w = windows.count(); w-- > 0;) {
    for (unsigned i = 0; i < windows.width(w) && !sum.is_identity(); ++i) sum = sum.doubled();
    for (std::size_t chunk = 0; chunk < tasks.chunks; ++chunk)
      sum += partial[w * tasks.chunks + chunk];
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
