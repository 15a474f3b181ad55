#pragma once

#include "r1cs/constraint_system.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuzk::r1cs {

/// Thrown where a CheckedSystem was asked to stop at the first constraint that does not hold.
class Unsatisfied : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Values and constraints together, with names: tells which constraint a witness breaks. Checks
/// each constraint when it is made and keeps only values (32 bytes a variable), unless asked to
/// record. Not thread-safe.
class CheckedSystem {
 public:
  static constexpr bool kHasValues = true;
  static constexpr bool kHasConstraints = true;

  struct Constraint {
    std::array<std::vector<Term>, 3> rows;  ///< A, B, C, normalised
  };
  struct Namespace {
    std::uint64_t constraint;  ///< number of constraints and aux variables when it was opened
    std::uint32_t aux;
    std::string path;

    friend bool operator==(const Namespace&, const Namespace&) = default;
  };

  struct Options {
    bool record = false;  ///< keep every constraint and every namespace
    bool stop_at_first =
        false;  ///< throw Unsatisfied, with its path, at the first constraint that does not hold
  };

  CheckedSystem() : CheckedSystem(Options{}) {}
  explicit CheckedSystem(const Options& options) : options_(options) {
    inputs_.push_back(curve::Fr::one());
  }
  CheckedSystem(const CheckedSystem&) = delete;
  CheckedSystem& operator=(const CheckedSystem&) = delete;

  Variable alloc_input(const Known<curve::Fr, true>& value) {
    inputs_.push_back(value.get());
    return Variable::input(static_cast<std::uint32_t>(inputs_.size() - 1));
  }
  Variable alloc_aux(const Known<curve::Fr, true>& value) { return aux(value.get(), false); }
  Variable alloc_bit(Known<bool, true> value) {
    return aux(value.get() ? curve::Fr::one() : curve::Fr::zero(), true);
  }

  template <class A, class B, class C>
  void enforce(const char* name, A&& a, B&& b, C&& c) {
    for (LinearCombination& row : rows_) row.clear();
    a(rows_[0]);
    b(rows_[1]);
    c(rows_[2]);
    for (LinearCombination& row : rows_) row.normalize();
    check(name);
  }

  /// Closes its namespace when it dies.
  class [[nodiscard]] Scope {
   public:
    explicit Scope(CheckedSystem& system) : system_(system) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { system_.scopes_.pop_back(); }

   private:
    CheckedSystem& system_;
  };
  /// `format` must outlive the scope; at most three numbers.
  template <class... Numbers>
  Scope scope(const char* format, Numbers... numbers) {
    static_assert(sizeof...(Numbers) <= 3);
    scopes_.push_back({format, {static_cast<std::uint64_t>(numbers)...}});
    if (options_.record) record_namespace();
    return Scope(*this);
  }

  template <class Body>
  void repeat(std::size_t n, Body&& body) {
    for (std::size_t i = 0; i < n; ++i) body(*this, i);
  }
  template <class Ports, class Body>
  void repeat(std::size_t n, Ports&&, Body&& body) {
    repeat(n, body);
  }

  /// Path of the first constraint that does not hold, as "scope/scope/name"; empty if all do.
  const std::optional<std::string>& first_unsatisfied() const { return first_unsatisfied_; }
  std::uint64_t unsatisfied() const { return unsatisfied_; }
  std::uint64_t num_constraints() const { return num_constraints_; }

  const std::vector<curve::Fr>& inputs() const { return inputs_; }
  const std::vector<curve::Fr>& aux() const { return aux_; }
  const std::vector<bool>& aux_is_bit() const { return aux_is_bit_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const std::vector<Namespace>& namespaces() const { return namespaces_; }

 private:
  struct ScopeName {
    const char* format;
    std::array<std::uint64_t, 3> numbers;
  };

  Variable aux(const curve::Fr& value, bool is_bit) {
    aux_.push_back(value);
    aux_is_bit_.push_back(is_bit);
    return Variable::aux(static_cast<std::uint32_t>(aux_.size() - 1));
  }
  curve::Fr evaluate(const LinearCombination& row) const;
  void check(const char* name);
  void record_namespace();
  std::string path() const;

  const Options options_;
  std::vector<curve::Fr> inputs_, aux_;
  std::vector<bool> aux_is_bit_;
  std::array<LinearCombination, 3> rows_;
  std::vector<ScopeName> scopes_;
  std::uint64_t num_constraints_ = 0, unsatisfied_ = 0;
  std::optional<std::string> first_unsatisfied_;
  std::vector<Constraint> constraints_;
  std::vector<Namespace> namespaces_;
};

static_assert(ConstraintSystem<CheckedSystem>);

}  // namespace cuzk::r1cs
