#pragma once

#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace cuzk::groth16 {

/// Whether points, which must be on their curve, lie in the subgroup of order r; they may come
/// piece by piece. Each piece is worked on in parallel; one thread uses the object at a time. How:
/// each point goes into a random one of B buckets, and every bucket's sum is checked; this is
/// repeated with fresh randomness. If some point lies outside, fix where all others went: their
/// sums are wrong in at most one bucket by just the amount that this point makes up for, so a round
/// passes with probability at most 1/B. The rounds together let wrong points pass with probability
/// at most 2^-64. Few points are checked one by one.
template <class F>
class GroupCheck {
 public:
  /// For about `count` points in all: how many decides how they are checked, not what is found.
  explicit GroupCheck(std::size_t count);
  ~GroupCheck();
  GroupCheck(const GroupCheck&) = delete;
  GroupCheck& operator=(const GroupCheck&) = delete;

  void add(std::span<const curve::AffinePoint<F>> points);
  /// Whether all points added lie in the subgroup. Ends the use of the object.
  bool passes();

 private:
  class Round;

  bool one_by_one_ = false, good_ = true;
  std::vector<std::unique_ptr<Round>> rounds_;
};

extern template class GroupCheck<curve::Fp>;
extern template class GroupCheck<curve::Fp2>;

/// The same for points that are all there.
template <class F>
bool all_in_group(std::span<const curve::AffinePoint<F>> points);

extern template bool all_in_group(std::span<const curve::G1Affine>);
extern template bool all_in_group(std::span<const curve::G2Affine>);

}  // namespace cuzk::groth16
