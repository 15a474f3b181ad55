#pragma once

#include "curve/batch_add.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::groth16 {

/// The buckets of some windows: bucket b (from 0) of a window collects the points with digit ±(b +
/// 1) there. Points go into affine buckets by batches, of all windows together; a point whose
/// bucket already takes part in the open batch waits in a queue; where digits repeat so much that
/// the queue fills up, its points are first summed up by bucket. One thread uses the object at a
/// time. The points must outlive it.
template <class F>
class Buckets {
 public:
  using Affine = curve::AffinePoint<F>;
  using Jacobian = curve::JacobianPoint<F>;

  /// counts[w]: the buckets of window w, a power of two.
  Buckets(std::span<const std::size_t> counts, curve::Arithmetic arithmetic) : adder_(arithmetic) {
    for (const std::size_t count : counts) {
      starts_.push_back(buckets_.size());
      buckets_.resize(buckets_.size() + count);
    }
    starts_.push_back(buckets_.size());
    last_batch_.resize(buckets_.size());
    // A batch takes few enough buckets that two points seldom meet in one.
    batch_size_ = std::clamp<std::size_t>(buckets_.size() / 8, 32, curve::BatchAdder<F>::kCapacity);
    batch_.resize(batch_size_);
  }

  /// digit != 0, |digit| <= the window's count.
  void add(const Affine& point, std::size_t window, std::int32_t digit) {
    const bool negate = digit < 0;
    const auto bucket = static_cast<std::uint32_t>(
        starts_[window] + static_cast<std::size_t>(negate ? -digit : digit) - 1);
    if (last_batch_[bucket] == batch_number_) {
      queue_.push_back({&point, bucket, negate});
      if (queue_.size() >= kQueueCapacity) drain_queue();
      return;
    }
    push(point, bucket, negate);
  }

  /// Every bucket's sum. Ends the use of the object.
  std::span<const Affine> sums() {
    drain_queue();
    return buckets_;
  }

  /// Σ (b + 1)·bucket b of each window. Ends the use of the object.
  std::vector<Jacobian> weighted_sums() {
    drain_queue();
    return weighted_sums(buckets_, starts_, true);
  }

 private:
  struct Waiting {
    const Affine* point;
    std::uint32_t bucket;
    bool negate;
  };
  static constexpr std::size_t kQueueCapacity = 4096;

  void push(const Affine& point, std::uint32_t bucket, bool negate) {
    last_batch_[bucket] = batch_number_;
    // Measured: -15 % with 2^15 buckets.
    curve::prefetch<curve::Access::kWrite, 2>(buckets_[bucket]);
    batch_[batched_++] = {&buckets_[bucket], &point, negate};
    if (batched_ == batch_size_) flush();
  }

  void close_batch() {
    adder_.add(std::span(batch_).first(batched_));
    batched_ = 0;
    ++batch_number_;
  }

  // Runs the open batch, then starts the next with what waits and fits.
  void flush() {
    close_batch();
    std::size_t kept = 0;
    for (const Waiting& waiting : queue_) {
      if (last_batch_[waiting.bucket] == batch_number_ || batched_ + 1 >= batch_size_) {
        queue_[kept++] = waiting;
      } else {
        last_batch_[waiting.bucket] = batch_number_;
        batch_[batched_++] = {&buckets_[waiting.bucket], waiting.point, waiting.negate};
      }
    }
    queue_.resize(kept);
  }

