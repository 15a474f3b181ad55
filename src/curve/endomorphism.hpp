#pragma once

#include "curve/fr.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <array>
#include <cstdint>

/// Endomorphisms that multiply by a power of X = kX = -z at the price of a few products, and
/// scalars written to that base: k·P = Σ k_i·(M^i·P) with k_i of a half (G1) or a quarter (G2) of
/// k's bits.
namespace cuzk::curve {

/// Parts of a scalar in G1 and G2; M = X^(4/kScalarParts).
template <class F>
inline constexpr unsigned kScalarParts = 0;
template <>
inline constexpr unsigned kScalarParts<Fp> = 2;
template <>
inline constexpr unsigned kScalarParts<Fp2> = 4;

/// M·P for a point of the group of order r.
///   G1: (βx, -y) = X²·P with kFpCubeRoot = β. [Gallant, Lambert, Vanstone 2001]
///   G2: -ψ(P) = X·P with ψ(x, y) = (x̄·(1 + u)^-(p-1)/3, ȳ·(1 + u)^-(p-1)/2), the Frobenius of the
///   twist: it multiplies by p = z mod r. [Galbraith, Scott 2008]
AffinePoint<Fp> endomorphism(const AffinePoint<Fp>& point);
AffinePoint<Fp2> endomorphism(const AffinePoint<Fp2>& point);

/// d with k = Σ d_i·X^i mod r and |d_i| <= X/2. (r < X^4 and X is even, so that of k and -k the one
/// up to r/2 has such digits.)
std::array<std::int64_t, 4> digits_to_base_x(const Fr& k);

}  // namespace cuzk::curve
