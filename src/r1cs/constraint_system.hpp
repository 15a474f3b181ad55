#pragma once

#include "curve/fr.hpp"
#include "r1cs/linear_combination.hpp"
#include "r1cs/variable.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

/// A circuit is written once, as function templates over a constraint system; what runs it decides
/// what comes out:
///
///   SymbolicSystem   constraints, no values: ShapeBuilder and DigestSystem
///   WitnessBuilder   values, no constraints: the witness of a proof
///   CheckedSystem    both, with names: tests, and the reason why a proof cannot be made
///
/// The order of variables and of constraints is the circuit's identity: the official parameters
/// were made for it.
namespace cuzk::r1cs {

/// A value that exists only in systems with values; elsewhere an empty object whose value must not
/// be asked for.
template <class T, bool kPresent>
class Known {
 public:
  Known() = default;
  explicit Known(const T& value) : value_(value) {}
  const T& get() const { return value_; }

 private:
  T value_{};
};

template <class T>
class Known<T, false> {
 public:
  T get() const { __builtin_unreachable(); }
};

/// A variable where constraints are recorded; an empty object where they are not.
struct NoVariable {};

/// The scope of a system that keeps no names. (The destructor makes it an object that may stand
/// unused.)
struct NoScope {
  ~NoScope() {}  // NOLINT(modernize-use-equals-default)
};

template <class CS>
using KnownFr = Known<curve::Fr, CS::kHasValues>;
template <class CS>
using KnownBit = Known<bool, CS::kHasValues>;
template <class CS>
using VariableOf = std::conditional_t<CS::kHasConstraints, Variable, NoVariable>;

/// Calls `compute` where the system has values.
template <class CS, class F>
auto known(F&& compute) {
  using T = std::remove_cvref_t<decltype(compute())>;
  if constexpr (CS::kHasValues) {
    return Known<T, true>(compute());
  } else {
    return Known<T, false>();
  }
}

namespace detail {
struct FillNothing {
  template <class Lc>
  void operator()(Lc&) const {}
};
struct EmptyBody {
  template <class CS>
  void operator()(CS&, std::size_t) const {}
};
}  // namespace detail

/// What a circuit may ask of a constraint system:
///   alloc_input(value), alloc_aux(value)   a field element
///   alloc_bit(value)                       an aux variable that is 0 or 1; the constraint that
///   says so is the gadget's enforce(name, a, b, c)                 a·b = c; each argument is a
///   callable that fills a LinearCombination&, called
///                                          only where constraints are recorded
///   scope(format, numbers...)              opens a namespace until the returned object dies
///   repeat(n, body)                        n copies of body(cs, i) that differ only in the
///   variables they allocate;
///                                          copies may use variables from before the repeat, not
///                                          each other's
///   repeat(n, ports, body)                 likewise, where copy i also uses the variables that
///   ports(i) lists
template <class CS>
concept ConstraintSystem = requires(CS& cs, KnownFr<CS> field, KnownBit<CS> bit,
                                    detail::FillNothing fill) {
  { CS::kHasValues } -> std::convertible_to<bool>;
  { CS::kHasConstraints } -> std::convertible_to<bool>;
  { cs.alloc_input(field) } -> std::same_as<VariableOf<CS>>;
  { cs.alloc_aux(field) } -> std::same_as<VariableOf<CS>>;
  { cs.alloc_bit(bit) } -> std::same_as<VariableOf<CS>>;
  cs.enforce("name", fill, fill, fill);
  cs.scope("name {}", 1);
  cs.repeat(std::size_t{2}, detail::EmptyBody{});
};

}  // namespace cuzk::r1cs
