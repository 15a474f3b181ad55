#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cuzk::cli::load {

/// Samples of a Prometheus text (exposition format 0.0.4), as GetMetrics gives it.
class MetricsText {
 public:
  using Labels = std::map<std::string, std::string>;

  MetricsText() = default;
  /// Throws base::InvalidInput that names the line if a line is neither comment nor sample.
  explicit MetricsText(std::string_view text);

  /// Sum of the samples of that name that have all of these labels; 0 if there is none.
  double sum(std::string_view name, const Labels& labels = {}) const;
  /// The same, by the value of label `by`.
  std::map<std::string, double> sum_by(std::string_view name, const std::string& by,
                                       const Labels& labels = {}) const;
  bool has(std::string_view name) const { return samples_.contains(name); }

 private:
  std::multimap<std::string, std::pair<Labels, double>, std::less<>> samples_;
};

}  // namespace cuzk::cli::load