  // Closes the batch and empties the queue, with one addition for each bucket in it.
  void drain_queue() {
    close_batch();
    std::sort(queue_.begin(), queue_.end(),
              [](const Waiting& a, const Waiting& b) { return a.bucket < b.bucket; });
    std::vector<Affine> points;
    std::vector<std::size_t> starts;  // of each bucket's points, and the end of the last's
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      if (i == 0 || queue_[i].bucket != queue_[i - 1].bucket) starts.push_back(i);
      points.push_back(queue_[i].negate ? -*queue_[i].point : *queue_[i].point);
    }
    starts.push_back(queue_.size());
    add_up(points, starts, 1);
    std::vector<curve::PointAddition<F>> additions;
    for (std::size_t b = 0; b + 1 < starts.size(); ++b)
      additions.push_back({&buckets_[queue_[starts[b]].bucket], &points[starts[b]], false});
    adder_.add(additions);
    queue_.clear();
  }

  // Windows with as few values are summed up one by one.
  static constexpr std::size_t kFewValues = 8;

  // Σ (b + 1)·values[b] of each window, or Σ b·values[b]; windows as starts_ has them. Running sums
  // from the highest value down, of many equal segments side by side so that they share inversions:
  // segment s of a window gives R_s = Σ B and T_s = Σ (l + 1)·B over its own l, or Σ l·B; the
  // result is Σ T_s + L·Σ s·R_s.
  std::vector<Jacobian> weighted_sums(std::span<const Affine> values,
                                      const std::vector<std::size_t>& starts, bool from_one) {
    const std::size_t windows = starts.size() - 1;
    std::size_t fewest = values.size();
    for (std::size_t w = 0; w < windows; ++w) fewest = std::min(fewest, starts[w + 1] - starts[w]);
    std::vector<Jacobian> out(windows, Jacobian::identity());
    if (fewest <= kFewValues) {
      for (std::size_t w = 0; w < windows; ++w) {
        Jacobian run = Jacobian::identity();
        for (std::size_t b = starts[w + 1]; b-- > starts[w];) {
          run += values[b];
          if (b > starts[w] || from_one) out[w] += run;
        }
      }
      return out;
    }
    // As few segments as fill a batch.
    const std::size_t length =
        std::min(std::bit_floor(std::clamp<std::size_t>(
                     values.size() / curve::BatchAdder<F>::kCapacity, 4, 64)),
                 fewest);
    const std::size_t segments = values.size() / length;
    std::vector<Affine> runs(segments), totals(segments);
    std::vector<curve::PointAddition<F>> to_run(segments), to_total(segments);
    for (std::size_t l = length; l-- > 0;) {
      for (std::size_t s = 0; s < segments; ++s) {
        to_run[s] = {&runs[s], &values[s * length + l], false};
        to_total[s] = {&totals[s], &runs[s], false};
      }
      adder_.add(to_run);
      if (l > 0 || from_one) adder_.add(to_total);
    }
    std::vector<std::size_t> segment_starts = starts;
    for (std::size_t& start : segment_starts) start /= length;
    out = weighted_sums(runs, segment_starts, false);
    add_up(totals, segment_starts, kFewValues);
    for (std::size_t w = 0; w < windows; ++w) {
      for (std::size_t l = 1; l < length; l *= 2) out[w] = out[w].doubled();
      const std::size_t last = std::min(segment_starts[w] + kFewValues, segment_starts[w + 1]);
      for (std::size_t s = segment_starts[w]; s < last; ++s) out[w] += totals[s];
    }
    return out;
  }

  // Adds up the values from each start to the next to the first `few` of them.
  void add_up(std::vector<Affine>& values, const std::vector<std::size_t>& starts,
              std::size_t few) {
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) counts.push_back(starts[i + 1] - starts[i]);
    std::vector<curve::PointAddition<F>> additions;
    do {
      additions.clear();
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] <= few) continue;
        const std::size_t last_half = counts[i] / 2;
        counts[i] -= last_half;
        Affine* const first = &values[starts[i]];
        for (std::size_t k = 0; k < last_half; ++k)
          additions.push_back({first + k, first + counts[i] + k, false});
      }
      adder_.add(additions);
    } while (!additions.empty());
  }

  std::vector<std::size_t> starts_;  // of the windows, and the end of the last
  std::vector<Affine> buckets_;
  std::vector<std::uint32_t> last_batch_;  // the last batch that each bucket took part in
  std::uint32_t batch_number_ = 1;
  std::size_t batch_size_;
  std::vector<curve::PointAddition<F>> batch_;  // the open one: its first batched_
  std::size_t batched_ = 0;
  std::vector<Waiting> queue_;
  curve::BatchAdder<F> adder_;
};

}  // namespace cuzk::groth16
