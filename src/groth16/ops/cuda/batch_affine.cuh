#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/points.hpp"

/// Affine additions that share inversions (Montgomery's trick). A thread (a pair of lanes in G2)
/// takes many independent additions:
///
///   down   d_k = denominator of addition k; store the product of d_0 .. d_(k-1); running product
///   *= d_k      1 product invert the running products, joined once more across the warps of a
///   block, one warp inverting in lockstep up     1/d_k = inverse·prefix_k; inverse *= d_k; finish
///   the addition                      4 products, 1 square
///
/// Prefixes go through scratch memory in planes of 16-byte words, [k][3][threads], so that every
/// access is coalesced.
namespace cuzk::groth16::cuda {

using curve::device::PairKind;

/// Scratch words (16 bytes) of one prefix, of one affine point.
inline constexpr unsigned kFieldWords = 3;
inline constexpr unsigned kPointWords = 6;

/// A field element in planes: word i of this thread at p[i·threads].
template <class G>
CUZK_DEVICE void put_field(uint4* p, unsigned threads, const typename G::Field& f) {
  curve::device::memory::store(p, threads, G::raw(f));
}
template <class G>
CUZK_DEVICE typename G::Field get_field(const uint4* p, unsigned threads) {
  return typename G::Field{curve::device::memory::load(p, threads)};
}

/// 1/x for every thread of the block, x not zero: groups of Share warps multiply theirs together,
/// so that one warp in Share inverts. Contains barriers: all threads of the block call it together.
/// `shared` holds 3·Threads words.
template <class G, unsigned Threads, unsigned Share>
CUZK_DEVICE typename G::Field block_inverse(const typename G::Field& x, uint4* shared) {
  if constexpr (Share == 1) {
    return inverse(x);
  } else {
    static_assert(Share == 4 && Threads % (32 * Share) == 0);
    const unsigned t = threadIdx.x, first = t / (32 * Share) * (32 * Share), lane = t % 32;
    put_field<G>(shared + t, Threads, x);
    __syncthreads();
    if (t - first < 32) {
      const auto slot = [&](unsigned warp) { return shared + first + 32 * warp + lane; };
      const auto a01 = mul(get_field<G>(slot(0), Threads), get_field<G>(slot(1), Threads));
      const auto a23 = mul(get_field<G>(slot(2), Threads), get_field<G>(slot(3), Threads));
      const auto all = inverse(mul(a01, a23));
      const auto inverse01 = mul(all, a23), inverse23 = mul(all, a01);
      const auto split = [&](const typename G::Field& joint, unsigned i, unsigned j) {
        const auto a = get_field<G>(slot(i), Threads), b = get_field<G>(slot(j), Threads);
        put_field<G>(slot(i), Threads, mul(joint, b));
        put_field<G>(slot(j), Threads, mul(joint, a));
      };
      split(inverse01, 0, 1);
      split(inverse23, 2, 3);
    }
    __syncthreads();
    const auto result = get_field<G>(shared + t, Threads);
    __syncthreads();
    return result;
  }
}

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
/// and including this one's and the product of those before it; `inverse` loses this one's.
template <class G>
CUZK_DEVICE curve::device::Affine<typename G::Field> take_from_batch(
    const curve::device::Affine<typename G::Field>& a,
    const curve::device::Affine<typename G::Field>& b, const typename G::Field& prefix,
    typename G::Field& inverse) {
  using Field = typename G::Field;
  const Field difference = sub<2>(b.x, a.x), mine = mul(inverse, prefix);
  const bool suspect = pair_is_suspect(a.x, b.x, difference);
  if (Field::any(suspect)) {
    const PairKind kind = classify_pair(a, b);
    inverse = mul(inverse, denominator(kind, difference, a.y));
    return finish_pair(kind, a, b, mine);
  }
  inverse = mul(inverse, difference);
  return finish_chord(a, b, mine);
}

}  // namespace cuzk::groth16::cuda
