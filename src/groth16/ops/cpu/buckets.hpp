#pragma once

#include "curve/batch_add.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::groth16 {

/// The buckets of one window: bucket b (from 0) collects the points with digit ±(b + 1). Points go
/// into affine buckets by batches; a point whose bucket already takes part in the open batch waits
/// in a queue; where digits repeat so much that the queue fills up, its points are first summed up
/// by bucket in projective form. One thread uses the object at a time. The points must outlive it.
template <class F>
class Buckets {
 public:
  using Affine = curve::AffinePoint<F>;
  using Jacobian = curve::JacobianPoint<F>;

  /// `count` is a power of two.
  Buckets(std::size_t count, curve::BatchArithmetic arithmetic)
      : buckets_(count), last_batch_(count), adder_(arithmetic) {
    // A batch takes few enough buckets that two points seldom meet in one.
    batch_size_ = std::clamp<std::size_t>(count / 8, 32, curve::BatchAdder<F>::kCapacity);
    batch_.reserve(batch_size_);
  }

  /// digit != 0, |digit| <= count.
  void add(const Affine& point, std::int32_t digit) {
    const bool negate = digit < 0;
    const std::uint32_t bucket = static_cast<std::uint32_t>(negate ? -digit : digit) - 1;
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

  /// Σ (b + 1)·bucket b. Ends the use of the object.
  Jacobian weighted_sum() {
    drain_queue();
    return weighted_bucket_sum();
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
  // share inversions: segment s gives R_s = Σ B and T_s = Σ (l + 1)·B over its own l; the result is
  // Σ T_s + L·Σ s·R_s.
  Jacobian weighted_bucket_sum() {
    const std::size_t segments = buckets_.size() >= 4096 ? 512 : buckets_.size() >= 128 ? 64 : 1;
    const std::size_t length = buckets_.size() / segments;
    if (segments == 1) return projective_running_sum(buckets_);
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
    Jacobian run = Jacobian::identity(), weighted = Jacobian::identity(),
             total = Jacobian::identity();
    for (std::size_t s = segments; s-- > 0;) {
      if (s > 0) {
        run += runs[s];
        weighted += run;
      }
      total += totals[s];
    }
    for (std::size_t l = 1; l < length; l *= 2)
      weighted = weighted.doubled();  // length is a power of two
    return total + weighted;
  }

  static Jacobian projective_running_sum(std::span<const Affine> points) {
    Jacobian run = Jacobian::identity(), total = Jacobian::identity();
    for (std::size_t b = points.size(); b-- > 0;) {
      run += points[b];
      total += run;
    }
    return total;
  }

  std::vector<Affine> buckets_;
  std::vector<std::uint32_t> last_batch_;  // the last batch that each bucket took part in
  std::uint32_t batch_number_ = 1;
  std::size_t batch_size_;
  std::vector<curve::PointAddition<F>> batch_;
  std::vector<Waiting> queue_;
  curve::BatchAdder<F> adder_;
};

}  // namespace cuzk::groth16
