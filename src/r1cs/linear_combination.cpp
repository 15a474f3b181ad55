#include "r1cs/linear_combination.hpp"

namespace cuzk::r1cs {

void LinearCombination::normalize() {
  const auto less = [](const Term& a, const Term& b) { return a.variable < b.variable; };
  if (!std::is_sorted(terms_.begin(), terms_.end(), less))
    std::stable_sort(terms_.begin(), terms_.end(), less);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < terms_.size();) {
    Term merged = terms_[i++];
    for (; i < terms_.size() && terms_[i].variable == merged.variable; ++i)
      merged.coefficient += terms_[i].coefficient;
    if (!merged.coefficient.is_zero()) terms_[kept++] = merged;
  }
  terms_.resize(kept);
}

}  // namespace cuzk::r1cs
