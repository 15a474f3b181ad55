#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cuzk::cli::load {

/// What a set of measurements looks like; all zero if it is empty.
struct Summary {
  std::size_t count = 0;
  double mean = 0, least = 0, p50 = 0, p90 = 0, p99 = 0, most = 0;
};
/// A percentile is the smallest value that at least so many percent do not exceed.
Summary summarize(std::vector<double> values);

/// The middle value, or the mean of the two middle ones. Of nothing: 0.
double median(std::vector<double> values);

struct Interval {
  double low = 0, high = 0;
};

/// Interval that holds the median of the distribution that the values were drawn from with
/// probability `level` at least, whatever the distribution: from the k-th smallest to the k-th
/// largest value, k as large as
///   P(fewer than k of n fair coins show heads) <= (1 - level)/2
/// allows (the sign test turned round). Empty if there are too few values for any such k.
std::optional<Interval> median_interval(std::vector<double> values, double level);
/// The fewest values for which median_interval() gives one.
std::size_t values_needed(double level);

/// What measurements of two settings, taken in turns, say of their difference.
struct Comparison {
  enum class Verdict {
    kTooFewRuns,
    kNoDifference,  ///< none shown: the interval holds 0
    kSmaller,       ///< B is below A
    kLarger         ///< B is above A
  };
  double a = 0, b = 0;               ///< medians
  double difference = 0;             ///< median of b[i] - a[i]
  std::optional<Interval> interval;  ///< of the difference
  Verdict verdict = Verdict::kTooFewRuns;
};
std::string_view to_string(Comparison::Verdict verdict);

/// Pair i is a[i] and b[i], measured next to each other, so that what drifts slowly touches both. A
/// difference is stated only where median_interval() of the pairs' differences leaves 0 out. Throws
/// base::InvalidInput if the numbers of values differ.
Comparison compare_pairs(std::span<const double> a, std::span<const double> b, double level);

}  // namespace cuzk::cli::load
