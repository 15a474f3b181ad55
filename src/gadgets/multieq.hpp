#pragma once

#include "gadgets/num.hpp"

namespace cuzk::gadgets {

/// Collects equalities between sums of small integers and enforces as many at once as fit a field
/// element: Σ_k 2^(offset_k)·lhs_k = Σ_k 2^(offset_k)·rhs_k, where the k-th takes num_bits_k.
/// Variables are allocated in the constraint system beneath as ever; only these equalities are
/// deferred, at most until finish(), which must be called. [bellman src/gadgets/multieq.rs]
template <class CS>
class MultiEq {
 public:
  explicit MultiEq(CS& cs) : cs_(cs) {}
  MultiEq(const MultiEq&) = delete;
  MultiEq& operator=(const MultiEq&) = delete;

  CS& cs() { return cs_; }

  /// Both sides are below 2^num_bits. `lhs` and `rhs` add their terms, scaled, to a linear
  /// combination: lhs(lc, shift) adds 2^shift·lhs.
  template <class Lhs, class Rhs>
  void enforce_equal(unsigned num_bits, Lhs&& lhs, Rhs&& rhs) {
    if constexpr (CS::kHasConstraints) {
      if (bits_used_ + num_bits >= Fr::kCapacity) flush();
      lhs(lhs_, bits_used_);
      rhs(rhs_, bits_used_);
      bits_used_ += num_bits;
    }
  }

  /// Enforces what is left.
  void finish() {
    if (bits_used_ > 0) flush();
  }

 private:
  void flush() {
    if constexpr (CS::kHasConstraints) {
      const auto scope = cs_.scope("multieq {}", flushed_++);
      cs_.enforce(
          "equality", [&](auto& lc) { lc.add(lhs_); }, [](auto& lc) { lc.add(Variable::one()); },
          [&](auto& lc) { lc.add(rhs_); });
      lhs_.clear();
      rhs_.clear();
      bits_used_ = 0;
    }
  }

  CS& cs_;
  r1cs::LinearCombination lhs_, rhs_;
  unsigned bits_used_ = 0;
  unsigned flushed_ = 0;
};

}  // namespace cuzk::gadgets
