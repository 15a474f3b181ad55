#include "groth16/subgroup_check.hpp"

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "groth16/ops/cpu/buckets.hpp"

#include <algorithm>
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

template <class F>
bool round_passes(std::span<const curve::AffinePoint<F>> points, unsigned bucket_bits) {
  const std::size_t count = std::size_t{1} << bucket_bits;
  Buckets<F> buckets(std::span(&count, 1), curve::BatchArithmetic::kBest);
  constexpr std::size_t kDraws = 8192;
  std::vector<std::uint8_t> random(2 * kDraws);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t draw = i % kDraws;
    if (draw == 0) base::random_bytes(random);
    const unsigned value = random[2 * draw] | static_cast<unsigned>(random[2 * draw + 1]) << 8;
    buckets.add(points[i], 0, static_cast<std::int32_t>((value & ((1U << bucket_bits) - 1)) + 1));
  }
  const std::span<const curve::AffinePoint<F>> sums = buckets.sums();
  return std::all_of(sums.begin(), sums.end(),
                     [](const curve::AffinePoint<F>& sum) { return sum.is_in_group(); });
}

}  // namespace

template <class F>
bool all_in_group(std::span<const curve::AffinePoint<F>> points) {
  const Plan plan = plan_for(points.size());
  if (plan.bucket_bits == 0) return each_in_group(points);
  std::atomic<bool> good = true;
  base::parallel_tasks(plan.rounds, [&](std::size_t) {
    if (good && !round_passes(points, plan.bucket_bits)) good = false;
  });
  return good;
}

template bool all_in_group(std::span<const curve::G1Affine>);
template bool all_in_group(std::span<const curve::G2Affine>);

}  // namespace cuzk::groth16
