#pragma once

#include "r1cs/constraint_system.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Bits in a circuit. [bellman src/gadgets/boolean.rs; every constraint is in the comment beside
/// it]
namespace cuzk::gadgets {

using curve::Fr;
using r1cs::ConstraintSystem;
using r1cs::known;
using r1cs::KnownBit;
using r1cs::KnownFr;
using r1cs::Variable;
using r1cs::VariableOf;

/// A variable that a constraint, somewhere, makes 0 or 1.
template <class CS>
struct AllocatedBit {
  [[no_unique_address]] VariableOf<CS> variable;
  [[no_unique_address]] KnownBit<CS> known_value;

  bool value() const { return known_value.get(); }
};

/// An allocated bit, the negation of one, or a constant.
template <class CS>
class Boolean {
 public:
  /// Constant false.
  Boolean() = default;
  static Boolean constant(bool value) { return Boolean(value ? Kind::kTrue : Kind::kFalse, {}); }
  Boolean(const AllocatedBit<CS>& bit)
      : Boolean(Kind::kIs, bit) {}  // NOLINT(google-explicit-constructor)

  bool is_constant() const { return kind_ == Kind::kFalse || kind_ == Kind::kTrue; }
  bool is_constant(bool value) const { return kind_ == (value ? Kind::kTrue : Kind::kFalse); }
  bool is_negated() const { return kind_ == Kind::kNot; }
  /// Where not constant.
  const AllocatedBit<CS>& bit() const { return bit_; }
  bool value() const { return is_constant() ? kind_ == Kind::kTrue : bit_.value() != is_negated(); }

  Boolean operator!() const {
    constexpr Kind kNegated[] = {Kind::kTrue, Kind::kFalse, Kind::kNot, Kind::kIs};
    return Boolean(kNegated[static_cast<unsigned>(kind_)], bit_);
  }

  /// Adds coefficient · this to a linear combination.
  template <class Lc>
  void add_to(Lc& lc, const Fr& coefficient) const {
    switch (kind_) {
      case Kind::kFalse:
        break;
      case Kind::kTrue:
        lc.add(Variable::one(), coefficient);
        break;
      case Kind::kIs:
        lc.add(bit_.variable, coefficient);
        break;
      case Kind::kNot:
        lc.add(Variable::one(), coefficient).sub(bit_.variable, coefficient);
        break;
    }
  }

 private:
  enum class Kind : std::uint8_t { kFalse, kTrue, kIs, kNot };
  Boolean(Kind kind, const AllocatedBit<CS>& bit) : bit_(bit), kind_(kind) {}

