#include "engine/config_values.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <sys/un.h>
#include <vector>

namespace cuzk::engine {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 9> kSizeUnits = {{{"TiB", std::uint64_t{1} << 40},
                                             {"GiB", std::uint64_t{1} << 30},
                                             {"MiB", std::uint64_t{1} << 20},
                                             {"KiB", std::uint64_t{1} << 10},
                                             {"TB", 1'000'000'000'000},
                                             {"GB", 1'000'000'000},
                                             {"MB", 1'000'000},
                                             {"KB", 1'000},
                                             {"B", 1}}};
constexpr std::array<Unit, 4> kTimeUnits = {{{"d", 86'400}, {"h", 3'600}, {"m", 60}, {"s", 1}}};

constexpr std::string_view kSizeRemedy =
    "write a size as \"256GiB\", \"1.5TiB\", \"512MB\" or a number of bytes";
constexpr std::string_view kDurationRemedy =
    "write a duration as \"300s\", \"5m\", \"1h\", \"2d\" or a number of seconds";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// The digits at the front of `text`, taken off it.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const std::string_view digits(text.begin(), end);
  text.remove_prefix(digits.size());
  return digits;
}

std::uint64_t to_number(std::string_view digits, std::string_view whole) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  base::require(error == std::errc{}, "'{}' is more than 64 bits can hold", whole);
  return value;
}

/// whole.fraction · factor, rounded down.
std::uint64_t scale(std::uint64_t whole, std::string_view fraction, std::uint64_t factor,
                    std::string_view text) {
  // Digits beyond the twelfth are worth less than a byte of a terabyte, and more would overflow.
  fraction = fraction.substr(0, 12);
  unsigned __int128 numerator = 0, denominator = 1;
  for (const char digit : fraction) {
    numerator = numerator * 10 + static_cast<unsigned>(digit - '0');
    denominator *= 10;
  }
  const unsigned __int128 value =
      static_cast<unsigned __int128>(whole) * factor + numerator * factor / denominator;
  base::require(value <= INT64_MAX, "'{}' is more than there can be", text);
  return static_cast<std::uint64_t>(value);
}

template <std::size_t N>
std::string exact(std::uint64_t value, const std::array<Unit, N>& units,
                  std::size_t first_decimal) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    const bool skipped = i >= first_decimal && units[i].factor != 1;
    if (!skipped && value != 0 && value % units[i].factor == 0)
      return fmt::format("{}{}", value / units[i].factor, units[i].name);
  }
  return fmt::format("0{}", units.back().name);
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
  std::string_view rest = trim(text);
  const std::string_view whole = take_digits(rest);
  base::require(!whole.empty(), "'{}' is no size: {}", text, kSizeRemedy);
  std::string_view fraction;
  const bool has_fraction = rest.starts_with('.');
  if (has_fraction) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    base::require(!fraction.empty(), "'{}' is no size: {}", text, kSizeRemedy);
  }
  const std::string unit = lower(trim(rest));
  if (unit.empty() && !has_fraction) return scale(to_number(whole, text), {}, 1, text);
  for (const Unit& known : kSizeUnits) {
    if (lower(known.name) != unit) continue;
    base::require(!has_fraction || known.factor > 1, "'{}' is no whole number of bytes", text);
    return scale(to_number(whole, text), fraction, known.factor, text);
  }
  if (unit.size() == 1 && std::string_view("kmgt").find(unit[0]) != std::string_view::npos) {
    const char letter = static_cast<char>(std::toupper(unit[0]));
    base::fail<base::InvalidInput>(
        "'{}': the unit {} can be read in two ways: write {}iB (1024s) "
        "or {}B (1000s)",
        text, trim(rest), letter, letter);
  }
  base::fail<base::InvalidInput>("'{}' has no known unit: {}", text, kSizeRemedy);
}

std::string exact_size(std::uint64_t bytes) { return exact(bytes, kSizeUnits, 4); }

std::string format_size(std::uint64_t bytes) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (bytes >= kSizeUnits[i].factor)
      return fmt::format("{:.1f} {}",
                         static_cast<double>(bytes) / static_cast<double>(kSizeUnits[i].factor),
                         kSizeUnits[i].name);
  }
  return fmt::format("{} bytes", bytes);
}

std::chrono::seconds parse_duration(std::string_view text) {
  std::string_view rest = trim(text);
  base::require(!rest.empty() && is_digit(rest[0]), "'{}' is no duration: {}", text,
                kDurationRemedy);
  std::uint64_t sum = 0;
  std::uint64_t smallest = UINT64_MAX;
  while (!rest.empty()) {
    const std::string_view digits = take_digits(rest);
    const std::string_view unit = rest.substr(
        0, static_cast<std::size_t>(std::ranges::find_if(rest, is_digit) - rest.begin()));
    rest.remove_prefix(unit.size());
    const bool bare = trim(unit).empty() && rest.empty() && smallest == UINT64_MAX;
    const auto known =
        bare ? std::prev(kTimeUnits.end()) : std::ranges::find(kTimeUnits, trim(unit), &Unit::name);
    // Larger units first, each once: "1h30m".
    base::require(!digits.empty() && known != kTimeUnits.end() && known->factor < smallest,
                  "'{}' is no duration: {}", text, kDurationRemedy);
    smallest = known->factor;
    sum += scale(to_number(digits, text), {}, known->factor, text);
    base::require(sum <= INT32_MAX, "'{}' is longer than {} days", text, INT32_MAX / 86'400);
  }
  return std::chrono::seconds(sum);
}

std::string exact_duration(std::chrono::seconds duration) {
  return exact(static_cast<std::uint64_t>(duration.count()), kTimeUnits, kTimeUnits.size());
}

void check_address(std::string_view text) {
  constexpr std::string_view kRemedy =
      "write unix:///run/curio/cuzk.sock, 127.0.0.1:9820 or [::1]:9820";
  std::string_view rest = text;
  const auto take = [&](std::string_view prefix) {
    if (!rest.starts_with(prefix)) return false;
    rest.remove_prefix(prefix.size());
    return true;
  };
  if (take("unix://") || take("unix:")) {
    constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;
    base::require(rest.starts_with('/'), "'{}': a socket's path starts with '/': {}", text,
                  kRemedy);
    base::require(rest.size() <= kMaxPath,
                  "'{}': a socket's path has at most {} bytes, this one {}", text, kMaxPath,
                  rest.size());
    return;
  }
  base::require(take("tcp://") || take("http://") || rest.find("://") == std::string_view::npos,
                "'{}' has an unknown scheme: {}", text, kRemedy);
  const std::size_t colon = rest.rfind(':');
  base::require(colon != std::string_view::npos && colon > 0, "'{}' is no address: {}", text,
                kRemedy);
  const std::string_view host = rest.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  base::require(bracketed || host.find_first_of(":[]") == std::string_view::npos,
                "'{}': an IPv6 address stands in brackets: {}", text, kRemedy);
  base::require(host.find_first_of(" /") == std::string_view::npos, "'{}' is no address: {}", text,
                kRemedy);
  const std::string_view port = rest.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  base::require(error == std::errc{} && end == port.data() + port.size(),
                "'{}': '{}' is no port from 0 to 65535: {}", text, port, kRemedy);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // row[j]: the distance of the part of `a` read so far from the first j characters of `b`.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace cuzk::engine
