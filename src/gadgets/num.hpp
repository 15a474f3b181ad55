#pragma once

#include "gadgets/boolean.hpp"

#include <array>
#include <span>
#include <vector>

/// Field elements in a circuit. [bellman src/gadgets/num.rs, rust-fil-proofs
/// storage-proofs-core/src/gadgets/constraint.rs]
namespace cuzk::gadgets {

template <class CS>
struct AllocatedNum {
  [[no_unique_address]] VariableOf<CS> variable;
  [[no_unique_address]] KnownFr<CS> known_value;

  const Fr value() const { return known_value.get(); }
};

/// A new aux variable; `value` is called where there are values. No constraint.
template <class CS, class F>
AllocatedNum<CS> alloc_num(CS& cs, F&& value) {
  if constexpr (requires { cs.leave_out(1); }) {
    if (cs.leave_out(1)) return {};
  }
  const KnownFr<CS> known_value = known<CS>([&]() -> Fr { return value(); });
  return {cs.alloc_aux(known_value), known_value};
}

/// A public input of the same value: input·1 = num.
template <class CS>
void inputize(CS& cs, const AllocatedNum<CS>& num) {
  const auto input = cs.alloc_input(num.known_value);
  cs.enforce(
      "enforce input is correct", [&](auto& lc) { lc.add(input); },
      [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(num.variable); });
}

/// a·1 = b.
template <class CS>
void enforce_equal(CS& cs, const char* name, const AllocatedNum<CS>& a, const AllocatedNum<CS>& b) {
  cs.enforce(
      name, [&](auto& lc) { lc.add(a.variable); }, [](auto& lc) { lc.add(Variable::one()); },
      [&](auto& lc) { lc.add(b.variable); });
}

/// (a + b)·1 = sum.
template <class CS>
AllocatedNum<CS> add(CS& cs, const AllocatedNum<CS>& a, const AllocatedNum<CS>& b) {
  const auto sum = alloc_num(cs, [&] { return a.value() + b.value(); });
  cs.enforce(
      "sum constraint", [&](auto& lc) { lc.add(a.variable).add(b.variable); },
      [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(sum.variable); });
  return sum;
}

/// (difference + b)·1 = a.
template <class CS>
AllocatedNum<CS> sub(CS& cs, const AllocatedNum<CS>& a, const AllocatedNum<CS>& b) {
  const auto difference = alloc_num(cs, [&] { return a.value() - b.value(); });
  cs.enforce(
      "subtraction constraint", [&](auto& lc) { lc.add(difference.variable).add(b.variable); },
      [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(a.variable); });
  return difference;
}

/// a·b = product.
template <class CS>
AllocatedNum<CS> mul(CS& cs, const AllocatedNum<CS>& a, const AllocatedNum<CS>& b) {
  const auto product = alloc_num(cs, [&] { return a.value() * b.value(); });
  cs.enforce(
      "multiplication constraint", [&](auto& lc) { lc.add(a.variable); },
      [&](auto& lc) { lc.add(b.variable); }, [&](auto& lc) { lc.add(product.variable); });
  return product;
}

/// a·a = square.
template <class CS>
AllocatedNum<CS> square(CS& cs, const AllocatedNum<CS>& a) {
  const auto result = alloc_num(cs, [&] { return a.value().square(); });
  cs.enforce(
      "squaring constraint", [&](auto& lc) { lc.add(a.variable); },
      [&](auto& lc) { lc.add(a.variable); }, [&](auto& lc) { lc.add(result.variable); });
  return result;
}

/// a where the condition holds, else b: (b - a)·condition = b - result.
template <class CS>
AllocatedNum<CS> pick(CS& cs, const Boolean<CS>& condition, const AllocatedNum<CS>& a,
                      const AllocatedNum<CS>& b) {
  const auto result = alloc_num(cs, [&] { return condition.value() ? a.value() : b.value(); });
  cs.enforce(
      "pick", [&](auto& lc) { lc.add(b.variable).sub(a.variable); },
      [&](auto& lc) { condition.add_to(lc, Fr::one()); },
      [&](auto& lc) { lc.add(b.variable).sub(result.variable); });
  return result;
}

/// 2^0, 2^1, ..., 2^254.
const std::array<Fr, Fr::kNumBits>& powers_of_two();

/// Adds Σ 2^i·bits[i] to a linear combination.
template <class Lc, class Bits>
void add_bits_to(Lc& lc, const Bits& bits) {
  for (std::size_t i = 0; i < bits.size(); ++i) lc.add(bits[i].variable, powers_of_two()[i]);
}

/// The 255 low-order-first bits of a field element, each with its boolean constraint and nothing
/// that ties them to it.
template <class CS>
std::vector<AllocatedBit<CS>> alloc_field_bits(CS& cs, const AllocatedNum<CS>& num) {
  std::array<std::uint64_t, 4> limbs{};
  if constexpr (CS::kHasValues) limbs = num.value().to_canonical();
  std::vector<AllocatedBit<CS>> bits;
  bits.reserve(Fr::kNumBits);
  for (unsigned i = 0; i < Fr::kNumBits; ++i) {
    const auto scope = cs.scope("bit {}", i);
    bits.push_back(alloc_bit(cs, [&] { return (limbs[i / 64] >> i % 64 & 1) != 0; }));
  }
  return bits;
}

/// Bits of a number, lowest first: 0·0 = Σ 2^i·bit_i - num. The bits may be those of num + r.
template <class CS>
std::vector<Boolean<CS>> to_bits_le(CS& cs, const AllocatedNum<CS>& num) {
  const auto bits = alloc_field_bits(cs, num);
  cs.enforce(
      "unpacking constraint", [](auto&) {}, [](auto&) {},
      [&](auto& lc) {
        add_bits_to(lc, bits);
        lc.sub(num.variable);
      });
  return {bits.begin(), bits.end()};
}

/// The same as allocated bits, tied by (Σ 2^i·bit_i)·1 = num.
/// [rust-fil-proofs storage-proofs-update/src/gadgets.rs allocated_num_to_allocated_bits]
template <class CS>
std::vector<AllocatedBit<CS>> to_allocated_bits_le(CS& cs, const AllocatedNum<CS>& num) {
  auto bits = alloc_field_bits(cs, num);
  cs.enforce(
      "binary decomp", [&](auto& lc) { add_bits_to(lc, bits); },
      [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(num.variable); });
  return bits;
}

/// Swaps (a, b) where the condition holds: (a - b)·condition = a - c and (b - a)·condition = b - d.
template <class CS>
std::pair<AllocatedNum<CS>, AllocatedNum<CS>> conditionally_reverse(CS& cs,
                                                                    const AllocatedNum<CS>& a,
                                                                    const AllocatedNum<CS>& b,
                                                                    const Boolean<CS>& condition) {
  const auto first = pick(cs, condition, b, a);
  const auto second = pick(cs, condition, a, b);
  return {first, second};
}

}  // namespace cuzk::gadgets
