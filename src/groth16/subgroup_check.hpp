#pragma once

#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <span>

namespace cuzk::groth16 {

/// Whether all points, which must be on their curve, lie in the subgroup of order r. In parallel.
/// How: each point goes into a random one of B buckets, and every bucket's sum is checked; this is
/// repeated with fresh randomness. If some point lies outside, fix where all others went: their
/// sums are wrong in at most one bucket by just the amount that this point makes up for, so a round
/// passes with probability at most 1/B. The rounds together let wrong points pass with probability
/// at most 2^-64. Few points are checked one by one.
template <class F>
bool all_in_group(std::span<const curve::AffinePoint<F>> points);

extern template bool all_in_group(std::span<const curve::G1Affine>);
extern template bool all_in_group(std::span<const curve::G2Affine>);

}  // namespace cuzk::groth16