  AllocatedBit<CS> bit_{};
  Kind kind_ = Kind::kFalse;
};

/// A variable of value 0 or 1, without the constraint that makes it so.
template <class CS>
AllocatedBit<CS> alloc_unconstrained_bit(CS& cs, KnownBit<CS> value) {
  return {cs.alloc_bit(value), value};
}

/// (1 - x)·x = 0.
template <class CS, class F>
AllocatedBit<CS> alloc_bit(CS& cs, F&& value) {
  const AllocatedBit<CS> bit = alloc_unconstrained_bit(cs, known<CS>(value));
  cs.enforce(
      "boolean constraint", [&](auto& lc) { lc.add(Variable::one()).sub(bit.variable); },
      [&](auto& lc) { lc.add(bit.variable); }, [](auto&) {});
  return bit;
}

/// 2a·b = a + b - c.
template <class CS>
AllocatedBit<CS> bit_xor(CS& cs, const AllocatedBit<CS>& a, const AllocatedBit<CS>& b) {
  const auto c = alloc_unconstrained_bit(cs, known<CS>([&] { return a.value() != b.value(); }));
  cs.enforce(
      "xor constraint", [&](auto& lc) { lc.add(a.variable).add(a.variable); },
      [&](auto& lc) { lc.add(b.variable); },
      [&](auto& lc) { lc.add(a.variable).add(b.variable).sub(c.variable); });
  return c;
}

/// a·b = c.
template <class CS>
AllocatedBit<CS> bit_and(CS& cs, const AllocatedBit<CS>& a, const AllocatedBit<CS>& b) {
  const auto c = alloc_unconstrained_bit(cs, known<CS>([&] { return a.value() && b.value(); }));
  cs.enforce(
      "and constraint", [&](auto& lc) { lc.add(a.variable); },
      [&](auto& lc) { lc.add(b.variable); }, [&](auto& lc) { lc.add(c.variable); });
  return c;
}

/// a·(1 - b) = c.
template <class CS>
AllocatedBit<CS> bit_and_not(CS& cs, const AllocatedBit<CS>& a, const AllocatedBit<CS>& b) {
  const auto c = alloc_unconstrained_bit(cs, known<CS>([&] { return a.value() && !b.value(); }));
  cs.enforce(
      "and not constraint", [&](auto& lc) { lc.add(a.variable); },
      [&](auto& lc) { lc.add(Variable::one()).sub(b.variable); },
      [&](auto& lc) { lc.add(c.variable); });
  return c;
}

/// (1 - a)·(1 - b) = c.
template <class CS>
AllocatedBit<CS> bit_nor(CS& cs, const AllocatedBit<CS>& a, const AllocatedBit<CS>& b) {
  const auto c = alloc_unconstrained_bit(cs, known<CS>([&] { return !a.value() && !b.value(); }));
  cs.enforce(
      "nor constraint", [&](auto& lc) { lc.add(Variable::one()).sub(a.variable); },
      [&](auto& lc) { lc.add(Variable::one()).sub(b.variable); },
      [&](auto& lc) { lc.add(c.variable); });
  return c;
}

/// Constants cost nothing; otherwise one bit_xor of what is under the negations.
template <class CS>
Boolean<CS> boolean_xor(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  if (a.is_constant()) return a.value() ? !b : b;
  if (b.is_constant()) return b.value() ? !a : a;
  const Boolean<CS> difference = bit_xor(cs, a.is_negated() && !b.is_negated() ? b.bit() : a.bit(),
                                         a.is_negated() && !b.is_negated() ? a.bit() : b.bit());
  return a.is_negated() != b.is_negated() ? !difference : difference;
}

template <class CS>
Boolean<CS> boolean_and(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  if (a.is_constant(false) || b.is_constant(false)) return Boolean<CS>::constant(false);
  if (a.is_constant(true)) return b;
  if (b.is_constant(true)) return a;
  if (a.is_negated() && b.is_negated()) return bit_nor(cs, a.bit(), b.bit());
  if (a.is_negated()) return bit_and_not(cs, b.bit(), a.bit());
  if (b.is_negated()) return bit_and_not(cs, a.bit(), b.bit());
  return bit_and(cs, a.bit(), b.bit());
}

/// SHA-256's choice: b where a, else c. Where an operand is constant it is an AND at most;
/// otherwise (b - c)·a = result - c.
template <class CS>
Boolean<CS> sha256_ch(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b, const Boolean<CS>& c) {
  if (a.is_constant() && b.is_constant() && c.is_constant()) {
    return Boolean<CS>::constant(a.value() ? b.value() : c.value());
  }
  if (a.is_constant(false)) return c;
  if (b.is_constant(false)) return boolean_and(cs, !a, c);
  if (c.is_constant(false)) return boolean_and(cs, a, b);
  if (c.is_constant(true)) return !boolean_and(cs, a, !b);
  if (b.is_constant(true)) return !boolean_and(cs, !a, !c);
  const auto result =
      alloc_unconstrained_bit(cs, known<CS>([&] { return a.value() ? b.value() : c.value(); }));
  cs.enforce(
      "ch computation",
      [&](auto& lc) {
        b.add_to(lc, Fr::one());
        c.add_to(lc, -Fr::one());
      },
      [&](auto& lc) { a.add_to(lc, Fr::one()); },
      [&](auto& lc) {
        lc.add(result.variable);
        c.add_to(lc, -Fr::one());
      });
  return result;
}

/// SHA-256's majority of three. Where an operand is constant it is an AND at most; otherwise, with
/// bc = b·c, (2bc - b - c)·a = bc - result.
template <class CS>
Boolean<CS> sha256_maj(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b, const Boolean<CS>& c) {
  const auto majority = [&] { return a.value() + b.value() + c.value() >= 2; };
  if (a.is_constant() && b.is_constant() && c.is_constant())
    return Boolean<CS>::constant(majority());
  if (a.is_constant(false)) return boolean_and(cs, b, c);
  if (b.is_constant(false)) return boolean_and(cs, a, c);
  if (c.is_constant(false)) return boolean_and(cs, a, b);
  if (c.is_constant(true)) return !boolean_and(cs, !a, !b);
  if (b.is_constant(true)) return !boolean_and(cs, !a, !c);
  if (a.is_constant(true)) return !boolean_and(cs, !b, !c);
  const auto result = alloc_unconstrained_bit(cs, known<CS>(majority));
  const Boolean<CS> bc = boolean_and(cs, b, c);
  cs.enforce(
      "maj computation",
      [&](auto& lc) {
        bc.add_to(lc, Fr::from_u64(2));
        b.add_to(lc, -Fr::one());
        c.add_to(lc, -Fr::one());
      },
      [&](auto& lc) { a.add_to(lc, Fr::one()); },
      [&](auto& lc) {
        bc.add_to(lc, Fr::one());
        lc.sub(result.variable);
      });
  return result;
}

}  // namespace cuzk::gadgets
