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
/// the queue fills up, its points are first summed up by bucket in projective form. One thread uses
/// the object at a time. The points must outlive it.
template <class F>
class Buckets {
 public:
  using Affine = curve::AffinePoint<F>;
  using Jacobian = curve::JacobianPoint<F>;

  /// counts[w]: the buckets of window w, a power of two.
  Buckets(std::span<const std::size_t> counts, curve::BatchArithmetic arithmetic)
      : adder_(arithmetic) {
    for (const std::size_t count : counts) {
      starts_.push_back(buckets_.size());
      buckets_.resize(buckets_.size() + count);
    }
    starts_.push_back(buckets_.size());
    last_batch_.resize(buckets_.size());
    // A batch takes few enough buckets that two points seldom meet in one.
    batch_size_ = std::clamp<std::size_t>(buckets_.size() / 8, 32, curve::BatchAdder<F>::kCapacity);
    batch_.reserve(batch_size_);
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
    return weighted_bucket_sums();
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
    const Affine* const target = &buckets_[bucket];
    for (std::size_t line = 0; line < sizeof(Affine); line += 64) {
      __builtin_prefetch(reinterpret_cast<const char*>(target) + line, 1,
                         2);  // measured: -15 % with 2^15 buckets
    }
    batch_.push_back({&buckets_[bucket], &point, negate});
    if (batch_.size() == batch_size_) flush();
  }

  // Runs the open batch, then starts the next with what waits and fits.
  void flush() {
    adder_.add(batch_);
    batch_.clear();
    ++batch_number_;
    std::size_t kept = 0;
    for (const Waiting& waiting : queue_) {
      if (last_batch_[waiting.bucket] == batch_number_ || batch_.size() + 1 >= batch_size_) {
        queue_[kept++] = waiting;
      } else {
        last_batch_[waiting.bucket] = batch_number_;
        batch_.push_back({&buckets_[waiting.bucket], waiting.point, waiting.negate});
      }
    }
    queue_.resize(kept);
  }

  // Closes the batch and empties the queue, with one addition for each bucket in it.
  void drain_queue() {
    adder_.add(batch_);
    batch_.clear();
    ++batch_number_;
    std::sort(queue_.begin(), queue_.end(),
              [](const Waiting& a, const Waiting& b) { return a.bucket < b.bucket; });
    std::vector<Jacobian> sums;
    std::vector<std::uint32_t> sum_buckets;
    for (const Waiting& waiting : queue_) {
      if (sum_buckets.empty() || sum_buckets.back() != waiting.bucket) {
        sum_buckets.push_back(waiting.bucket);
        sums.push_back(Jacobian::identity());
      }
      sums.back() += waiting.negate ? -*waiting.point : *waiting.point;
    }
    queue_.clear();
    const std::vector<Affine> points = curve::normalize<F>(sums);
    for (std::size_t i = 0; i < points.size(); ++i)
      batch_.push_back({&buckets_[sum_buckets[i]], &points[i], false});
    adder_.add(batch_);
    batch_.clear();
  }

  // Running sums from the highest bucket down, of many equal segments side by side so that they
  // share inversions: segment s of a window gives R_s = Σ B and T_s = Σ (l + 1)·B over its own l;
  // the result is Σ T_s + L·Σ s·R_s.
  std::vector<Jacobian> weighted_bucket_sums() {
    std::size_t length = std::bit_floor(std::clamp<std::size_t>(buckets_.size() / 256, 4, 32));
    for (std::size_t w = 0; w + 1 < starts_.size(); ++w)
      length = std::min(length, starts_[w + 1] - starts_[w]);
    const std::size_t segments = buckets_.size() / length;
    std::vector<Affine> runs(segments), totals(segments);
    std::vector<curve::PointAddition<F>> to_run(segments), to_total(segments);
    for (std::size_t l = length; l-- > 0;) {
      for (std::size_t s = 0; s < segments; ++s) {
        to_run[s] = {&runs[s], &buckets_[s * length + l], false};
        to_total[s] = {&totals[s], &runs[s], false};
      }
      adder_.add(to_run);
      adder_.add(to_total);
    }
    std::vector<Jacobian> out;
    for (std::size_t w = 0; w + 1 < starts_.size(); ++w) {
      const std::size_t first = starts_[w] / length, last = starts_[w + 1] / length;
      Jacobian run = Jacobian::identity(), weighted = Jacobian::identity(),
               total = Jacobian::identity();
      for (std::size_t s = last; s-- > first;) {
        if (s > first) {
          run += runs[s];
          weighted += run;
        }
        total += totals[s];
      }
      for (std::size_t l = 1; l < length; l *= 2) weighted = weighted.doubled();
      out.push_back(total + weighted);
    }
    return out;
  }

  std::vector<std::size_t> starts_;        // of the windows, and the end of the last
  std::vector<Affine> buckets_;            // length, and so every window's start, divides evenly
  std::vector<std::uint32_t> last_batch_;  // the last batch that each bucket took part in
  std::uint32_t batch_number_ = 1;
  std::size_t batch_size_;
  std::vector<curve::PointAddition<F>> batch_;
  std::vector<Waiting> queue_;
  curve::BatchAdder<F> adder_;
};

}  // namespace cuzk::groth16
