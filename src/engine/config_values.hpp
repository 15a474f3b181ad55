#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cuzk::engine {

/// Values of the configuration as text. Parsers throw base::InvalidInput that says what is wrong
/// and shows a right value; where it stands is added by whoever knows.

/// "256GiB", "1.5 TiB", "512MB", "1024": a number, with a fraction if there is a unit, and a unit:
/// B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (powers of 1000), in any case. Rounded
/// down to a whole byte.
std::uint64_t parse_size(std::string_view text);
/// In the largest unit of 1024 that the number is a multiple of, else in bytes with "B"; parses
/// back to the same.
std::string exact_size(std::uint64_t bytes);
/// For people: "251.4 GiB".
std::string format_size(std::uint64_t bytes);

/// "300s", "5m", "1h", "2d", "1h30m", or seconds without a unit.
std::chrono::seconds parse_duration(std::string_view text);
/// In the largest unit that the number is a multiple of; parses back to the same.
std::string exact_duration(std::chrono::seconds duration);

/// An address to listen on: "unix:///run/cuzk.sock" or "unix:/run/cuzk.sock" with an absolute path
/// of at most 107 bytes, "host:port", "[IPv6]:port", the last two also behind "tcp://" or
/// "http://".
void check_address(std::string_view text);

/// Of the words the one that is fewest single-character changes away, if they are few in relation
/// to its length; else empty.
template <class Words>
std::string_view nearest(std::string_view word, const Words& words);
std::size_t edit_distance(std::string_view a, std::string_view b);

template <class Words>
std::string_view nearest(std::string_view word, const Words& words) {
  std::string_view best;
  std::size_t best_distance = SIZE_MAX;
  for (const auto& candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best_distance * 3 <= word.size() ? best : std::string_view();
}

}  // namespace cuzk::engine
