#pragma once

#include "curve/fr.hpp"
#include "r1cs/variable.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace cuzk::r1cs {

struct Term {
  Variable variable;
  curve::Fr coefficient;

  friend bool operator==(const Term&, const Term&) = default;
};

/// A sum of coefficient · variable. Terms are appended in any order, a variable may come several
/// times; normalize() makes the canonical form.
class LinearCombination {
 public:
  LinearCombination& add(Variable variable) { return add(variable, curve::Fr::one()); }
  LinearCombination& sub(Variable variable) { return add(variable, -curve::Fr::one()); }
  LinearCombination& add(Variable variable, const curve::Fr& coefficient) {
    terms_.push_back({variable, coefficient});
    return *this;
  }
  LinearCombination& sub(Variable variable, const curve::Fr& coefficient) {
    return add(variable, -coefficient);
  }
  LinearCombination& add(const LinearCombination& other) {
    terms_.insert(terms_.end(), other.terms_.begin(), other.terms_.end());
    return *this;
  }
  LinearCombination& add_scaled(const LinearCombination& other, const curve::Fr& factor) {
    for (const Term& term : other.terms_)
      terms_.push_back({term.variable, term.coefficient * factor});
    return *this;
  }

  /// Merges the terms of each variable, drops zero coefficients, sorts by ascending key.
  void normalize();

  std::span<const Term> terms() const { return terms_; }
  void clear() { terms_.clear(); }

 private:
  std::vector<Term> terms_;
};

}  // namespace cuzk::r1cs
