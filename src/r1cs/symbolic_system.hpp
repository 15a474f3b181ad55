#pragma once

#include "r1cs/constraint_system.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cuzk::r1cs {

/// A constraint system without values. It numbers the variables, normalises each constraint and
/// hands it to a subclass. Not thread-safe.
class SymbolicSystem {
 public:
  static constexpr bool kHasValues = false;
  static constexpr bool kHasConstraints = true;

  SymbolicSystem() = default;
  SymbolicSystem(const SymbolicSystem&) = delete;
  SymbolicSystem& operator=(const SymbolicSystem&) = delete;
  virtual ~SymbolicSystem() = default;

  Variable alloc_input(Known<curve::Fr, false>) { return Variable::input(num_inputs_++); }
  Variable alloc_aux(Known<curve::Fr, false>) { return aux(false); }
  Variable alloc_bit(Known<bool, false>) { return aux(true); }

  template <class A, class B, class C>
  void enforce(const char*, A&& a, B&& b, C&& c) {
    fill(a_, a);
    fill(b_, b);
    fill(c_, c);
    on_constraint(a_, b_, c_);
    ++num_constraints_;
  }

  template <class... Numbers>
  [[nodiscard]] NoScope scope(const char*, Numbers...) {
    return {};
  }

  template <class Body>
  void repeat(std::size_t n, Body&& body) {
    repeat(
        n, [](std::size_t) { return std::vector<Variable>(); }, body);
  }
  template <class Ports, class Body>
  void repeat(std::size_t n, Ports&& ports, Body&& body) {
    on_repeat(n, ports, [&](std::size_t i) { body(*this, i); });
  }

  std::uint32_t num_inputs() const { return num_inputs_; }
  std::uint32_t num_aux() const { return num_aux_; }
  std::uint64_t num_constraints() const { return num_constraints_; }

 protected:
  using PortsFunction = std::function<std::vector<Variable>(std::size_t)>;
  using CopyFunction = std::function<void(std::size_t)>;

  /// Called for each constraint, normalised, before num_constraints() counts it.
  virtual void on_constraint(const LinearCombination& a, const LinearCombination& b,
                             const LinearCombination& c) = 0;
  virtual void on_aux(std::uint32_t /*index*/, bool /*is_bit*/) {}
  /// Runs the copies; by default every one in order.
  virtual void on_repeat(std::size_t n, const PortsFunction&, const CopyFunction& copy) {
    for (std::size_t i = 0; i < n; ++i) copy(i);
  }

  /// For subclasses that skip copies.
  void skip(std::uint64_t inputs, std::uint64_t aux, std::uint64_t constraints);

 private:
  Variable aux(bool is_bit) {
    on_aux(num_aux_, is_bit);
    return Variable::aux(num_aux_++);
  }
  template <class Fill>
  static void fill(LinearCombination& lc, Fill&& fill_terms) {
    lc.clear();
    fill_terms(lc);
    lc.normalize();
  }

  std::uint32_t num_inputs_ = 1;  // ONE
  std::uint32_t num_aux_ = 0;
  std::uint64_t num_constraints_ = 0;
  LinearCombination a_, b_, c_;
};

static_assert(ConstraintSystem<SymbolicSystem>);

}  // namespace cuzk::r1cs
