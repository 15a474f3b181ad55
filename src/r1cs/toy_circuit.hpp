#pragma once

#include "r1cs/constraint_system.hpp"

#include <vector>

/// A small circuit for this layer's tests: bits and field elements mixed, a repeat with inputs of
/// its own, variables from before it and ports, and constraints after it. Not for anything else.
namespace cuzk::r1cs::toy {

/// Where a test makes one copy or one value differ.
struct Mistakes {
  bool extra_constraint = false;   ///< in copy 1
  bool other_coefficient = false;  ///< in copy 1
  bool other_kind = false;         ///< a field element instead of a bit, in copy 1
  bool other_copy = false;         ///< copy 1 uses a variable of copy 0
  bool wrong_value = false;        ///< copy 1's square is off by one
};

template <class CS>
VariableOf<CS> bit(CS& cs, bool value) {
  const auto variable = cs.alloc_bit(known<CS>([&] { return value; }));
  cs.enforce(
      "boolean", [&](auto& lc) { lc.add(Variable::one()).sub(variable); },
      [&](auto& lc) { lc.add(variable); }, [](auto&) {});
  return variable;
}

template <class CS>
VariableOf<CS> field(CS& cs, const curve::Fr& value) {
  return cs.alloc_aux(known<CS>([&] { return value; }));
}

/// One copy: an input x, `bits` bits, x² = y, y² = z, and a sum over a shared variable and the
/// copy's port.
template <class CS>
void copy_body(CS& cs, std::size_t i, unsigned bits, VariableOf<CS> shared, VariableOf<CS> port,
               VariableOf<CS>& leaked, const Mistakes& mistakes) {
  const auto scope = cs.scope("copy {}", i);
  const bool wrong = i == 1;
  const curve::Fr x = curve::Fr::from_u64(10 + i);
  const auto input = cs.alloc_input(known<CS>([&] { return x; }));
  for (unsigned b = 0; b < bits; ++b) bit(cs, ((i + b) % 3) == 0);
  if (wrong && mistakes.other_kind) {
    field(cs, curve::Fr::one());
  } else {
    bit(cs, true);
  }
  const curve::Fr square =
      x.square() + (wrong && mistakes.wrong_value ? curve::Fr::one() : curve::Fr::zero());
  const auto y = field(cs, square);
  cs.enforce(
      "square", [&](auto& lc) { lc.add(input); }, [&](auto& lc) { lc.add(input); },
      [&](auto& lc) { lc.add(y); });
  const auto z = field(cs, square.square());
  cs.enforce(
      "square again", [&](auto& lc) { lc.add(y); }, [&](auto& lc) { lc.add(y); },
      [&](auto& lc) { lc.add(z); });
  // 0 = (y + 3·shared - port)·0: any coefficients will do.
  const auto three = curve::Fr::from_u64(wrong && mistakes.other_coefficient ? 4 : 3);
  cs.enforce(
      "sum",
      [&](auto& lc) {
        lc.add(y).add(shared, three).sub(port);
        if (wrong && mistakes.other_copy) lc.add(leaked);
      },
      [](auto&) {}, [](auto&) {});
  if (wrong && mistakes.extra_constraint)
    cs.enforce(
        "extra", [](auto&) {}, [](auto&) {}, [](auto&) {});
  if (i == 0) leaked = y;
}

template <class CS>
void circuit(CS& cs, std::size_t copies, unsigned bits = 5, const Mistakes& mistakes = {}) {
  const auto shared = field(cs, curve::Fr::from_u64(7));
  bit(cs, true);
  std::vector<VariableOf<CS>> ports;
  // Allocated backwards, so that the order of ports is not the order of their variables.
  for (std::size_t i = 0; i < copies; ++i)
    ports.insert(ports.begin(), field(cs, curve::Fr::from_u64(100 + i)));
  VariableOf<CS> leaked{};
  const auto ports_of = [&](std::size_t i) {
    std::vector<Variable> out;
    if constexpr (CS::kHasConstraints) out.push_back(ports[i]);
    return out;
  };
  cs.repeat(copies, ports_of, [&](CS& copy, std::size_t i) {
    copy_body(copy, i, bits, shared, ports[i], leaked, mistakes);
  });
  const auto last = field(cs, curve::Fr::from_u64(21));
  // shared·3 = last, and the first copy's y is seen from outside.
  cs.enforce(
      "after", [&](auto& lc) { lc.add(shared); },
      [](auto& lc) { lc.add(Variable::one(), curve::Fr::from_u64(3)); },
      [&](auto& lc) { lc.add(last); });
  bit(cs, false);
}

}  // namespace cuzk::r1cs::toy
