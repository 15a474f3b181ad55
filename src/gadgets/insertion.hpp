#pragma once

#include "base/error.hpp"
#include "gadgets/num.hpp"

#include <span>
#include <vector>

/// Choosing and inserting by bits, lowest first. [rust-fil-proofs
/// storage-proofs-core/src/gadgets/insertion.rs]
namespace cuzk::gadgets {

/// from[index], where the bits are the index: a tree of picks, the highest bit first.
template <class CS>
AllocatedNum<CS> select(CS& cs, std::span<const AllocatedNum<CS>> from,
                        std::span<const Boolean<CS>> bits) {
  std::vector<AllocatedNum<CS>> left(from.begin(), from.end());
  for (std::size_t i = bits.size(); i-- > 0;) {
    const std::size_t half = left.size() / 2;
    for (std::size_t j = 0; j < half; ++j) {
      const auto scope = cs.scope("pick {}, {}", bits.size() - 1 - i, j);
      left[j] = pick(cs, bits[i], left[half + j], left[j]);
    }
    left.resize(half);
  }
  return left[0];
}

namespace detail {

template <class CS>
using Nums = std::vector<AllocatedNum<CS>>;

// In the tables below x is the element, e the others; the comment gives the output position and
// which bits are settled.

template <class CS>
Nums<CS> insert_2(CS& cs, const AllocatedNum<CS>& x, const Boolean<CS>& bit,
                  std::span<const AllocatedNum<CS>> e) {
  const auto p0 = pick(cs, bit, e[0], x);
  const auto p1 = pick(cs, bit, x, e[0]);
  return {p0, p1};
}

template <class CS>
Nums<CS> insert_4(CS& cs, const AllocatedNum<CS>& x, std::span<const Boolean<CS>> bits,
                  std::span<const AllocatedNum<CS>> e) {
  const Boolean<CS>&b0 = bits[0], &b1 = bits[1];
  const auto p0_low = pick(cs, b0, e[0], x);
  const auto p0 = pick(cs, b1, e[0], p0_low);
  const auto p1_low = pick(cs, b0, x, e[0]);
  const auto p1 = pick(cs, b1, e[1], p1_low);
  const auto p2_high = pick(cs, b0, e[2], x);
  const auto p2 = pick(cs, b1, p2_high, e[1]);
  const auto p3_high = pick(cs, b0, x, e[2]);
  const auto p3 = pick(cs, b1, p3_high, e[2]);
  return {p0, p1, p2, p3};
}

template <class CS>
Nums<CS> insert_8(CS& cs, const AllocatedNum<CS>& x, std::span<const Boolean<CS>> bits,
                  std::span<const AllocatedNum<CS>> e) {
  const Boolean<CS>&b0 = bits[0], &b1 = bits[1], &b2 = bits[2];
  const Boolean<CS> neither = bit_nor(cs, b0.bit(), b1.bit());
  const Boolean<CS> both = bit_and(cs, b0.bit(), b1.bit());

  const auto p0_low = pick(cs, neither, x, e[0]);
  const auto p0 = pick(cs, b2, e[0], p0_low);

  const auto p1_00 = pick(cs, b0, x, e[0]);
  const auto p1_low = pick(cs, b1, e[1], p1_00);
  const auto p1 = pick(cs, b2, e[1], p1_low);

  const auto p2_10 = pick(cs, b0, e[2], x);
  const auto p2_low = pick(cs, b1, p2_10, e[1]);
  const auto p2 = pick(cs, b2, e[2], p2_low);

  const auto p3_low = pick(cs, both, x, e[2]);
  const auto p3 = pick(cs, b2, e[3], p3_low);

  const auto p4_high = pick(cs, neither, x, e[4]);
  const auto p4 = pick(cs, b2, p4_high, e[3]);

  const auto p5_01 = pick(cs, b0, x, e[4]);
  const auto p5_high = pick(cs, b1, e[5], p5_01);
  const auto p5 = pick(cs, b2, p5_high, e[4]);

  const auto p6_11 = pick(cs, b0, e[6], x);
  const auto p6_high = pick(cs, b1, p6_11, e[5]);
  const auto p6 = pick(cs, b2, p6_high, e[5]);

  const auto p7_high = pick(cs, both, x, e[6]);
  const auto p7 = pick(cs, b2, p7_high, e[6]);
  return {p0, p1, p2, p3, p4, p5, p6, p7};
}

// Position p of the result is e[p-1], x or e[p] as the index is below, at or above p: one select
// each.
template <class CS>
Nums<CS> insert_any(CS& cs, const AllocatedNum<CS>& x, std::span<const Boolean<CS>> bits,
                    std::span<const AllocatedNum<CS>> e) {
  const std::size_t size = e.size() + 1;
  Nums<CS> out, choices(size);
  for (std::size_t position = 0; position < size; ++position) {
    const auto scope = cs.scope("choice at {}", position);
    for (std::size_t index = 0; index < size; ++index) {
      choices[index] = position < index ? e[position] : position == index ? x : e[position - 1];
    }
    out.push_back(select<CS>(cs, choices, bits));
  }
  return out;
}

}  // namespace detail

/// `element` inserted among `others` at the index that the bits are; others.size() + 1 =
/// 2^bits.size(). Sizes 2, 4 and 8 have fewer constraints than the general form and need unnegated,
/// allocated bits.
template <class CS>
std::vector<AllocatedNum<CS>> insert(CS& cs, const AllocatedNum<CS>& element,
                                     std::span<const Boolean<CS>> bits,
                                     std::span<const AllocatedNum<CS>> others) {
  switch (bits.size()) {
    case 1:
      return detail::insert_2(cs, element, bits[0], others);
    case 2:
      return detail::insert_4(cs, element, bits, others);
    case 3:
      return detail::insert_8(cs, element, bits, others);
    default:
      return detail::insert_any(cs, element, bits, others);
  }
}

}  // namespace cuzk::gadgets
