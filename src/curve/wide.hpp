#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Integers of a fixed number of 64-bit limbs, least significant first, at compile time: what the
/// curve's parameters are derived with. Plain and slow; no function is meant for data.
namespace cuzk::curve::wide {

template <std::size_t N>
using Limbs = std::array<std::uint64_t, N>;

/// a + b and the carry out.
template <std::size_t N>
constexpr bool add(Limbs<N>& a, const Limbs<N>& b) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const unsigned __int128 sum = static_cast<unsigned __int128>(a[i]) + b[i] + carry;
    a[i] = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
  return carry != 0;
}

/// a - b and the borrow out.
template <std::size_t N>
constexpr bool subtract(Limbs<N>& a, const Limbs<N>& b) {
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const unsigned __int128 difference = static_cast<unsigned __int128>(a[i]) - b[i] - borrow;
    a[i] = static_cast<std::uint64_t>(difference);
    borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
  }
  return borrow != 0;
}

template <std::size_t N, std::size_t M>
constexpr Limbs<N + M> multiply(const Limbs<N>& a, const Limbs<M>& b) {
  Limbs<N + M> out{};
  for (std::size_t i = 0; i < N; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < M; ++j) {
      const unsigned __int128 t = static_cast<unsigned __int128>(a[i]) * b[j] + out[i + j] + carry;
      out[i + j] = static_cast<std::uint64_t>(t);
      carry = static_cast<std::uint64_t>(t >> 64);
    }
    out[i + M] = carry;
  }
  return out;
}

/// a / divisor, rounded down; `remainder` gets the rest.
template <std::size_t N>
constexpr Limbs<N> divide(const Limbs<N>& a, std::uint64_t divisor, std::uint64_t& remainder) {
  Limbs<N> out{};
  unsigned __int128 rest = 0;
  for (std::size_t i = N; i-- > 0;) {
    rest = rest << 64 | a[i];
    out[i] = static_cast<std::uint64_t>(rest / divisor);
    rest %= divisor;
  }
  remainder = static_cast<std::uint64_t>(rest);
  return out;
}

template <std::size_t N>
constexpr bool less(const Limbs<N>& a, const Limbs<N>& b) {
  Limbs<N> difference = a;
  return subtract(difference, b);
}

template <std::size_t N>
constexpr Limbs<N> shift_right(Limbs<N> a, unsigned bits) {
  for (; bits > 0; --bits) {
    for (std::size_t i = 0; i < N; ++i) a[i] = a[i] >> 1 | (i + 1 < N ? a[i + 1] << 63 : 0);
  }
  return a;
}

/// `count` < 64 bits of a from bit `first` on; beyond its end there are zeros.
template <std::size_t N>
constexpr std::uint64_t bits(const Limbs<N>& a, unsigned first, unsigned count) {
  const unsigned limb = first / 64, shift = first % 64;
  std::uint64_t out = limb < N ? a[limb] >> shift : 0;
  if (shift + count > 64 && limb + 1 < N) out |= a[limb + 1] << (64 - shift);
  return out & ((std::uint64_t{1} << count) - 1);
}

template <std::size_t N>
constexpr unsigned bit_width(const Limbs<N>& a) {
  for (std::size_t i = 64 * N; i-- > 0;) {
    if (a[i / 64] >> i % 64 & 1) return static_cast<unsigned>(i + 1);
  }
  return 0;
}

template <std::size_t N>
constexpr unsigned trailing_zeros(const Limbs<N>& a) {
  for (std::size_t i = 0; i < 64 * N; ++i) {
    if (a[i / 64] >> i % 64 & 1) return static_cast<unsigned>(i);
  }
  return 64 * N;
}

/// The same integer in M limbs; the limbs dropped must be zero.
template <std::size_t M, std::size_t N>
constexpr Limbs<M> resize(const Limbs<N>& a) {
  Limbs<M> out{};
  for (std::size_t i = 0; i < M && i < N; ++i) out[i] = a[i];
  return out;
}

}  // namespace cuzk::curve::wide
