#include "groth16/ops/msm.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "curve/endomorphism.hpp"
#include "groth16/ops/cpu/buckets.hpp"
#include "groth16/ops/cpu/digits.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace cuzk::groth16 {

using curve::AffinePoint;
using curve::JacobianPoint;

namespace {

// Points that a task should at least have for each bucket, so that summing up the buckets stays a
// small part.
constexpr std::size_t kMinPointsPerBucket = 4;
// Buckets that fill a batch without many conflicts, and stay in cache.
constexpr std::size_t kBucketsPerTask = 8192;
// Up to here the images of split scalars' bases stay below 100 MB, and the buckets' part is large
// enough to matter.
constexpr std::size_t kMaxSplit = std::size_t{1} << 20;
// Additions that a bucket costs: two, less the first point's, but with inversions less well shared.
constexpr double kBucketCost = 1.5;

// Additions that the image of a point under the endomorphism costs, with the digits of its part of
// the scalar. That is scalar code, which weighs more where additions are faster.
double image_cost(curve::Arithmetic arithmetic) {
  return curve::resolve(arithmetic) == curve::Arithmetic::kIfma ? 2.0 : 0.7;
}

std::size_t threads() {
  return static_cast<std::size_t>(std::max(tbb::this_task_arena::max_concurrency(), 1));
}

double cost_of(std::size_t n, const DigitWindows& windows, double image_cost) {
  const double points = static_cast<double>(n) * windows.parts();
  double cost = static_cast<double>(n) * (windows.parts() - 1) * image_cost;
  for (unsigned w = 0; w < windows.count(); ++w)
    cost += points + kBucketCost * static_cast<double>(windows.limit(w));
  return cost;
}

// The windows [first_window, last_window) of the points [first, last).
struct Task {
  unsigned first_window, last_window;
  std::size_t first, last;
};

// Runs of windows, as many for each thread; windows that are left over go one by one, cut into runs
// of points.
std::vector<Task> cut_into_tasks(std::size_t points, const DigitWindows& windows) {
  const std::size_t count = windows.count(), buckets = windows.limit(0);
  const std::size_t whole = count / threads() * threads();
  std::vector<Task> out;
  if (whole > 0) {
    const std::size_t by_size = std::max<std::size_t>(whole * buckets / kBucketsPerTask, 1);
    const std::size_t groups = std::min((by_size + threads() - 1) / threads() * threads(), whole);
    for (std::size_t group = 0; group < groups; ++group) {
      out.push_back({static_cast<unsigned>(whole * group / groups),
                     static_cast<unsigned>(whole * (group + 1) / groups), 0, points});
    }
  }
  const std::size_t chunks = std::clamp<std::size_t>(
      threads(), 1, std::max<std::size_t>(points / (kMinPointsPerBucket * buckets), 1));
  for (auto w = static_cast<unsigned>(whole); w < count; ++w) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk)
      out.push_back({w, w + 1, points * chunk / chunks, points * (chunk + 1) / chunks});
  }
  return out;
}

// Points with their digits: the bases of a term, or their images under a power of the endomorphism.
template <class F>
struct Run {
  std::span<const AffinePoint<F>> points;
  const SignedDigits* digits;
  std::size_t first_digit;  // of these points
};

template <class F>
class DenseSum {
 public:
  DenseSum(std::span<const MsmTerms<F>> terms, const DigitWindows& windows) : windows_(windows) {
    digits_.reserve(terms.size());
    images_.reserve(terms.size() * (windows.parts() - 1));
    for (const MsmTerms<F>& term : terms) {
      digits_.emplace_back(term.scalars, windows);
      add_run(term.bases, 0);
      for (unsigned part = 1; part < windows.parts(); ++part) {
        const std::span<const AffinePoint<F>> last = runs_.back().points;
        std::vector<AffinePoint<F>>& images = images_.emplace_back(last.size());
        base::parallel_ranges(last.size(), 4096, [&](std::size_t first, std::size_t end) {
          for (std::size_t i = first; i < end; ++i) images[i] = curve::endomorphism(last[i]);
        });
        add_run(images, part * last.size());
      }
    }
  }

