#pragma once

#include "curve/batch_add.hpp"
#include "curve/fr.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

/// Sums of many points: Σ scalar_i · base_i over G1 (F = Fp) or G2 (F = Fp2). Parallel; any points
/// of the curve's subgroup, infinity included.
namespace cuzk::groth16 {

/// Whether scalars are split by the group's endomorphism (curve/endomorphism.hpp): two parts in G1,
/// four in G2, so that fewer windows have buckets to sum up, for as many more points.
enum class ScalarSplit { kBySize, kNever, kAlways };

struct MsmOptions {
  /// Bits of the widest windows; 0 chooses by size. 2 to kMaxWindowBits, from 3 where scalars are
  /// always split in two; anything else throws InvalidInput.
  unsigned window_bits = 0;
  curve::Arithmetic arithmetic = curve::Arithmetic::kBest;
  ScalarSplit split = ScalarSplit::kBySize;
};
inline constexpr unsigned kMaxWindowBits = 20;

/// Σ scalars[i]·bases[i], as a part of a larger sum.
template <class F>
struct MsmTerms {
  std::span<const curve::AffinePoint<F>> bases;
  std::span<const curve::Fr> scalars;
};

/// The sum over all terms together, for scalars of any size (dense). Signed digits, buckets in
/// affine form, one inversion for a batch of additions. [Pippenger 1976; batched affine buckets:
/// ePrint 2022/1396] Throws InvalidInput if the sizes of terms differ. Cost: n·⌈255/c⌉ additions,
/// and 2·2^(c-1) for each of the ⌈255/c⌉ windows of c bits; in s parts sn·⌈256/(sc)⌉, and 2·2^(c-1)
/// for each of ⌈256/(sc)⌉ windows, and memory for (s-1)n points.
template <class F>
curve::JacobianPoint<F> msm(std::span<const MsmTerms<F>> terms, const MsmOptions& options = {});
template <class F>
curve::JacobianPoint<F> msm(std::span<const curve::AffinePoint<F>> bases,
                            std::span<const curve::Fr> scalars, const MsmOptions& options = {}) {
  const MsmTerms<F> terms{bases, scalars};
  return msm<F>(std::span<const MsmTerms<F>>(&terms, 1), options);
}

/// How msm cuts scalars.
struct MsmWindows {
  unsigned bits, parts;
};
/// What it chooses for n scalars: parts is 1 or `split_parts`, which is 2 or 4.
MsmWindows msm_windows(std::size_t n, unsigned split_parts, const MsmOptions& options = {});

/// For scalars 0 and 1: the sum of the points whose bit is set. `mask` says, among all variables,
/// which have a point: the k-th set bit of `mask` belongs to points[k], and that point is added if
/// the same bit of `bits` is set. Both have the same number of words; mask has points.size() bits
/// set. Throws InvalidInput if not.
template <class F>
curve::JacobianPoint<F> batch_add(std::span<const curve::AffinePoint<F>> points,
                                  std::span<const std::uint64_t> mask,
                                  std::span<const std::uint64_t> bits);

extern template curve::JacobianPoint<curve::Fp> msm(std::span<const MsmTerms<curve::Fp>>,
                                                    const MsmOptions&);
extern template curve::JacobianPoint<curve::Fp2> msm(std::span<const MsmTerms<curve::Fp2>>,
                                                     const MsmOptions&);
extern template curve::JacobianPoint<curve::Fp> batch_add(std::span<const curve::G1Affine>,
                                                          std::span<const std::uint64_t>,
                                                          std::span<const std::uint64_t>);
extern template curve::JacobianPoint<curve::Fp2> batch_add(std::span<const curve::G2Affine>,
                                                           std::span<const std::uint64_t>,
                                                           std::span<const std::uint64_t>);

}  // namespace cuzk::groth16
