#include "cli/load/metrics_text.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace cuzk::cli::load {

namespace {

constexpr std::string_view kBlanks = " \t";

/// Reads one sample: name, labels in braces, value.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line), rest_(line) {}

  std::pair<std::string, std::pair<MetricsText::Labels, double>> read() {
    const std::string name(take_until("{ \t"));
    require(!name.empty());
    MetricsText::Labels labels;
    if (rest_.starts_with('{')) labels = read_labels();
    skip_blanks();
    const std::string value(take_until(kBlanks));
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    require(!value.empty() && *end == '\0');
    return {name, {std::move(labels), number}};
  }

 private:
  void require(bool holds) const { base::require(holds, "not a sample of a metric: '{}'", line_); }
  std::string_view take_until(std::string_view stops) {
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(stops));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
  }
  void expect(char wanted) {
    require(rest_.starts_with(wanted));
    rest_.remove_prefix(1);
  }
  MetricsText::Labels read_labels() {
    MetricsText::Labels labels;
    expect('{');
    while (!rest_.starts_with('}')) {
      const std::string name(take_until("=}"));
      expect('=');
      labels[name] = read_quoted();
      if (rest_.starts_with(',')) rest_.remove_prefix(1);
    }
    expect('}');
    return labels;
  }
  std::string read_quoted() {
    std::string value;
    expect('"');
    while (!rest_.starts_with('"')) {
      require(!rest_.empty());
      if (rest_.starts_with('\\')) {
        rest_.remove_prefix(1);
        require(!rest_.empty());
        value += rest_.front() == 'n' ? '\n' : rest_.front();
      } else {
        value += rest_.front();
      }
      rest_.remove_prefix(1);
    }
    expect('"');
    return value;
  }

  std::string_view line_, rest_;
};

bool matches(const MetricsText::Labels& have, const MetricsText::Labels& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& label) {
    const auto found = have.find(label.first);
    return found != have.end() && found->second == label.second;
  });
}

}  // namespace

MetricsText::MetricsText(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(kBlanks) == std::string_view::npos || line.starts_with('#'))
      continue;
    samples_.insert(LineReader(line).read());
  }
}

double MetricsText::sum(std::string_view name, const Labels& labels) const {
  double sum = 0;
  const auto [begin, end] = samples_.equal_range(name);
  for (auto sample = begin; sample != end; ++sample) {
    if (matches(sample->second.first, labels)) sum += sample->second.second;
  }
  return sum;
}

std::map<std::string, double> MetricsText::sum_by(std::string_view name, const std::string& by,
                                                  const Labels& labels) const {
  std::map<std::string, double> sums;
  const auto [begin, end] = samples_.equal_range(name);
  for (auto sample = begin; sample != end; ++sample) {
    const auto& [have, value] = sample->second;
    const auto label = have.find(by);
    if (label != have.end() && matches(have, labels)) sums[label->second] += value;
  }
  return sums;
}

}  // namespace cuzk::cli::load