  JacobianPoint<F> sum(curve::Arithmetic arithmetic) const {
    const std::vector<Task> tasks = cut_into_tasks(points_, windows_);
    std::vector<std::vector<JacobianPoint<F>>> partial(tasks.size());
    base::parallel_tasks(tasks.size(),
                         [&](std::size_t i) { partial[i] = window_sums(tasks[i], arithmetic); });
    JacobianPoint<F> sum = JacobianPoint<F>::identity();
    for (unsigned w = windows_.count(); w-- > 0;) {
      for (unsigned i = 0; i < windows_.width(w) && !sum.is_identity(); ++i) sum = sum.doubled();
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i].first_window <= w && w < tasks[i].last_window)
          sum += partial[i][w - tasks[i].first_window];
      }
    }
    return sum;
  }

 private:
  void add_run(std::span<const AffinePoint<F>> points, std::size_t first_digit) {
    runs_.push_back({points, &digits_.back(), first_digit});
    points_ += points.size();
  }

  // Σ digit·point of each window of the task, over its points.
  std::vector<JacobianPoint<F>> window_sums(const Task& task, curve::Arithmetic arithmetic) const {
    std::vector<std::size_t> counts;
    for (unsigned w = task.first_window; w < task.last_window; ++w)
      counts.push_back(windows_.limit(w));
    Buckets<F> buckets(counts, arithmetic);
    std::size_t before = 0;
    for (const Run<F>& run : runs_) {
      const std::size_t end = before + run.points.size();
      for (std::size_t i = std::max(before, task.first); i < std::min(end, task.last); ++i) {
        const AffinePoint<F>& point = run.points[i - before];
        for (unsigned w = task.first_window; w < task.last_window; ++w) {
          const std::int32_t digit = run.digits->digit(run.first_digit + i - before, w);
          if (digit != 0) buckets.add(point, w - task.first_window, digit);
        }
      }
      before = end;
    }
    return buckets.weighted_sums();
  }

  DigitWindows windows_;
  std::vector<SignedDigits> digits_;                 // of each term
  std::vector<std::vector<AffinePoint<F>>> images_;  // of the terms' bases
  std::vector<Run<F>> runs_;
  std::size_t points_ = 0;  // of all runs
};

}  // namespace

MsmWindows msm_windows(std::size_t n, unsigned split_parts, const MsmOptions& options) {
  const unsigned wanted = options.window_bits;
  base::require(wanted == 0 || (wanted >= 2 && wanted <= kMaxWindowBits),
                "msm: window of {} bits; 2 to {} are possible", wanted, kMaxWindowBits);
  const double of_image = image_cost(options.arithmetic);
  MsmWindows best{0, 0};
  double best_cost = 0;
  for (const unsigned parts : {1U, split_parts}) {
    if (parts == 1 ? options.split == ScalarSplit::kAlways
                   : options.split == ScalarSplit::kNever ||
                         (options.split == ScalarSplit::kBySize && n > kMaxSplit / parts)) {
      continue;
    }
    const unsigned least = parts == 2 ? 3 : 2;
    for (unsigned bits = std::max(wanted, least); bits <= (wanted == 0 ? 16 : wanted); ++bits) {
      const double cost = cost_of(n, DigitWindows(bits, parts), of_image);
      if (best.bits == 0 || cost < best_cost) {
        best = {bits, parts};
        best_cost = cost;
      }
    }
  }
  base::require(best.bits != 0, "msm: split scalars need windows of 3 bits at least");
  return best;
}

template <class F>
JacobianPoint<F> msm(std::span<const MsmTerms<F>> terms, const MsmOptions& options) {
  std::size_t n = 0;
  for (const MsmTerms<F>& term : terms) {
    base::require(term.bases.size() == term.scalars.size(), "msm: {} bases and {} scalars",
                  term.bases.size(), term.scalars.size());
    n += term.bases.size();
  }
  const MsmWindows windows = msm_windows(n, curve::kScalarParts<F>, options);
  return DenseSum<F>(terms, DigitWindows(windows.bits, windows.parts)).sum(options.arithmetic);
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

template JacobianPoint<curve::Fp> msm(std::span<const MsmTerms<curve::Fp>>, const MsmOptions&);
template JacobianPoint<curve::Fp2> msm(std::span<const MsmTerms<curve::Fp2>>, const MsmOptions&);
template JacobianPoint<curve::Fp> batch_add(std::span<const curve::G1Affine>,
                                            std::span<const std::uint64_t>,
                                            std::span<const std::uint64_t>);
template JacobianPoint<curve::Fp2> batch_add(std::span<const curve::G2Affine>,
                                             std::span<const std::uint64_t>,
                                             std::span<const std::uint64_t>);

}  // namespace cuzk::groth16
