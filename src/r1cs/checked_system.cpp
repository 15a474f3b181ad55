#include "r1cs/checked_system.hpp"

#include <fmt/format.h>

namespace cuzk::r1cs {

curve::Fr CheckedSystem::evaluate(const LinearCombination& row) const {
  curve::Fr sum;
  for (const Term& term : row.terms()) {
    const auto& values = term.variable.is_aux() ? aux_ : inputs_;
    const curve::Fr& value = values[term.variable.index()];
    if (!value.is_zero()) sum += value.is_one() ? term.coefficient : term.coefficient * value;
  }
  return sum;
}

void CheckedSystem::check(const char* name) {
  if (evaluate(rows_[0]) * evaluate(rows_[1]) != evaluate(rows_[2])) {
    if (unsatisfied_++ == 0) {
      const std::string scope = path();
      first_unsatisfied_ = scope.empty() ? name : scope + "/" + name;
      if (options_.stop_at_first) throw Unsatisfied(*first_unsatisfied_);
    }
  }
  ++num_constraints_;
  if (!options_.record) return;
  Constraint& constraint = constraints_.emplace_back();
  for (unsigned m = 0; m < 3; ++m)
    constraint.rows[m].assign(rows_[m].terms().begin(), rows_[m].terms().end());
}

std::string CheckedSystem::path() const {
  std::string out;
  for (const ScopeName& scope : scopes_) {
    if (!out.empty()) out += '/';
    out += fmt::format(fmt::runtime(scope.format), scope.numbers[0], scope.numbers[1],
                       scope.numbers[2]);
  }
  return out;
}

void CheckedSystem::record_namespace() {
  namespaces_.push_back({num_constraints_, static_cast<std::uint32_t>(aux_.size()), path()});
}

}  // namespace cuzk::r1cs
