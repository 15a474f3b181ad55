#include "gadgets/sha256.hpp"

namespace cuzk::gadgets {

namespace {

constexpr std::array<std::uint32_t, 64> first_primes() {
  std::array<std::uint32_t, 64> primes{};
  std::uint32_t candidate = 2;
  for (std::size_t found = 0; found < primes.size(); ++candidate) {
    bool is_prime = true;
    for (std::size_t i = 0; i < found; ++i) is_prime = is_prime && candidate % primes[i] != 0;
    if (is_prime) primes[found++] = candidate;
  }
  return primes;
}

// floor(2^32 · p^(1/degree)) mod 2^32 by bisection: the largest x with x^degree <= p·2^(32·degree).
// The root of a prime below 312 is less than 2^5, so x has at most 37 bits and x^3 at most 111.
constexpr std::uint32_t fractional_root(std::uint32_t prime, int degree) {
  const unsigned __int128 target = static_cast<unsigned __int128>(prime) << 32 * degree;
  std::uint64_t low = 0, high = std::uint64_t{1} << 37;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    unsigned __int128 power = 1;
    for (int i = 0; i < degree; ++i) power *= middle;
    (power <= target ? low : high) = middle;
  }
  return static_cast<std::uint32_t>(low);
}

template <std::size_t kCount>
constexpr std::array<std::uint32_t, kCount> fractional_roots(int degree) {
  std::array<std::uint32_t, kCount> out{};
  for (std::size_t i = 0; i < kCount; ++i) out[i] = fractional_root(first_primes()[i], degree);
  return out;
}

}  // namespace

const std::array<std::uint32_t, 64>& sha256_round_constants() {
  static constexpr auto kConstants = fractional_roots<64>(3);
  static_assert(kConstants[0] == 0x428a2f98 && kConstants[63] == 0xc67178f2);
  return kConstants;
}

const std::array<std::uint32_t, 8>& sha256_initial_state() {
  static constexpr auto kState = fractional_roots<8>(2);
  static_assert(kState[0] == 0x6a09e667 && kState[7] == 0x5be0cd19);
  return kState;
}

}  // namespace cuzk::gadgets
