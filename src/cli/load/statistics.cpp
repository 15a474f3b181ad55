#include "cli/load/statistics.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cuzk::cli::load {

namespace {

/// Value of which at least `percent` percent of the sorted ones are not above.
double percentile(std::span<const double> sorted, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

/// Largest k with P(Binomial(n, 1/2) < k) <= tail; 0 if there is none.
std::size_t cut(std::size_t n, double tail) {
  double probability = std::exp2(-static_cast<double>(n));  // of exactly k heads
  double below = 0;                                         // P(fewer than k heads)
  for (std::size_t k = 0; 2 * k <= n; ++k) {
    below += probability;  // now of at most k
    if (below > tail) return k;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return n / 2;
}

}  // namespace

Summary summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {.count = values.size(),
          .mean = std::accumulate(values.begin(), values.end(), 0.0) /
                  static_cast<double>(values.size()),
          .least = values.front(),
          .p50 = percentile(values, 50),
          .p90 = percentile(values, 90),
          .p99 = percentile(values, 99),
          .most = values.back()};
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::optional<Interval> median_interval(std::vector<double> values, double level) {
  const std::size_t k = cut(values.size(), (1 - level) / 2);
  if (k == 0) return std::nullopt;
  std::ranges::sort(values);
  return Interval{values[k - 1], values[values.size() - k]};
}

std::size_t values_needed(double level) {
  std::size_t n = 1;
  while (cut(n, (1 - level) / 2) == 0) ++n;
  return n;
}

std::string_view to_string(Comparison::Verdict verdict) {
  switch (verdict) {
    case Comparison::Verdict::kTooFewRuns:
      return "too few runs";
    case Comparison::Verdict::kNoDifference:
      return "no difference shown";
    case Comparison::Verdict::kSmaller:
      return "B smaller";
    case Comparison::Verdict::kLarger:
      return "B larger";
  }
  return "";
}

Comparison compare_pairs(std::span<const double> a, std::span<const double> b, double level) {
  base::require(a.size() == b.size(), "comparing {} runs of A with {} of B: they come in pairs",
                a.size(), b.size());
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(b[i] - a[i]);
  using Verdict = Comparison::Verdict;
  Comparison result{.a = median({a.begin(), a.end()}),
                    .b = median({b.begin(), b.end()}),
                    .difference = median(differences),
                    .interval = median_interval(differences, level)};
  if (!result.interval) return result;
  result.verdict = result.interval->high < 0  ? Verdict::kSmaller
                   : result.interval->low > 0 ? Verdict::kLarger
                                              : Verdict::kNoDifference;
  return result;
}

}  // namespace cuzk::cli::load
