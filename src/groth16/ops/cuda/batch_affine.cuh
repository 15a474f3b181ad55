#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/points.hpp"

/// Affine additions that share inversions (Montgomery's trick). A thread (a pair of lanes in G2)
/// takes many independent additions:
///
/// - down: d_k = denominator of addition k. prefix_k = product of d_0 .. d_(k-1) is stored, and d_k
///   goes into the running product. 1 product.
/// - The running products are inverted, joined once more across the warps of a block, one warp
///   inverting in lockstep.
/// - up: 1/d_k = inverse·prefix_k; the inverse loses d_k; the addition is finished. 4 products, 1
///   square.
///
/// Prefixes go through scratch memory in planes of 16-byte words, [k][3][threads], so that every
/// access is coalesced.
namespace cuzk::groth16::cuda {

using curve::device::PairKind;

/// Scratch words (16 bytes) of one prefix, of one affine point.
inline constexpr unsigned kFieldWords = 3;
inline constexpr unsigned kPointWords = 6;
/// Products that one inversion joins.
inline constexpr unsigned kJoined = 4;

/// A field element in planes: word i of this thread at p[i·threads].
template <class G>
CUZK_DEVICE void put_field(uint4* p, unsigned threads, const typename G::Field& f) {
  curve::device::memory::store(p, threads, G::raw(f));
}
template <class G>
CUZK_DEVICE typename G::Field get_field(const uint4* p, unsigned threads) {
  return typename G::Field{curve::device::memory::load(p, threads)};
}

/// The warp whose turn it is to invert, where the grid is what is resident, `Blocks` on each
/// multiprocessor, and `round` counts the inversions.
template <unsigned Blocks>
CUZK_DEVICE unsigned inverting_warp(unsigned round) {
  return round + blockIdx.x / (gridDim.x / Blocks);
}

/// Shared memory of block_inverse(), in words of 16 bytes.
template <unsigned Threads, unsigned Share>
inline constexpr unsigned kInverseWords =
    Share == 1 ? 0 : kFieldWords*(Threads + Threads / Share * (Share == kJoined ? 1 : 1 + kJoined));

/// 1/x for every thread of the block, x not zero: sets of Share warps multiply theirs together, so
/// that one warp in Share inverts: number `turn` of them, modulo Share. Warps of all blocks with
/// the same number share a scheduler, so `turn` should differ among the blocks of a multiprocessor,
/// or change. Meanwhile the others multiply what is not their own, so that one product is left to
/// do. Contains barriers: all threads of the block call it together. `shared` holds kInverseWords.
template <class G, unsigned Threads, unsigned Share>
CUZK_DEVICE typename G::Field block_inverse(const typename G::Field& x, uint4* shared,
                                            unsigned turn) {
  using Field = typename G::Field;
  if constexpr (Share == 1) {
    return inverse(x);
  } else {
    // Four groups a set, each of as many warps.
    constexpr unsigned kEach = Share / kJoined, kLane = Threads / Share;
    static_assert(Share % kJoined == 0 && Threads % (32 * Share) == 0);
    const unsigned warp = threadIdx.x / 32 % Share, set = threadIdx.x / (32 * Share),
                   lane = set * 32 + threadIdx.x % 32, group = warp / kEach;
    // [3][Share][kLane] values, [3][kLane] inverses, [3][kJoined][kLane] products of groups.
    uint4* inverses = shared + kFieldWords * Threads + lane;
    const auto value = [&](unsigned w) { return get_field<G>(shared + w * kLane + lane, Threads); };
    const auto product = [&](unsigned g) {
      if constexpr (kEach == 1) return value(g);
      return get_field<G>(inverses + (kFieldWords + g) * kLane, kJoined * kLane);
    };
    put_field<G>(shared + warp * kLane + lane, Threads, x);
    __syncthreads();
    if constexpr (kEach > 1) {
      if (warp < kJoined) {
        Field all = value(kEach * warp);
        CUZK_NO_UNROLL
        for (unsigned i = 1; i < kEach; ++i) all = mul(all, value(kEach * warp + i));
        put_field<G>(inverses + (kFieldWords + warp) * kLane, kJoined * kLane, all);
      }
      __syncthreads();
    }
    const bool inverts = warp == turn % Share;
    if (inverts)
      put_field<G>(inverses, kLane,
                   inverse(mul(mul(product(0), product(1)), mul(product(2), product(3)))));
    Field rest = mul(mul(product(group ^ 1), product(group ^ 2)), product(group ^ 3));
    CUZK_NO_UNROLL
    for (unsigned i = 1; i < kEach; ++i)
      rest = mul(rest, value(kEach * group + (warp + i) % kEach));
    __syncthreads();
    const Field result = mul(get_field<G>(inverses, kLane), rest);
    __syncthreads();
    return result;
  }
}

/// What an addition adds.
template <class G>
struct PointPair {
  curve::device::Affine<typename G::Field> a, b;
};

/// Denominator of a + b from the x-coordinates, where that is enough; `points()` fetches both
/// points where it is not.
template <class G, class Points>
CUZK_DEVICE typename G::Field pair_denominator(const typename G::Field& x1,
                                               const typename G::Field& x2, const Points& points) {
  using Field = typename G::Field;
  const Field difference = sub<2>(x2, x1);
  const bool suspect = pair_is_suspect(x1, x2, difference);
  if (!Field::any(suspect)) return difference;
  const auto [a, b] = points();
  return denominator(classify_pair(a, b), difference, a.y);
}

/// The way up for one addition: a + b, given the inverse of the product of all denominators up to
/// and including this one's and the product of those before it; `inverse` loses this one's. The
/// points are asked for after the products that need their x-coordinates alone.
template <class G, class Points>
CUZK_DEVICE curve::device::Affine<typename G::Field> take_from_batch(
    const typename G::Field& x1, const typename G::Field& x2, const typename G::Field& prefix,
    typename G::Field& inverse, const Points& points) {
  using Field = typename G::Field;
  const Field difference = sub<2>(x2, x1), mine = mul(inverse, prefix);
  const bool suspect = pair_is_suspect(x1, x2, difference);
  if (Field::any(suspect)) {
    const auto [a, b] = points();
    const PairKind kind = classify_pair(a, b);
    inverse = mul(inverse, denominator(kind, difference, a.y));
    return finish_pair(kind, a, b, mine);
  }
  inverse = mul(inverse, difference);
  const auto [a, b] = points();
  return finish_chord(a, b, mine);
}

}  // namespace cuzk::groth16::cuda
