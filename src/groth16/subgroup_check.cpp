#include "groth16/subgroup_check.hpp"

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "curve/batch_add.hpp"
#include "groth16/ops/cpu/buckets.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

namespace cuzk::groth16 {

namespace {

constexpr unsigned kSecurityBits = 64;
// Cost of one check, in additions by batches.
constexpr std::size_t kCheckCost = 200;

struct Plan {
  unsigned bucket_bits;  // 0: every point on its own
  unsigned rounds;
};

Plan plan_for(std::size_t n) {
  Plan best{0, 1};
  std::size_t best_cost = n * kCheckCost;
  for (unsigned bits = 6; bits <= 14; ++bits) {
    const unsigned rounds = (kSecurityBits + bits - 1) / bits;
    const std::size_t cost = rounds * (n + (kCheckCost << bits));
    if (cost < best_cost) {
      best = {bits, rounds};
      best_cost = cost;
    }
  }
  return best;
}

template <class F>
bool each_in_group(std::span<const curve::AffinePoint<F>> points) {
  std::atomic<bool> good = true;
  base::parallel_ranges(points.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last && good; ++i) {
      if (!points[i].is_in_group()) good = false;
    }
  });
  return good;
}

}  // namespace

/// One distribution of the points over buckets.
template <class F>
class GroupCheck<F>::Round {
 public:
  explicit Round(unsigned bucket_bits) : bucket_bits_(bucket_bits), sums_(count()) {}

  /// The points are no longer used when this returns.
  void add(std::span<const curve::AffinePoint<F>> points) {
    Buckets<F> buckets(std::array{count()}, curve::Arithmetic::kBest);
    constexpr std::size_t kDraws = 8192;
    std::vector<std::uint8_t> random(2 * kDraws);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t draw = i % kDraws;
      if (draw == 0) base::random_bytes(random);
      const unsigned value = random[2 * draw] | static_cast<unsigned>(random[2 * draw + 1]) << 8;
      buckets.add(points[i], 0, static_cast<std::int32_t>((value & (count() - 1)) + 1));
    }
    add_sums(buckets.sums());
  }

  bool passes() const {
    return std::all_of(sums_.begin(), sums_.end(),
                       [](const curve::AffinePoint<F>& sum) { return sum.is_in_group(); });
  }

 private:
  std::size_t count() const { return std::size_t{1} << bucket_bits_; }

  void add_sums(std::span<const curve::AffinePoint<F>> of_piece) {
    std::vector<curve::PointAddition<F>> additions;
    for (std::size_t i = 0; i < sums_.size(); ++i)
      additions.push_back({&sums_[i], &of_piece[i], false});
    curve::BatchAdder<F>(curve::Arithmetic::kBest).add(additions);
  }

  unsigned bucket_bits_;
  std::vector<curve::AffinePoint<F>> sums_;
};

template <class F>
GroupCheck<F>::GroupCheck(std::size_t count) {
  const Plan plan = plan_for(count);
  one_by_one_ = plan.bucket_bits == 0;
  for (unsigned i = 0; i < plan.rounds && !one_by_one_; ++i)
    rounds_.push_back(std::make_unique<Round>(plan.bucket_bits));
}

template <class F>
GroupCheck<F>::~GroupCheck() = default;

template <class F>
void GroupCheck<F>::add(std::span<const curve::AffinePoint<F>> points) {
  if (!good_) return;
  if (one_by_one_) {
    good_ = each_in_group(points);
  } else {
    base::parallel_tasks(rounds_.size(), [&](std::size_t i) { rounds_[i]->add(points); });
  }
}

template <class F>
bool GroupCheck<F>::passes() {
  std::atomic<bool> good = good_;
  base::parallel_tasks(rounds_.size(), [&](std::size_t i) {
    if (good && !rounds_[i]->passes()) good = false;
  });
  return good;
}

template <class F>
bool all_in_group(std::span<const curve::AffinePoint<F>> points) {
  GroupCheck<F> check(points.size());
  check.add(points);
  return check.passes();
}

template class GroupCheck<curve::Fp>;
template class GroupCheck<curve::Fp2>;
template bool all_in_group(std::span<const curve::G1Affine>);
template bool all_in_group(std::span<const curve::G2Affine>);

}  // namespace cuzk::groth16
